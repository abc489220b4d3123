// Files: reading with gzip undone on the way, and writing that never leaves
// half a file after.
#ifndef STEPCAST_BASE_FILES_FILE_H_
#define STEPCAST_BASE_FILES_FILE_H_

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace stepcast {

/// Bytes in order. Implementations: a file (gzip undone), memory, a tar member.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// Fills a prefix of `buffer`; 0 means the end. Fails on I/O errors and on
  /// corrupt or cut-off gzip data.
  virtual Result<size_t> Read(std::span<char> buffer) = 0;
};

/// Opens a file; gzip is recognised by its content, whatever the name. Fails
/// for directories and unreadable files.
Result<std::unique_ptr<ByteSource>> OpenFile(const std::filesystem::path& path);

/// Reads from `bytes`, which must outlive the source; gzip is undone too.
std::unique_ptr<ByteSource> OpenMemory(std::string_view bytes);

/// Everything that is left. Fails if it is more than `limit` bytes.
Result<std::string> ReadAll(ByteSource& source, size_t limit = size_t{4} << 30);

/// OpenFile + ReadAll, with the path in front of any error.
Result<std::string> ReadFile(const std::filesystem::path& path);

/// Writes a temporary file next to `path` and renames it into place, so that
/// `path` holds either the old bytes or all of the new ones. Links are
/// followed; devices and pipes are written to as they are.
Status WriteFile(const std::filesystem::path& path, std::string_view bytes);

}  // namespace stepcast

#endif  // STEPCAST_BASE_FILES_FILE_H_

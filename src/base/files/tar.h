// Reading tar archives, in which traces are published.
#ifndef STEPCAST_BASE_FILES_TAR_H_
#define STEPCAST_BASE_FILES_TAR_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/files/file.h"
#include "base/result.h"

namespace stepcast {

/// One file of an archive.
struct TarMember {
  std::string name{};  // As in the archive: "dir/rank0.json".
  std::string bytes{};
};

/// Whether `head` begins with a tar header (ustar, GNU or older).
bool SniffTar(std::string_view head);

/// The regular files of an archive in their order; directories, links and
/// devices are left out. Long names of GNU and pax archives are understood.
/// Fails on damaged headers, on archives that end in the middle of a file, and
/// when the files hold more than `limit` bytes in all. Memory grows with the
/// bytes that are there, not with the sizes that headers claim.
Result<std::vector<TarMember>> ReadTar(ByteSource& source,
                                       size_t limit = size_t{4} << 30);

}  // namespace stepcast

#endif  // STEPCAST_BASE_FILES_TAR_H_

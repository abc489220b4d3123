// Reader for Chakra execution traces in protobuf (.et).
#ifndef STEPCAST_TRACE_READ_CHAKRA_READ_CHAKRA_H_
#define STEPCAST_TRACE_READ_CHAKRA_READ_CHAKRA_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "base/files/file.h"
#include "base/result.h"
#include "trace/read/formats.h"

namespace stepcast::trace {

// Reads length-delimited records from bytes of any size.

/// A varint (seven bits a byte, low bits first) at the start of `bytes`, and
/// how many bytes it takes; nothing if it does not end there or has more than
/// 64 bits.
struct Varint {
  uint64_t value = 0;
  size_t size = 0;
};
std::optional<Varint> ParseVarint(std::string_view bytes);

/// Records with a varint length in front, one after the other. Holds one
/// buffer of bytes that were really there: a length alone allocates nothing.
class RecordStream {
 public:
  explicit RecordStream(ByteSource& source) : source_(source) {}

  /// The next record, valid until the next call; nothing at the end. Fails on
  /// I/O errors and on lengths that no record can have. Where the bytes end
  /// inside a record, the stream ends before it and truncated() says so.
  Result<std::optional<std::string_view>> Next();

  bool truncated() const { return truncated_; }
  /// Bytes taken so far.
  uint64_t offset() const { return offset_; }

 private:
  /// Reads until `count` bytes are in the buffer; false if there are fewer.
  Result<bool> Want(size_t count);

  ByteSource& source_;
  std::string buffer_;
  size_t begin_ = 0;  // Of what is not taken yet.
  size_t end_ = 0;    // Of what has been read.
  uint64_t offset_ = 0;
  bool truncated_ = false;
};

/// Whether `head` begins with the length-delimited metadata of a Chakra file,
/// with what looks like a node after it.
bool SniffChakra(std::string_view head);

/// Fails if the bytes are not length-delimited messages or hold no node.
Result<TraceFile> ReadChakra(ByteSource& source, Diagnostics& diagnostics);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_READ_CHAKRA_READ_CHAKRA_H_

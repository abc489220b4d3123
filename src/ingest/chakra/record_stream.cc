#include "ingest/chakra/record_stream.h"

#include <algorithm>
#include <cstring>
#include <span>

#include <fmt/format.h>

namespace stepcast::ingest {
namespace {

constexpr size_t kMostVarintBytes = 10;  // 64 bits, seven a byte.
constexpr size_t kChunk = size_t{1} << 18;
// The largest nodes hold the arguments of an op over thousands of tensors:
// less than 1 MiB in recorded traces.
constexpr uint64_t kLargestRecord = uint64_t{1} << 28;

}  // namespace

std::optional<Varint> ParseVarint(std::string_view bytes) {
  Varint varint;
  for (size_t i = 0; i < std::min(bytes.size(), kMostVarintBytes); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (i + 1 == kMostVarintBytes && byte > 1) {
      return std::nullopt;
    }
    varint.value |= static_cast<uint64_t>(byte & 0x7FU) << (7 * i);
    if (byte < 0x80) {
      varint.size = i + 1;
      return varint;
    }
  }
  return std::nullopt;
}

Result<std::optional<std::string_view>> RecordStream::Next() {
  using Record = std::optional<std::string_view>;
  ASSIGN_OR_RETURN(const bool whole_varint, Want(kMostVarintBytes));
  const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
  if (rest.empty()) {
    return Record();
  }
  const auto length = ParseVarint(rest);
  if (!length && !whole_varint) {
    truncated_ = true;
    return Record();
  }
  if (!length || length->value > kLargestRecord) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("byte {}: no record has this length; expected a "
                            "Chakra node of at most {} MiB",
                            offset_, kLargestRecord >> 20));
  }
  const auto size = static_cast<size_t>(length->value);
  ASSIGN_OR_RETURN(const bool whole, Want(length->size + size));
  if (!whole) {
    truncated_ = true;
    return Record();
  }
  const std::string_view record(buffer_.data() + begin_ + length->size, size);
  begin_ += length->size + size;
  offset_ += length->size + size;
  return Record(record);
}

Result<bool> RecordStream::Want(size_t count) {
  if (end_ - begin_ >= count) {
    return true;
  }
  std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= begin_;
  begin_ = 0;
  while (end_ < count) {
    if (buffer_.size() - end_ < kChunk / 2) {
      buffer_.resize(std::max(kChunk, buffer_.size() * 2));
    }
    ASSIGN_OR_RETURN(const size_t got,
                     source_.Read(std::span(buffer_).subspan(end_)));
    if (got == 0) {
      return false;
    }
    end_ += got;
  }
  return true;
}

}  // namespace stepcast::ingest

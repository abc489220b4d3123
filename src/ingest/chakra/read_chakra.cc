#include "ingest/chakra/read_chakra.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "ingest/chakra/chakra.pb.h"
#include "ingest/chakra/chakra_nodes.h"
#include "ingest/chakra/message_reader.h"
#include "ingest/chakra/record_stream.h"
#include "ingest/oddities.h"

namespace stepcast::ingest {
namespace {

constexpr uint64_t kVarintType = 0;
constexpr uint64_t kBytesType = 2;
constexpr uint64_t kMetadataFields = 2;
constexpr uint64_t kNodeFields = 10;

// Whether a message is made of fields 1 to `most` alone, all of them numbers
// or bytes.
bool HasFieldsUpTo(uint64_t most, std::string_view message) {
  while (!message.empty()) {
    const auto tag = ParseVarint(message);
    if (!tag || tag->value >> 3 == 0 || tag->value >> 3 > most) {
      return false;
    }
    message.remove_prefix(tag->size);
    const auto value = ParseVarint(message);
    const uint64_t type = tag->value & 7U;
    if (!value || (type != kVarintType && type != kBytesType)) {
      return false;
    }
    message.remove_prefix(value->size);
    const uint64_t size = type == kBytesType ? value->value : 0;
    if (size > message.size()) {
      return false;
    }
    message.remove_prefix(static_cast<size_t>(size));
  }
  return true;
}

bool IsIdentifier(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
  });
}

// A version or named attributes, and no field that metadata has not.
bool LooksLikeMetadata(std::string_view record) {
  chakra::GlobalMetadata metadata;
  if (record.empty() || !HasFieldsUpTo(kMetadataFields, record) ||
      !metadata.ParseFromArray(record.data(),
                               static_cast<int>(record.size())) ||
      (!metadata.version().empty() && !IsIdentifier(metadata.version()))) {
    return false;
  }
  return std::ranges::all_of(metadata.attributes(),
                             [](const chakra::Attribute& attribute) {
                               return IsIdentifier(attribute.name());
                             });
}

bool LooksLikeNode(std::string_view record) {
  chakra::Node node;
  return HasFieldsUpTo(kNodeFields, record) &&
         node.ParseFromArray(record.data(), static_cast<int>(record.size())) &&
         (node.type() != 0 || !node.name().empty());
}

// The record at the start of `head`, which it is taken from; nothing if it is
// cut off.
std::optional<std::string_view> TakeRecord(std::string_view& head) {
  const auto length = ParseVarint(head);
  if (!length || length->value > head.size() - length->size) {
    return std::nullopt;
  }
  const auto size = static_cast<size_t>(length->value);
  const std::string_view record = head.substr(length->size, size);
  head.remove_prefix(length->size + size);
  return record;
}

}  // namespace

bool SniffChakra(std::string_view head) {
  const auto metadata = TakeRecord(head);
  if (!metadata) {
    return false;
  }
  const auto node = TakeRecord(head);
  if (node && !LooksLikeNode(*node)) {
    return false;
  }
  // A writer with nothing to say leaves the metadata empty; then only a whole
  // node will do. Otherwise the first node may be cut off or not be there.
  return metadata->empty() ? node.has_value() : LooksLikeMetadata(*metadata);
}

Result<TraceFile> ReadChakra(ByteSource& source, Diagnostics& diagnostics) {
  TraceFile file;
  ExecutionTrace& trace = file.execution.emplace();
  RecordStream records(source);
  MessageReader messages(trace.strings, diagnostics);
  ASSIGN_OR_RETURN(const auto first, records.Next());
  if (!first || !messages.ReadMetadata(*first, trace.info)) {
    return Fail(ErrorCode::kInvalidInput,
                "does not begin with the metadata of a Chakra trace");
  }
  ChakraNodes nodes(trace, diagnostics);
  while (true) {
    ASSIGN_OR_RETURN(const auto record, records.Next());
    if (!record) {
      break;
    }
    if (const ChakraNode* node = messages.ReadNode(*record)) {
      RETURN_IF_ERROR(nodes.Add(*node));
    }
  }
  if (nodes.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                records.truncated()
                    ? "is cut off before the end of the first node"
                    : "holds no usable node; expected a Chakra trace");
  }
  diagnostics.Add(kTruncated, {}, records.truncated() ? 1 : 0);
  trace.info.format = "chakra";
  trace.info.text_bytes = records.offset();
  nodes.Finish();
  return file;
}

}  // namespace stepcast::ingest

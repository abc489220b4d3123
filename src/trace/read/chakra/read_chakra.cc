#include "trace/read/chakra/read_chakra.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/diagnostics.h"
#include "base/text/string_pool.h"
#include "base/text/utf8.h"
#include "trace/read/chakra/chakra.pb.h"
#include "trace/read/chakra/chakra_nodes.h"
#include "trace/read/oddities.h"
#include "trace/read/profiler_trace.h"

namespace stepcast::trace {
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

namespace {

// Reads one Chakra message after the other into the terms of a trace.

class MessageReader {
 public:
  MessageReader(StringPool& strings, Diagnostics& diagnostics)
      : strings_(strings), diagnostics_(diagnostics) {}

  /// False if the record is not metadata.
  bool ReadMetadata(std::string_view record, TraceInfo& info);

  /// Null if the node cannot be used; then it has been counted. Valid until the
  /// next call.
  const ChakraNode* ReadNode(std::string_view record);

 private:
  void ReadAttribute(const chakra::Attribute& attribute);
  void ReadInteger(std::string_view name, int64_t value);
  void ReadText(std::string_view name, std::string_view value);
  void ReadNanoseconds(std::string_view name, Duration time);
  void ReadTimes();
  std::optional<Duration> TimeOf(uint64_t microseconds);
  StringId Intern(const std::string& text);
  /// The text with what is not UTF-8 replaced, and counted.
  std::string_view Clean(const std::string& text);

  StringPool& strings_;
  Diagnostics& diagnostics_;
  chakra::Node message_;  // Kept for its memory.
  ChakraNode node_;
  std::string buffer_;
};

constexpr uint64_t kMostInt = std::numeric_limits<int64_t>::max();

// Attributes come in every integer type, sometimes as a double.
std::optional<int64_t> IntegerOf(const chakra::Attribute& attribute) {
  const auto from_unsigned = [](uint64_t value) {
    return value <= kMostInt ? std::optional(static_cast<int64_t>(value))
                             : std::nullopt;
  };
  const auto from_double = [](double value) -> std::optional<int64_t> {
    // 2^53: beyond it doubles skip whole numbers.
    constexpr double kMost = 9007199254740992.0;
    const bool whole = std::abs(value) <= kMost && value == std::trunc(value);
    return whole ? std::optional(static_cast<int64_t>(value)) : std::nullopt;
  };
  switch (attribute.value_case()) {
    case chakra::Attribute::kDoubleValue:
      return from_double(attribute.double_value());
    case chakra::Attribute::kFloatValue:
      return from_double(static_cast<double>(attribute.float_value()));
    case chakra::Attribute::kInt32Value:
      return attribute.int32_value();
    case chakra::Attribute::kInt64Value:
      return attribute.int64_value();
    case chakra::Attribute::kUint32Value:
      return attribute.uint32_value();
    case chakra::Attribute::kUint64Value:
      return from_unsigned(attribute.uint64_value());
    case chakra::Attribute::kSint32Value:
      return attribute.sint32_value();
    case chakra::Attribute::kSint64Value:
      return attribute.sint64_value();
    case chakra::Attribute::kFixed32Value:
      return attribute.fixed32_value();
    case chakra::Attribute::kFixed64Value:
      return from_unsigned(attribute.fixed64_value());
    case chakra::Attribute::kSfixed32Value:
      return attribute.sfixed32_value();
    case chakra::Attribute::kSfixed64Value:
      return attribute.sfixed64_value();
    case chakra::Attribute::kBoolValue:
      return attribute.bool_value() ? 1 : 0;
    default:
      return std::nullopt;
  }
}

void CopyDependencies(const google::protobuf::RepeatedField<uint64_t>& from,
                      std::vector<int64_t>& to) {
  to.clear();
  for (const uint64_t id : from) {
    // An id that no node can have stays an id that no node has.
    to.push_back(id <= kMostInt ? static_cast<int64_t>(id) : -1);
  }
}

bool Parse(google::protobuf::MessageLite& message, std::string_view record) {
  return message.ParseFromArray(record.data(), static_cast<int>(record.size()));
}

bool MessageReader::ReadMetadata(std::string_view record, TraceInfo& info) {
  chakra::GlobalMetadata metadata;
  if (!Parse(metadata, record)) {
    return false;
  }
  info.schema = Clean(metadata.version());
  for (const chakra::Attribute& attribute : metadata.attributes()) {
    if (attribute.name() == "schema" && attribute.has_string_value()) {
      info.schema = Clean(attribute.string_value());
    } else if (attribute.name() == "rank") {
      info.rank = IntegerOf(attribute);
    } else if (attribute.name() == "world_size") {
      info.world_size = IntegerOf(attribute);
    }
  }
  return true;
}

const ChakraNode* MessageReader::ReadNode(std::string_view record) {
  if (record.empty() || !Parse(message_, record)) {
    diagnostics_.Add(kMalformedRecord);
    return nullptr;
  }
  if (message_.id() > kMostInt) {
    diagnostics_.Add(kBadNumber, fmt::format("node {}", message_.id()));
    return nullptr;
  }
  node_.parsed = {};
  node_.type = message_.type();
  node_.is_cpu_op.reset();
  node_.comm_type.reset();
  node_.comm_bytes.reset();
  node_.memory_bytes.reset();
  node_.device_kind.reset();
  node_.has_nanoseconds = false;
  node_.collective = {};
  ExecutionNode& node = node_.parsed.node;
  node.id = static_cast<int64_t>(message_.id());
  node.name = Intern(message_.name());
  CopyDependencies(message_.control_dependencies(), node_.control_dependencies);
  CopyDependencies(message_.data_dependencies(), node_.data_dependencies);
  RawArguments& arguments = node.arguments;
  arguments.values = Intern(message_.inputs().values());
  arguments.dims = Intern(message_.inputs().shapes());
  arguments.types = Intern(message_.inputs().types());
  arguments.out_values = Intern(message_.outputs().values());
  arguments.out_dims = Intern(message_.outputs().shapes());
  arguments.out_types = Intern(message_.outputs().types());
  ReadTimes();
  for (const chakra::Attribute& attribute : message_.attributes()) {
    ReadAttribute(attribute);
  }
  return &node_;
}

void MessageReader::ReadTimes() {
  if (message_.has_start_time_micros()) {
    node_.parsed.node.start = TimeOf(message_.start_time_micros());
  }
  if (message_.has_duration_micros()) {
    node_.parsed.node.duration = TimeOf(message_.duration_micros());
  }
}

std::optional<Duration> MessageReader::TimeOf(uint64_t microseconds) {
  constexpr uint64_t kMost = static_cast<uint64_t>(kMostTime.count()) / 1000;
  if (microseconds > kMost) {
    diagnostics_.Add(kBadNumber, fmt::format("node {}", message_.id()));
    return std::nullopt;
  }
  return Duration(static_cast<int64_t>(microseconds) * 1000);
}

void MessageReader::ReadAttribute(const chakra::Attribute& attribute) {
  const std::string& name = attribute.name();
  if (attribute.has_string_value()) {
    ReadText(name, Clean(attribute.string_value()));
  } else if (const auto value = IntegerOf(attribute)) {
    ReadInteger(name, *value);
  } else if (FindIntegerField(name, node_.parsed.node) != nullptr) {
    diagnostics_.Add(kBadNumber, fmt::format("node {}", message_.id()));
  }
}

void MessageReader::ReadInteger(std::string_view name, int64_t value) {
  ExecutionNode& node = node_.parsed.node;
  if (int64_t* field = FindIntegerField(name, node)) {
    *field = value;
  } else if (name == "is_cpu_op") {
    node_.is_cpu_op = value != 0;
  } else if (name == "comm_type") {
    node_.comm_type = value;
  } else if (name == "comm_size" && value >= 0) {
    node_.comm_bytes = value;
  } else if (name == "tensor_size" && value >= 0) {
    node_.memory_bytes = value;
  } else if (name == "start_time_nanos" || name == "duration_nanos") {
    ReadNanoseconds(name, Duration(value));
  } else if (auto* number = FindCollectiveInteger(name, node_.collective)) {
    *number = value;
  }
}

void MessageReader::ReadNanoseconds(std::string_view name, Duration time) {
  const bool is_start = name == "start_time_nanos";
  if (time > kMostTime || time < (is_start ? -kMostTime : Duration(0))) {
    diagnostics_.Add(kBadNumber, fmt::format("node {}", message_.id()));
    return;
  }
  (is_start ? node_.parsed.node.start : node_.parsed.node.duration) = time;
  node_.has_nanoseconds = true;
}

void MessageReader::ReadText(std::string_view name, std::string_view value) {
  if (name == "op_schema") {
    node_.parsed.node.op_schema = strings_.Intern(value);
  } else if (name == "cat") {
    node_.device_kind = DeviceKindOfCategory(value);
  } else if (std::string* text = FindCollectiveText(name, node_.collective)) {
    *text = value;
  }
}

StringId MessageReader::Intern(const std::string& text) {
  return strings_.Intern(Clean(text));
}

std::string_view MessageReader::Clean(const std::string& text) {
  const auto is_ascii = [](char c) {
    return static_cast<unsigned char>(c) < 0x80;
  };
  if (std::ranges::all_of(text, is_ascii)) {
    return text;
  }
  buffer_ = text;
  int64_t invalid = 0;
  for (size_t at = 0; at < buffer_.size();) {
    const size_t length = Utf8Length(std::string_view(buffer_).substr(at));
    if (length == 0) {
      buffer_[at] = '?';
      ++invalid;
    }
    at += std::max<size_t>(1, length);
  }
  diagnostics_.Add(kInvalidUtf8, {}, invalid);
  return buffer_;
}

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

}  // namespace stepcast::trace

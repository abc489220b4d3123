#include "ingest/chakra/message_reader.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.h"
#include "ingest/oddities.h"

namespace stepcast::ingest {
namespace {

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

}  // namespace

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

}  // namespace stepcast::ingest

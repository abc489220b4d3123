#include "trace/read/torch_et/read_torch_et.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/diagnostics.h"
#include "base/json/json_read.h"
#include "base/text/string_pool.h"
#include "base/text/text_table.h"
#include "trace/read/oddities.h"
#include "trace/read/torch_et/collectives.h"
#include "trace/read/torch_et/json_document.h"
#include "trace/read/torch_et/node_order.h"
#include "trace/read/torch_et/parsed_node.h"

namespace stepcast::trace {
namespace {

// Reads one node of a PyTorch execution trace, whatever the schema.

// Goes by the members that are there, not by the version of the schema:
//
//   1.0.1  parent, rf_id, tid, ...; inputs[], input_shapes[], input_types[]
//   1.0.2  ctrl_deps; inputs{values, shapes, types}; attrs[{name, value}]
//   1.1.1  the same with strides
//
// and what linkers add: ts and dur; device events with ph, cat and args.
class NodeReader {
 public:
  NodeReader(StringPool& strings, Diagnostics& diagnostics)
      : strings_(strings), diagnostics_(diagnostics) {}

  /// Nothing if the node cannot be used; then it has been counted.
  std::optional<ParsedNode> Read(JsonValue record);

  /// What the attributes of the last node said about a collective.
  const CollectiveFields& collective() const { return collective_; }

 private:
  void ReadMember(std::string_view key, JsonValue value, ParsedNode& parsed);
  bool ReadFlatArguments(std::string_view key, JsonValue value,
                         RawArguments& arguments);
  void ReadInputs(JsonValue value, RawArguments& arguments);
  void ReadOutputs(JsonValue value, RawArguments& arguments);
  void ReadAttributes(JsonValue list, ParsedNode& parsed);
  void ReadAttribute(std::string_view name, JsonValue value,
                     ParsedNode& parsed);
  void ReadEventArgs(JsonValue args, ParsedNode& parsed);
  void ReadParent(JsonValue value, ParsedNode& parsed);
  bool Finish(ParsedNode& parsed);

  std::optional<int64_t> IntegerOf(JsonValue value);
  std::optional<Duration> TimeOf(JsonValue value, bool may_be_negative);
  std::string_view TextOf(JsonValue value);
  StringId InternList(JsonValue value);

  StringPool& strings_;
  Diagnostics& diagnostics_;
  CollectiveFields collective_;
  bool has_collective_ = false;
  std::string buffer_;
  // Of the current node.
  bool has_name_ = false;
  std::optional<int64_t> id_;
  std::string_view category_;  // A view into the record.
  std::optional<int64_t> event_stream_;
};

std::optional<ParsedNode> NodeReader::Read(JsonValue record) {
  std::optional<ParsedNode> parsed(std::in_place);
  if (has_collective_) {
    collective_ = {};
    has_collective_ = false;
  }
  has_name_ = false;
  id_.reset();
  category_ = {};
  event_stream_.reset();
  const bool whole =
      record.ForEachMember([&](std::string_view key, JsonValue value) {
        ReadMember(key, value, *parsed);
      });
  if (!whole) {
    diagnostics_.Add(kMalformedRecord,
                     id_ ? fmt::format("node {}", *id_) : "a node");
    return std::nullopt;
  }
  if (!Finish(*parsed)) {
    return std::nullopt;
  }
  return parsed;
}

void NodeReader::ReadMember(std::string_view key, JsonValue value,
                            ParsedNode& parsed) {
  ExecutionNode& node = parsed.node;
  if (key == "id") {
    id_ = IntegerOf(value);
  } else if (key == "name") {
    has_name_ = value.is_string();
    node.name = strings_.Intern(TextOf(value));
  } else if (key == "ctrl_deps" || key == "parent") {
    ReadParent(value, parsed);
  } else if (key == "inputs" && value.is_object()) {
    ReadInputs(value, node.arguments);
  } else if (key == "outputs" && value.is_object()) {
    ReadOutputs(value, node.arguments);
  } else if (key == "attrs") {
    ReadAttributes(value, parsed);
  } else if (key == "ts") {
    node.start = TimeOf(value, true);
  } else if (key == "dur") {
    node.duration = TimeOf(value, false);
  } else if (key == "cat") {
    category_ = value.raw_string().value_or(std::string_view());
  } else if (key == "args") {
    ReadEventArgs(value, parsed);
  } else if (key == "op_schema") {
    node.op_schema = strings_.Intern(TextOf(value));
  } else if (!ReadFlatArguments(key, value, node.arguments)) {
    if (int64_t* field = FindIntegerField(key, node)) {
      *field = IntegerOf(value).value_or(*field);
    }
  }
}

bool NodeReader::ReadFlatArguments(std::string_view key, JsonValue value,
                                   RawArguments& arguments) {
  StringId* field = nullptr;
  if (key == "inputs") {
    field = &arguments.values;
  } else if (key == "input_shapes") {
    field = &arguments.dims;
  } else if (key == "input_types") {
    field = &arguments.types;
  } else if (key == "outputs") {
    field = &arguments.out_values;
  } else if (key == "output_shapes") {
    field = &arguments.out_dims;
  } else if (key == "output_types") {
    field = &arguments.out_types;
  } else {
    return false;
  }
  *field = InternList(value);
  return true;
}

void NodeReader::ReadInputs(JsonValue value, RawArguments& arguments) {
  value.ForEachMember([&](std::string_view key, JsonValue list) {
    if (key == "values") {
      arguments.values = InternList(list);
    } else if (key == "shapes") {
      arguments.dims = InternList(list);
    } else if (key == "types") {
      arguments.types = InternList(list);
    } else if (key == "strides") {
      arguments.strides = InternList(list);
    }
  });
}

void NodeReader::ReadOutputs(JsonValue value, RawArguments& arguments) {
  value.ForEachMember([&](std::string_view key, JsonValue list) {
    if (key == "values") {
      arguments.out_values = InternList(list);
    } else if (key == "shapes") {
      arguments.out_dims = InternList(list);
    } else if (key == "types") {
      arguments.out_types = InternList(list);
    }
  });
}

void NodeReader::ReadAttributes(JsonValue list, ParsedNode& parsed) {
  list.ForEachElement([&](JsonValue attribute) {
    std::string_view name;
    std::optional<JsonValue> value;
    attribute.ForEachMember([&](std::string_view key, JsonValue member) {
      if (key == "name") {
        name = member.raw_string().value_or(std::string_view());
      } else if (key == "value") {
        value = member;
      }
    });
    if (value) {
      ReadAttribute(name, *value, parsed);
    }
  });
}

void NodeReader::ReadAttribute(std::string_view name, JsonValue value,
                               ParsedNode& parsed) {
  if (int64_t* field = FindIntegerField(name, parsed.node)) {
    *field = IntegerOf(value).value_or(*field);
  } else if (name == "op_schema") {
    parsed.node.op_schema = strings_.Intern(TextOf(value));
  } else if (std::string* text = FindCollectiveText(name, collective_)) {
    *text = TextOf(value);
    has_collective_ = true;
  } else if (auto* integer = FindCollectiveInteger(name, collective_)) {
    *integer = IntegerOf(value);
    has_collective_ = true;
  }
}

void NodeReader::ReadEventArgs(JsonValue args, ParsedNode& parsed) {
  args.ForEachMember([&](std::string_view key, JsonValue value) {
    if (key == "stream") {
      event_stream_ = IntegerOf(value);
    } else if (key == "correlation") {
      parsed.node.correlation = IntegerOf(value).value_or(-1);
    } else if (key == "bytes" || key == "Bytes") {
      parsed.node.bytes = IntegerOf(value).value_or(-1);
    }
  });
}

// A number or, as nodes of later schemas may have several, a list of them.
void NodeReader::ReadParent(JsonValue value, ParsedNode& parsed) {
  if (!value.is_array()) {
    parsed.parent = value.is_null() ? std::nullopt : IntegerOf(value);
    return;
  }
  value.ForEachElement([&](JsonValue element) {
    if (!parsed.parent) {
      parsed.parent = IntegerOf(element);
    }
  });
}

bool NodeReader::Finish(ParsedNode& parsed) {
  ExecutionNode& node = parsed.node;
  if (!id_ || !has_name_) {
    diagnostics_.Add(kMissingField, id_ ? fmt::format("name of node {}", *id_)
                                        : "id of a node");
    return false;
  }
  node.id = *id_;
  if (const auto kind = DeviceKindOfCategory(category_)) {
    // On device events "tid" is the stream.
    node.kind = NodeKind::kDevice;
    node.device_kind = *kind;
    if (event_stream_) {
      node.stream = *event_stream_;
    } else if (node.stream < 0) {
      node.stream = node.thread;
    }
    node.thread = 0;
    return true;
  }
  node.kind = HostNodeKind(strings_.view(node.name), node.scope);
  return true;
}

std::optional<int64_t> NodeReader::IntegerOf(JsonValue value) {
  const auto number = value.AsInt();
  if (!number) {
    diagnostics_.Add(kBadNumber,
                     id_ ? fmt::format("node {}", *id_) : std::string());
  }
  return number;
}

std::optional<Duration> NodeReader::TimeOf(JsonValue value,
                                           bool may_be_negative) {
  if (value.is_null()) {
    return std::nullopt;
  }
  const auto text = value.raw_string();
  const auto time = ParseMicroseconds(text ? *text : value.raw());
  if (!time || Duration(*time) > kMostTime || Duration(*time) < -kMostTime ||
      (*time < 0 && !may_be_negative)) {
    diagnostics_.Add(kBadNumber,
                     id_ ? fmt::format("node {}", *id_) : std::string());
    return std::nullopt;
  }
  return Duration(*time);
}

std::string_view NodeReader::TextOf(JsonValue value) {
  const auto raw = value.raw_string();
  return raw ? JsonUnescape(*raw, buffer_) : std::string_view();
}

// The same list without line breaks and indentation, so that equal lists have
// equal text: "[16, 13]". `buffer` holds it if it had to change.
std::string_view WithoutLayout(std::string_view json, std::string& buffer) {
  if (json.find('\n') == std::string_view::npos) {
    return json;
  }
  buffer.clear();
  bool in_string = false;
  for (size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (in_string && c == '\\' && at + 1 < json.size()) {
      buffer += c;
      buffer += json[++at];
      continue;
    }
    in_string = in_string != (c == '"');
    if (in_string || (c != ' ' && c != '\n' && c != '\r' && c != '\t')) {
      buffer += c;
    }
    if (!in_string && c == ',') {
      buffer += ' ';
    }
  }
  return buffer;
}

StringId NodeReader::InternList(JsonValue value) {
  if (!value.is_array()) {
    return StringPool::kEmpty;
  }
  return strings_.Intern(WithoutLayout(value.raw(), buffer_));
}

constexpr int kMajorVersion = 1;

Status ReadMember(std::string_view key, JsonValue value, TraceInfo& info) {
  if (key != "schema") {
    return {};
  }
  std::string buffer;
  const auto raw = value.raw_string();
  info.schema = std::string(raw ? JsonUnescape(*raw, buffer) : value.raw());
  const char* end = info.schema.data() + info.schema.size();
  int major = -1;
  const auto parsed = std::from_chars(info.schema.data(), end, major);
  if (parsed.ec != std::errc() || major != kMajorVersion ||
      (parsed.ptr != end && *parsed.ptr != '.')) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("schema '{}' of execution traces is not known; "
                            "expected {}.x",
                            Printable(info.schema), kMajorVersion));
  }
  return {};
}

}  // namespace

bool SniffTorchEt(std::string_view head) {
  const std::vector<std::string_view> keys = TopLevelKeys(head);
  const auto has = [&](std::string_view key) {
    return std::ranges::find(keys, key) != keys.end();
  };
  if (has("schema")) {
    return has("nodes") || has("pid") || has("start_ts");
  }
  return has("nodes") &&
         (head.find("\"ctrl_deps\"") != std::string_view::npos ||
          head.find("\"rf_id\"") != std::string_view::npos);
}

Result<TraceFile> ReadTorchEt(ByteSource& source, Diagnostics& diagnostics) {
  constexpr std::array<std::string_view, 1> kRecords = {"nodes"};
  JsonRecordReader reader(source, kRecords);
  TraceFile file;
  ExecutionTrace& trace = file.execution.emplace();
  NodeReader node_reader(trace.strings, diagnostics);
  Collectives collectives;
  std::vector<ParsedNode> nodes;
  while (true) {
    ASSIGN_OR_RETURN(const auto item, reader.Next());
    if (!item) {
      break;
    }
    if (!item->is_record) {
      RETURN_IF_ERROR(ReadMember(item->key, item->value, trace.info));
    } else if (const auto parsed = node_reader.Read(item->value)) {
      collectives.Add(*parsed, nodes.size(), trace.strings,
                      node_reader.collective());
      nodes.push_back(*parsed);
    }
  }
  if (nodes.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                reader.counts().truncated
                    ? "is cut off before the end of the first node"
                    : "holds no usable node; expected an execution trace");
  }
  ReportCounts(reader.counts(), diagnostics);
  trace.info.format = "torch-et";
  trace.info.text_bytes = reader.offset();
  collectives.Finish(nodes, trace.strings, trace.info);
  ArrangeNodes(std::move(nodes), trace, diagnostics);
  return file;
}

}  // namespace stepcast::trace

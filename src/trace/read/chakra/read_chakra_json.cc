#include "trace/read/chakra/read_chakra_json.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/json/json_read.h"
#include "trace/read/chakra/chakra_nodes.h"
#include "trace/read/oddities.h"
#include "trace/read/torch_et/json_document.h"

namespace stepcast::trace {
namespace {

constexpr std::string_view kNodesKey = "workload_graph";

class JsonNodeReader {
 public:
  JsonNodeReader(StringPool& strings, Diagnostics& diagnostics)
      : strings_(strings), diagnostics_(diagnostics) {}

  std::optional<ChakraNode> Read(JsonValue record) {
    std::optional<ChakraNode> node(std::in_place);
    id_.reset();
    has_name_ = false;
    const bool whole =
        record.ForEachMember([&](std::string_view key, JsonValue value) {
          ReadMember(key, value, *node);
        });
    if (!whole) {
      diagnostics_.Add(kMalformedRecord, Where());
      return std::nullopt;
    }
    if (!id_ || !has_name_) {
      diagnostics_.Add(kMissingField, Where());
      return std::nullopt;
    }
    node->parsed.node.id = *id_;
    return node;
  }

 private:
  void ReadMember(std::string_view key, JsonValue value, ChakraNode& node) {
    if (key == "Id") {
      id_ = IntegerOf(value);
    } else if (key == "Name") {
      const auto raw = value.raw_string();
      has_name_ = raw.has_value();
      node.parsed.node.name =
          strings_.Intern(JsonUnescape(raw.value_or(""), buffer_));
    } else if (key == "NodeType") {
      node.type = IntegerOf(value).value_or(0);
    } else if (key == "is_cpu_op") {
      node.is_cpu_op = value.raw() == "true" || value.AsInt().value_or(0) != 0;
    } else if (key == "ctrlDeps" || key == "ctrl_deps") {
      ReadList(value, node.control_dependencies);
    } else if (key == "data_deps" || key == "dataDeps") {
      ReadList(value, node.data_dependencies);
    } else if (key == "runtime") {
      ReadDuration(value, node.parsed.node);
    } else if (key == "comm_type") {
      node.comm_type = IntegerOf(value);
    } else if (key == "comm_size") {
      node.comm_bytes = NotNegative(value);
    } else if (key == "tensor_size") {
      node.memory_bytes = NotNegative(value);
    } else if (int64_t* field = FindIntegerField(key, node.parsed.node)) {
      *field = IntegerOf(value).value_or(*field);
    }
  }

  void ReadList(JsonValue value, std::vector<int64_t>& list) {
    value.ForEachElement([&](JsonValue element) {
      if (const auto id = IntegerOf(element)) {
        list.push_back(*id);
      }
    });
  }

  void ReadDuration(JsonValue value, ExecutionNode& node) {
    const auto time = ParseMicroseconds(value.raw());
    if (time && *time >= 0 && Duration(*time) <= kMostTime) {
      node.duration = Duration(*time);
    } else {
      diagnostics_.Add(kBadNumber, Where());
    }
  }

  std::optional<int64_t> IntegerOf(JsonValue value) {
    const auto number = value.AsInt();
    if (!number) {
      diagnostics_.Add(kBadNumber, Where());
    }
    return number;
  }

  std::optional<int64_t> NotNegative(JsonValue value) {
    const auto number = IntegerOf(value);
    return number && *number >= 0 ? number : std::nullopt;
  }

  std::string Where() const {
    return id_ ? fmt::format("node {}", *id_) : std::string();
  }

  StringPool& strings_;
  Diagnostics& diagnostics_;
  std::string buffer_;
  std::optional<int64_t> id_;
  bool has_name_ = false;
};

}  // namespace

bool SniffChakraJson(std::string_view head) {
  const std::vector<std::string_view> keys = TopLevelKeys(head);
  return std::ranges::find(keys, kNodesKey) != keys.end();
}

Result<TraceFile> ReadChakraJson(ByteSource& source, Diagnostics& diagnostics) {
  constexpr std::array<std::string_view, 1> kRecords = {kNodesKey};
  JsonRecordReader reader(source, kRecords);
  TraceFile file;
  ExecutionTrace& trace = file.execution.emplace();
  JsonNodeReader node_reader(trace.strings, diagnostics);
  ChakraNodes nodes(trace, diagnostics);
  while (true) {
    ASSIGN_OR_RETURN(const auto item, reader.Next());
    if (!item) {
      break;
    }
    if (!item->is_record) {
      continue;
    }
    if (const auto node = node_reader.Read(item->value)) {
      RETURN_IF_ERROR(nodes.Add(*node));
    }
  }
  if (nodes.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                reader.counts().truncated
                    ? "is cut off before the end of the first node"
                    : "holds no usable node; expected a Chakra trace");
  }
  ReportCounts(reader.counts(), diagnostics);
  trace.info.format = "chakra-json";
  trace.info.text_bytes = reader.offset();
  nodes.Finish();
  return file;
}

}  // namespace stepcast::trace

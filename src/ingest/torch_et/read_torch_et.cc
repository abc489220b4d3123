#include "ingest/torch_et/read_torch_et.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json_read.h"
#include "base/text_table.h"
#include "ingest/torch_et/collectives.h"
#include "ingest/torch_et/json_document.h"
#include "ingest/torch_et/node_order.h"
#include "ingest/torch_et/node_reader.h"

namespace stepcast::ingest {
namespace {

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

}  // namespace stepcast::ingest

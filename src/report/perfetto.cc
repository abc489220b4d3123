#include "report/perfetto.h"

#include <optional>

#include <fmt/format.h>

#include "base/json_write.h"
#include "report/chrome_events.h"
#include "report/measured_events.h"

namespace stepcast::report {
namespace {

std::string Header(const ir::Graph& graph) {
  const ir::GraphData& data = graph.data();
  JsonWriter json(JsonWriter::Style::kCompact);
  json.BeginArray();
  for (const auto& [key, number] : NumberDevices(data)) {
    json.BeginObject();
    json.Key("id").Int(number);
    json.Key("name").String(graph.text(data.ranks[key.first].gpu));
    json.EndObject();
  }
  json.EndArray();
  std::string header = fmt::format(
      "{{\"schemaVersion\": 1, \"displayTimeUnit\": \"ms\",\n"
      "\"deviceProperties\": {},\n",
      json.Take());
  if (data.ranks.size() == 1) {
    header += fmt::format("\"distributedInfo\": {{\"rank\": {}}},\n",
                          data.ranks.items().front().number);
  }
  return header;
}

}  // namespace

Result<std::string> PerfettoJson(const ir::Graph& graph, int64_t step) {
  const std::optional<Duration> zero = FirstTime(graph.data());
  if (!zero) {
    return Fail(ErrorCode::kUnsupported,
                "the graph has no measured times to draw; expected one from "
                "a profiler trace");
  }
  ChromeEvents events;
  AddMeasuredEvents(graph, {.step = step, .zero = *zero}, events);
  return fmt::format("{}\"traceEvents\": {}}}\n", Header(graph),
                     events.ToString());
}

}  // namespace stepcast::report

#include "cli/trace_input.h"

#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "hw/device.h"
#include "hw/gpu_names.h"
#include "ingest/build_graph.h"

namespace stepcast::cli {

Result<TraceInput> LoadTrace(const InputOptions& options,
                             const std::string& step_text) {
  ASSIGN_OR_RETURN(Input input, LoadInput(options, /*allow_duplicates=*/false));
  ASSIGN_OR_RETURN(const auto step, ParseNumber("--step", step_text, 0));
  Diagnostics diagnostics;
  ASSIGN_OR_RETURN(ir::Graph graph,
                   ingest::BuildGraph(input.loaded.ranks, input.rules,
                                      {.step = step}, diagnostics));
  return TraceInput{.input = std::move(input), .graph = std::move(graph)};
}

Result<std::string> RecordedGpu(const ir::Graph& graph) {
  const std::vector<std::string>& names = hw::GpuNames();
  for (const ir::Rank& rank : graph.data().ranks) {
    if (auto nearest = hw::NearestGpu(graph.text(rank.gpu), names)) {
      return *std::move(nearest);
    }
  }
  return Fail(ErrorCode::kInvalidInput,
              "the trace does not name a GPU we know; expected --gpu NAME");
}

}  // namespace stepcast::cli

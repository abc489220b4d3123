// One recorded step, loaded from what a user names.
#ifndef STEPCAST_CLI_TRACE_INPUT_H_
#define STEPCAST_CLI_TRACE_INPUT_H_

#include <string>

#include "base/result.h"
#include "cli/options.h"
#include "ir/graph.h"

namespace stepcast::cli {

struct TraceInput {
  Input input;
  ir::Graph graph;
};

/// `step` is the value of --step; empty: the step of median length.
Result<TraceInput> LoadTrace(const InputOptions& options,
                             const std::string& step);

/// The GPU that the trace was recorded on, by the first rank's name for it.
Result<std::string> RecordedGpu(const ir::Graph& graph);

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_TRACE_INPUT_H_

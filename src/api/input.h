// Recordings, loaded from what a scenario names.
#ifndef STEPCAST_API_INPUT_H_
#define STEPCAST_API_INPUT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/ask.h"
#include "base/result.h"
#include "ingest/load.h"
#include "ingest/rules.h"
#include "ir/graph.h"
#include "scenario/scenario.h"

namespace stepcast::api {

/// The traces, and the rules they were read with.
struct Input {
  ingest::Rules rules;
  ingest::Loaded loaded;
};

/// Reads what the scenario names; with a rank, that one alone.
/// `allow_duplicates` as in ingest::LoadOptions.
Result<Input> LoadInput(const scenario::Scenario& scenario,
                        const Options& options, bool allow_duplicates);

struct TraceInput {
  Input input;
  ir::Graph graph;
};

/// One step of them: the one that is named, or that of median length.
Result<TraceInput> LoadTrace(const scenario::Scenario& scenario,
                             const Options& options);

/// The GPU that the trace was recorded on, by the first rank's name for it.
Result<std::string> RecordedGpu(const ir::Graph& graph);

/// The value of an option that takes a whole number of at least `least`;
/// nothing if it was not given.
Result<std::optional<int64_t>> ParseNumber(std::string_view option,
                                           const std::string& text,
                                           int64_t least);

}  // namespace stepcast::api

#endif  // STEPCAST_API_INPUT_H_

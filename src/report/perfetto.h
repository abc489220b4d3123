// A graph as a timeline that Perfetto, chrome://tracing and our own Kineto
// reader open.
#ifndef STEPCAST_REPORT_PERFETTO_H_
#define STEPCAST_REPORT_PERFETTO_H_

#include <cstdint>
#include <string>

#include "base/result.h"
#include "ir/graph.h"

namespace stepcast::report {

/// Chrome JSON with Kineto's categories. One process a rank, one track a host
/// thread and a stream, all ranks on one clock that starts at the first event;
/// arrows go from launches to works. What has no measured time is left out;
/// fails if nothing has one. The step is marked as ProfilerStep#`step`.
Result<std::string> PerfettoJson(const ir::Graph& graph, int64_t step = 0);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_PERFETTO_H_

// The step of every rank of a job, those that are alike told once.
#ifndef STEPCAST_ENGINE_BUILD_JOB_H_
#define STEPCAST_ENGINE_BUILD_JOB_H_

#include <cstdint>
#include <vector>

#include "base/result.h"
#include "engine/request.h"
#include "ir/graph.h"
#include "workload/memory.h"
#include "workload/settings.h"

namespace stepcast::engine {

struct Job {
  ir::Graph graph;
  std::vector<int64_t> counts{};     // By rank of the graph.
  workload::Memory memory{};         // Of the fullest rank.
  std::vector<double> rank_bytes{};  // In memory, by rank of the graph.
};

/// The model of the request on the ranks of its machine; the batch of
/// `settings` is of one of them.
Result<Job> BuildJob(const Request& request,
                     const workload::Settings& settings);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_BUILD_JOB_H_

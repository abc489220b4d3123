// What to measure: shapes of every kind, sampled from stated ranges.
#ifndef STEPCAST_COLLECT_CUDA_SWEEP_H_
#define STEPCAST_COLLECT_CUDA_SWEEP_H_

#include <cstdint>
#include <string>
#include <vector>

#include "collect/cuda/point.h"

namespace stepcast::collect {

/// What --only may name, in the order of --help.
std::vector<std::string> GroupNames();
/// The same of a sweep of collectives.
std::vector<std::string> CollectiveNames();

/// Every point once, in the order they are measured. The same seed makes the
/// same sweep on every machine, and its order alternates between the groups, so
/// any prefix has some of each. `only`: these groups alone; all if empty.
/// `dtypes`: the types that the GPU supports.
std::vector<Point> MakeSweep(uint64_t seed,
                             const std::vector<std::string>& only,
                             const std::vector<std::string>& dtypes);

/// All collectives by size for 2, 4, ... and all `gpus`, in random order.
std::vector<Point> MakeCollectiveSweep(uint64_t seed,
                                       const std::vector<std::string>& only,
                                       int64_t gpus);

}  // namespace stepcast::collect

#endif  // STEPCAST_COLLECT_CUDA_SWEEP_H_

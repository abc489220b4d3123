// How long TorchRec's planner thinks a part of a table takes.
#ifndef STEPCAST_PLAN_TORCHREC_PERF_H_
#define STEPCAST_PLAN_TORCHREC_PERF_H_

#include "plan/problem.h"

namespace stepcast::plan {

/// Milliseconds, in the four parts of TorchRec's reports.
struct TorchrecPerf {
  double forward_compute = 0;
  double forward_comms = 0;
  double backward_compute = 0;
  double backward_comms = 0;

  double total() const {
    return forward_compute + forward_comms + backward_compute + backward_comms;
  }
};

/// Of one part of a table, by the bandwidths that TorchRec assumes where nobody
/// sets others.
TorchrecPerf EstimateLikeTorchrec(const Problem& problem, const Table& table,
                                  const Option& option);

}  // namespace stepcast::plan

#endif  // STEPCAST_PLAN_TORCHREC_PERF_H_

// What the order of works on the streams says about two threads of a rank that
// launch them.
//
//   main      f1 f2             o1 f3 f4             o2
//   autograd        b1 b2 b3             b4 b5 b6
//   stream 7  f1 f2 b1    b3    o1 f3 f4 b4 b5 b6    o2     two bursts
#ifndef STEPCAST_COST_OVERHEADS_LAUNCH_ORDER_H_
#define STEPCAST_COST_OVERHEADS_LAUNCH_ORDER_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/ids.h"
#include "ir/graph.h"

namespace stepcast::cost {

/// One thing that a thread does, as a position in the order it does them.
struct LaunchedBy {
  static constexpr uint32_t kNone = std::numeric_limits<uint32_t>::max();

  uint32_t item = kNone;  // kNone: of no interest.
  /// Of the main thread: may run while autograd's thread runs.
  bool meanwhile = false;
};

/// Items of autograd's thread between which the main thread did nothing but
/// what may run meanwhile.
struct Burst {
  size_t first = 0;
  size_t last = 0;
  /// So many items of the main thread come before its start.
  size_t main_before = 0;
  /// So many come before its end, with those that run meanwhile.
  size_t main_until_end = 0;
  /// The first one behind it.
  size_t next_main = std::numeric_limits<size_t>::max();
};

/// Cuts `items` of autograd's thread into as few bursts as streams allow; one
/// if they say nothing. A stream runs works in the order of their launches, so
/// where works of both threads lie on one, it tells which came first.
std::vector<Burst> FindBursts(const ir::GraphData& data,
                              const IdVector<ir::CallId, LaunchedBy>& calls,
                              ir::ThreadId main, ir::ThreadId autograd,
                              size_t items);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_OVERHEADS_LAUNCH_ORDER_H_

#include "cost/kernels/sort.h"

#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/steps.h"

namespace stepcast::cost {
namespace {

// What one kernel of each kind moves, in bytes an element, and its chain of
// dependent steps. V100 kernels of 32 to 15 M elements
// in three DLRM traces.
struct Cost {
  double bytes = 0;
  double steps = 0;
};

// Of a key's position, which sorts carry along.
constexpr double kPositionBytes = 8;

Cost CostOf(ir::SortKind kind, double size) {
  switch (kind) {
    case ir::SortKind::kSort:
      // One pass over one digit: keys and positions are read and written. The
      // blocks hand their counts on; a single block sorts up to some thousand
      // keys in as long.
      return {.bytes = 2 * (size + kPositionBytes), .steps = 4};
    case ir::SortKind::kUnique:
      // Keys are read, those that differ from their neighbour written: half of
      // them, as a middle between all and none.
      return {.bytes = 1.5 * size, .steps = 1.5};
    case ir::SortKind::kScan:
      return {.bytes = 2 * size, .steps = 1};
    case ir::SortKind::kSearch:
      // A query and its result; the table searched stays in L2.
      return {.bytes = size + kPositionBytes, .steps = 2};
  }
  return {};
}

}  // namespace

Base SortBase(const ir::KernelShape& shape, const Machine& machine) {
  const auto& sort = std::get<ir::Sort>(shape);
  const Cost cost = CostOf(sort.kind, ElementBytes(sort.dtype));
  return StreamBase({.bytes = static_cast<double>(sort.elements) * cost.bytes,
                     .latencies = LatenciesWith(cost.steps, machine)},
                    machine);
}

}  // namespace stepcast::cost

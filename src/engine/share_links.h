// Transfers of a rank that use one link at the same time take turns on it.
#ifndef STEPCAST_ENGINE_SHARE_LINKS_H_
#define STEPCAST_ENGINE_SHARE_LINKS_H_

#include <cstdint>
#include <span>
#include <vector>

#include "engine/price_works.h"
#include "ir/graph.h"
#include "lower/lower.h"
#include "sim/simulate.h"

namespace stepcast::engine {

/// The links of a GPU, as bits: one way over PCIe does not slow the other.
enum LinkBit : uint8_t {
  kFabric = 1,  // Between the GPUs of a node: NVLink.
  kNetwork = 2,
  kToDevice = 4,
  kFromDevice = 8,
};

/// A transfer as it would be alone.
struct Transfer {
  double start_us = 0;
  double alone_us = 0;
  uint8_t links = 0;
  /// Of a link's rate, what it takes while it runs; the rest is latency.
  double share = 0;
};

/// How long each takes if links are shared: one that is wanted beyond its rate
/// slows all that use it alike, and each is as slow as its slowest link. At
/// least alone_us.
std::vector<double> ShareLinks(std::span<const Transfer> transfers);

/// Makes the prices of works longer that were in each other's way in
/// `schedule`. `alone` are their prices on idle links. Works of one collective
/// take as long as its slowest. False if no price changed.
bool ShareLinks(const ir::GraphData& data, const PriceOptions& options,
                const PricedWorks& alone, const lower::Lowered& lowered,
                const sim::Schedule& schedule, PricedWorks& prices);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_SHARE_LINKS_H_

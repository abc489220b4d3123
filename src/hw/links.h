// What the links of a node give those who use them at once.
#ifndef STEPCAST_HW_LINKS_H_
#define STEPCAST_HW_LINKS_H_

#include "hw/node.h"

namespace stepcast::hw {

/// Of servers whose network is not known: 10 Gb/s, the least they have.
inline constexpr double kLeastNicGbs = 1.25;

/// How the first `gpus` GPUs of a node, or of a domain of several, reach each
/// other.
struct LinkRates {
  bool direct = false;       // By links of their own, not PCIe.
  bool peers_direct = true;  // The same of what each sends to each.
  /// What each GPU sends on when all pass data around in rings.
  double ring_gbs = 0;
  /// What each GPU sends to each peer when all send to all at once.
  double peer_gbs = 0;
};
LinkRates LinksOf(const Node& node, int gpus);

/// The network's rate for each of `gpus` GPUs of a node that send at once; 0
/// where there is no network.
double NicGbsPerGpu(const Node& node, int gpus);

/// What each of `users` gets of a link that all use at once: NVLink, PCIe and
/// adapters serve packets in turn, so transfers that could use more share it
/// evenly. `wanted_gbs` is what one would take alone.
double SharedGbs(double link_gbs, int users, double wanted_gbs);

}  // namespace stepcast::hw

#endif  // STEPCAST_HW_LINKS_H_

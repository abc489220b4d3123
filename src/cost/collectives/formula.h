// How long a collective takes by the links of its cluster.
#ifndef STEPCAST_COST_COLLECTIVES_FORMULA_H_
#define STEPCAST_COST_COLLECTIVES_FORMULA_H_

#include "cost/collectives/constants.h"
#include "cost/collectives/load.h"
#include "hw/cluster.h"

namespace stepcast::cost {

/// Time over bytes: a latency, a rate that large messages reach, and how the
/// two blend. Never falls with the bytes and has no joints.
struct Ramp {
  double latency_us = 0;
  double bus_gbs = 1;  // Wire bytes of the busiest rank, 1e9 a second.
  double blend = 1;

  double Us(double wire_bytes) const;
  /// The bytes that take so long; 0 if nothing is that short.
  double BytesFor(double us) const;
};

/// The formula for a kind, a group and what the busiest link carries.
class CollectiveFormula {
 public:
  CollectiveFormula(const hw::Cluster& cluster,
                    const CollectiveConstants& constants)
      : cluster_(cluster), constants_(constants) {}

  /// The ramp of a load spread evenly, and what an uneven one is worth on it:
  /// the even wire bytes that keep the slowest link busy as long.
  Ramp RampOf(const CollectiveLoad& load) const;
  double EvenWireBytes(const CollectiveLoad& load) const;

  double Us(const CollectiveLoad& load) const {
    return RampOf(load).Us(EvenWireBytes(load));
  }

  /// No faster by what the links are sold for.
  double BoundUs(const CollectiveLoad& load) const;

 private:
  bool SwitchesAdd(const CollectiveLoad& load) const;
  double LatencyUs(const CollectiveLoad& load) const;
  double TransferUs(const CollectiveLoad& load, bool sustained) const;
  double NodeTransferUs(const CollectiveLoad& load, bool sustained) const;

  const hw::Cluster& cluster_;
  const CollectiveConstants& constants_;
};

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_COLLECTIVES_FORMULA_H_

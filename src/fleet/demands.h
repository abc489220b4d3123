// What one iteration of one Hogwild thread asks of trainers, sparse servers and
// dense servers.
#ifndef STEPCAST_FLEET_DEMANDS_H_
#define STEPCAST_FLEET_DEMANDS_H_

#include <cstdint>

#include "base/result.h"
#include "hw/cpu_device.h"
#include "workload/model.h"
#include "workload/settings.h"

namespace stepcast::fleet {

/// Of all servers of a tier together, or of a trainer's thread.
struct Demand {
  double core_us = 0;     // Of one core.
  double dram_bytes = 0;  // From and to memory.
  double in_bytes = 0;    // From the network.
  double out_bytes = 0;

  /// What an adapter of `nic_gbs` takes: both directions at once.
  double NetworkUs(double nic_gbs) const;
};

/// How a fleet is asked: what decides the demands beside the model.
struct IterationShape {
  int64_t batch = 0;
  int threads = 1;     // Of a trainer, that share it.
  int sync_every = 1;  // Iterations of each between averagings.
};

struct Demands {
  Demand trainer;
  Demand sparse;  // Split evenly by the servers.
  Demand dense;
  // Of every server that is asked, however many there are.
  double sparse_message_us = 0;
  double dense_message_us = 0;
  double wire_us = 0;  // There and back, on an idle network.

  double table_bytes = 0;    // With the optimizer's state.
  double dense_bytes = 0;    // Parameters, with the averaged copy.
  double trainer_bytes = 0;  // Parameters and what the threads hold.
};

/// `trainer` and `sparse` are the servers of the two tiers.
Result<Demands> FindDemands(const workload::Model& model,
                            const workload::Settings& settings,
                            const IterationShape& shape,
                            const hw::Node& trainer, const hw::Node& sparse);

}  // namespace stepcast::fleet

#endif  // STEPCAST_FLEET_DEMANDS_H_

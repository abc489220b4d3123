// Asynchronous training on CPU servers: trainers with Hogwild threads, sparse
// servers with the tables, dense servers that average the rest.
#ifndef STEPCAST_FLEET_PREDICT_FLEET_H_
#define STEPCAST_FLEET_PREDICT_FLEET_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hw/cpu_device.h"
#include "model/model.h"
#include "model/settings.h"

namespace stepcast::fleet {

// What one iteration of one Hogwild thread asks of trainers, sparse servers and
// dense servers.

/// Of all servers of a tier together, or of a trainer's thread.
struct Demand {
  double core_us = 0;     // Of one core.
  double dram_bytes = 0;  // From and to memory.
  double in_bytes = 0;    // From the network.
  double out_bytes = 0;

  /// What an adapter of `nic_gbs` takes: both directions at once.
  double NetworkUs(double nic_gbs) const;
};

/// How a fleet is used: what the demands depend on besides the model.
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
Result<Demands> FindDemands(const model::Model& model,
                            const model::Settings& settings,
                            const IterationShape& shape,
                            const hw::Node& trainer, const hw::Node& sparse);

/// Samples of a thread's iteration where nobody says (Acun et al. 2020, from
/// memory).
inline constexpr int64_t kUsualBatch = 200;
/// Iterations of every thread between two averagings of a trainer (the EASGD
/// paper's and the fleet's usual order; Zhang et al. 2015 have 1 to 64).
inline constexpr int kUsualSyncEvery = 10;
/// Servers last so long; what they cost is spread over it.
inline constexpr double kYearsOfUse = 3;

struct FleetRequest {
  model::Model model;
  /// `batch` is of one thread's iteration; 0: kUsualBatch.
  model::Settings settings{};
  std::shared_ptr<const hw::Node> trainer;
  std::shared_ptr<const hw::Node> sparse;  // Null: as the trainers.
  std::shared_ptr<const hw::Node> dense;   // Null: as the trainers.
  int trainers = 1;
  int threads = 0;  // Of a trainer; 0: one a core.
  int sparse_servers = 1;
  int dense_servers = 1;
  int sync_every = kUsualSyncEvery;
  uint32_t samples = 100;  // Monte Carlo, for the interval; 0: none.
  uint64_t seed = 1;
};

/// Servers of one kind, all alike.
struct TierUse {
  std::string server;
  int servers = 0;
  // Of each server, 0 to 1.
  double cpu = 0;
  double memory_bandwidth = 0;
  double network = 0;
  // Of each server.
  double memory_bytes = 0;
  double memory_capacity = 0;
  double power_w = 0;  // Of all.

  bool fits() const { return memory_bytes <= memory_capacity; }
};

/// A part of a thread's iteration.
struct RoundPart {
  std::string_view name;   // "trainer cpu", "sparse network", "wire", ...
  double us = 0;           // With its queue.
  double utilisation = 0;  // Of what does it; 0 for pure delays.
};

struct FleetPrediction {
  std::string model{};  // Its name.
  double samples_per_s = 0;
  double samples_per_s_p10 = 0;
  double samples_per_s_p90 = 0;
  double iteration_us = 0;  // Of one thread.
  int64_t batch = 0;        // Of one thread.
  int threads = 0;          // Of one trainer.
  std::vector<RoundPart> parts{};
  std::string bound_by;  // The busiest part.
  TierUse trainers{};
  TierUse sparse{};
  TierUse dense{};
  double power_w = 0;  // Of all servers.
  double samples_per_joule = 0;
  /// Over kYearsOfUse; absent unless every server has a price.
  std::optional<double> price_usd{};
  std::optional<double> samples_per_usd{};
  std::vector<std::string> notes{};

  bool fits() const { return trainers.fits() && sparse.fits() && dense.fits(); }
};

/// Fails for models without tables or MLPs, and counts below 1.
Result<FleetPrediction> PredictFleet(const FleetRequest& request);

}  // namespace stepcast::fleet

#endif  // STEPCAST_FLEET_PREDICT_FLEET_H_

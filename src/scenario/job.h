// What a scenario comes to: numbers and things in place of words.
#ifndef STEPCAST_SCENARIO_JOB_H_
#define STEPCAST_SCENARIO_JOB_H_

#include <string>

#include "engine/run/predict.h"
#include "engine/run/request.h"
#include "fleet/predict_fleet.h"
#include "scenario/find_machine.h"

namespace stepcast::scenario {

/// Servers without GPUs: those that train, and those that hold parameters.
struct Servers {
  std::string name{};         // Empty: none was named.
  std::string sparse_name{};  // Empty: as `name`.
  std::string dense_name{};   // Empty: as `name`.
  int trainers = 0;           // 0: they train in step, or GPUs do.
  int threads = 0;            // Of a trainer; 0: one per core.
  int sparse = 0;             // Servers of tables; 0: not given.
  int dense = 0;              // Servers of dense parameters; 0: not given.
  int sync_every = 0;         // Steps between two syncs; 0: as usual.
  // Those of the names; none: not named.
  Named<hw::Node> node{};
  Named<hw::Node> sparse_node{};
  Named<hw::Node> dense_node{};
};

/// What was asked for by name or file; Bind finds it.
struct Names {
  MachineNames machine{};
  std::string overheads{};  // Empty: those of the implementation.
  std::string plan{};       // Empty: the implementation's own sharding.
};

/// Monte Carlo samples for the interval, unless the user sets their number.
inline constexpr uint32_t kDefaultSamples = 100;

struct Job {
  Names names{};
  engine::Request request{};
  engine::PredictOptions options{.samples = kDefaultSamples};
  Servers servers{};

  /// Trainers train asynchronously; otherwise all train in step.
  bool is_fleet() const { return servers.trainers > 0; }
};

/// What a fleet is asked.
fleet::FleetRequest FleetRequestOf(const Job& job);

}  // namespace stepcast::scenario

#endif  // STEPCAST_SCENARIO_JOB_H_

// One thing to predict of a study: a model, how it is run and on what.
#ifndef STEPCAST_EXPLORE_SCENARIO_H_
#define STEPCAST_EXPLORE_SCENARIO_H_

#include <string>
#include <utility>
#include <vector>

#include "engine/predictor.h"

namespace stepcast::explore {

/// Servers without GPUs: those that train, and those that hold parameters.
struct Servers {
  std::string name{};  // Empty: none was named.
  int trainers = 0;    // 0: GPUs train.
  int threads = 0;     // Of a trainer; 0: one a core.
  int sparse = 0;      // Servers of tables.
  int dense = 0;       // Servers of dense parameters.
  int sync_every = 0;  // Steps between two syncs; 0: as usual.
};

/// A figure of a machine that the study says itself.
using FigureOverride = std::pair<std::string, double>;

struct Scenario {
  engine::Request request{};
  std::string placement{};  // As given; empty: as the model has it.
  Servers servers{};
  std::vector<FigureOverride> platform_figures{};
  std::vector<FigureOverride> server_figures{};
};

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_SCENARIO_H_

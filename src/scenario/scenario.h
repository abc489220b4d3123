// What is asked: all that a prediction depends on, as plain text.
#ifndef STEPCAST_SCENARIO_SCENARIO_H_
#define STEPCAST_SCENARIO_SCENARIO_H_

#include <string>
#include <vector>

namespace stepcast::scenario {

/// The settings as they were given, each under the name that it has in the
/// table of settings (scenario/settings.h); empty: left to its default.
struct Scenario {
  // The machine.
  std::string gpu{};
  std::string gpus{};
  std::string nodes{};
  std::string platform{};
  std::string server{};
  std::string runtime{};

  // How the model is run on it.
  std::string batch{};
  std::string mode{};
  std::string precision{};
  std::string impl{};
  std::string cuda_graphs{};
  std::string placement{};
  std::string plan{};
  bool pageable = false;

  // Where its times come from.
  std::string overheads{};
  std::vector<std::string> profile{};
  bool profiled = false;
  std::string step{};
  std::string samples{};
  std::string seed{};

  // Asynchronous training on a fleet of servers.
  std::string trainers{};
  std::string hogwild{};
  std::string sparse_servers{};
  std::string dense_servers{};
  std::string sparse_server{};
  std::string dense_server{};
  std::string sync_every{};

  friend bool operator==(const Scenario&, const Scenario&) = default;
};

}  // namespace stepcast::scenario

#endif  // STEPCAST_SCENARIO_SCENARIO_H_

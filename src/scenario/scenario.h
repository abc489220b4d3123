// What is asked: all that a prediction depends on, as plain text.
#ifndef STEPCAST_SCENARIO_SCENARIO_H_
#define STEPCAST_SCENARIO_SCENARIO_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast::scenario {

/// The settings as they were given, each under the name that it has in the
/// table of settings (scenario/settings.h); empty: left to its default.
struct Scenario {
  /// A model's name or file, or the files of a recording.
  std::vector<std::string> workload{};

  // The model's sizes, where they are not those of its file.
  std::string sparse_features{};
  std::string dense_features{};
  std::string rows{};
  std::string rows_factor{};
  std::string pooling{};
  std::string pooling_factor{};
  std::string bottom_mlp{};
  std::string top_mlp{};
  std::string mlp_depth{};
  std::string bottom_depth{};
  std::string top_depth{};
  std::string mlp_width{};
  std::string bottom_width{};
  std::string top_width{};
  std::string dim{};
  std::string mlp_factor{};
  std::string dim_factor{};

  // How the model is run.
  std::string placement{};
  std::string batch{};
  std::string mode{};
  std::string precision{};
  std::string impl{};
  std::string cuda_graphs{};
  std::string plan{};
  bool pageable = false;
  bool fused_optimizer = false;
  std::string bucket_mib{};
  std::string prefetch{};

  // The machine.
  std::string platform{};
  std::string gpu{};
  std::string gpus{};
  std::string nodes{};
  std::string server{};
  std::string runtime{};

  // Asynchronous training on a fleet of servers.
  std::string trainers{};
  std::string hogwild{};
  std::string sparse_servers{};
  std::string dense_servers{};
  std::string sync_every{};
  std::string sparse_server{};
  std::string dense_server{};

  // Figures of the machine, instead of those of its file.
  std::string host_memory_gb{};
  std::string host_memory_gbs{};
  std::string nic_gbs{};
  std::string pcie_gbs{};
  std::string node_power_w{};
  std::string server_memory_gbs{};
  std::string server_nic_gbs{};
  std::string server_power_w{};

  // Where its times come from.
  std::string overheads{};
  std::vector<std::string> profile{};
  bool profiled = false;
  std::string samples{};
  std::string seed{};

  // Of recordings.
  std::string step{};
  std::string rank{};
  std::vector<std::string> rules{};

  friend bool operator==(const Scenario&, const Scenario&) = default;
};

// A question: what is to be done with a scenario.

/// All that an answer depends on, as plain text.
struct Question {
  std::string verb{};  // "predict", "eval steps", ...
  Scenario scenario{};
  /// What the verb alone takes, by name: {"change", {"precision=bf16"}}. A flag
  /// that is set is "true".
  std::map<std::string, std::vector<std::string>, std::less<>> arguments{};

  /// The values of an argument; none if it was not given.
  const std::vector<std::string>& All(std::string_view name) const {
    static const std::vector<std::string> kNone;
    const auto found = arguments.find(name);
    return found == arguments.end() ? kNone : found->second;
  }
  /// The last one; empty if it was not given.
  std::string One(std::string_view name) const {
    return All(name).empty() ? "" : All(name).back();
  }
  bool Has(std::string_view name) const { return !All(name).empty(); }

  friend bool operator==(const Question&, const Question&) = default;
};

}  // namespace stepcast::scenario

#endif  // STEPCAST_SCENARIO_SCENARIO_H_

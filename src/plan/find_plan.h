// The best plan that can be found in the time there is: all sharders, their
// plans simulated, and the best improved on the simulator.
#ifndef STEPCAST_PLAN_FIND_PLAN_H_
#define STEPCAST_PLAN_FIND_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "engine/run/predict_model.h"
#include "plan/ledger.h"
#include "plan/plan.h"
#include "plan/problem.h"
#include "plan/sharders.h"

namespace stepcast::plan {

// Why no plan fits, and what would.

/// What keeps every plan from fitting.
enum class Binding {
  kOtherMemory,  // The step needs more than there is without any table.
  kTable,        // A table has no way that fits a rank.
  kTotal,        // All tables together are more than all ranks hold.
  kRank,         // They would fit in sum, but the fullest rank has too much.
};

struct WhyNot {
  Binding binding = Binding::kRank;
  double over_bytes = 0;            // By how much.
  std::string table{};              // Of kTable.
  std::vector<std::string> ways{};  // To make it fit, each alone.

  /// One line: what binds and by how much.
  std::string Text(const Problem& problem) const;
};

/// Of a problem where `nearest`, the plan that exceeds least, does not fit.
WhyNot FindWhyNot(const Problem& problem, const Choices& nearest);

// A plan's step as the simulator has it.

struct Simulated {
  Duration step{};
  double hbm_bytes = 0;  // Of the fullest rank.
  bool fits = true;
};

/// Gives the step of a plan.
using Simulate = std::function<Result<Simulated>(const Plan& plan)>;

/// A simulator of plans for a request, which leaves the table assignment open
/// and outlives the simulator.
Simulate MakeSimulator(const engine::Request& request, double capacity_bytes);

/// A plan, who made it, and what it comes to.
struct Candidate {
  std::string sharder{};
  Choices choices{};
  Cost cost{};
  int64_t evaluations = 0;
  std::optional<Simulated> simulated{};
};

/// What is being done, for people who wait.
using ReportProgress = std::function<void(std::string_view what)>;

struct FindOptions {
  SearchOptions search{};
  size_t threads = 1;
  /// Sharders by name; empty: all, and ours go on from each other's plans.
  std::vector<std::string> sharders{};
  /// Plans that are simulated, the best by cost first; TorchRec's always is.
  size_t most_simulated = SIZE_MAX;
  /// Changes of the best plan that are simulated.
  int trials = 0;
  ReportProgress on_progress = [](std::string_view) {};
};

struct FoundPlans {
  std::vector<Candidate> candidates{};  // In the order of the sharders.
  size_t best = 0;
  int64_t evaluations = 0;
  int simulations = 0;
  bool stopped = false;  // Before all was tried.
};

/// Fails for unknown sharders and where a simulation does. A search that `stop`
/// of the search options ends early is reported with its best plan so far.
Result<FoundPlans> FindPlans(const Problem& problem, const Simulate& simulate,
                             const FindOptions& options);

/// Whether a is to be taken rather than b: simulated plans go by their step.
bool IsBetter(const Candidate& a, const Candidate& b);

/// The best of all; of those whose speeds cannot be distinguished, the one that
/// costs least.
size_t BestOf(const std::vector<Candidate>& candidates);

}  // namespace stepcast::plan

#endif  // STEPCAST_PLAN_FIND_PLAN_H_

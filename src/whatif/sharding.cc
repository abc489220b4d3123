// A better sharding of a model's tables.

#include <utility>

#include <fmt/format.h>

#include "base/units.h"
#include "engine/run/predict_model.h"
#include "engine/run/request.h"
#include "model/frameworks/implementations.h"
#include "model/tables/table_assignment.h"
#include "plan/find_plan.h"
#include "plan/load_assignment.h"
#include "plan/make_problem.h"
#include "plan/plan.h"
#include "whatif/tries.h"

namespace stepcast::whatif {
namespace {

// A beam's steps and those of its local search: a second or less for some
// tens of tables on some hundred ranks, and nearly as good as many more.
constexpr int64_t kEvaluations = 20'000;
constexpr std::string_view kPlanner = "torchrec";

bool CanBePlanned(const Case& before) {
  return before.job && before.machine.has_gpus() && before.machine.ranks > 1 &&
         !before.job->request.assignment && !before.job->request.hybrid &&
         before.job->request.settings.impl->plans &&
         engine::AllInHbm(before.job->request.model);
}

Result<plan::FoundPlans> Find(const engine::Request& request,
                              const plan::Problem& problem, uint64_t seed) {
  plan::FindOptions options;
  options.search.seed = seed;
  options.search.evaluations = kEvaluations;
  options.sharders = {std::string(kPlanner), "greedy", "beam"};
  return plan::FindPlans(problem,
                         plan::MakeSimulator(request, problem.capacity_bytes +
                                                          problem.other_bytes),
                         options);
}

std::string WhereOf(const plan::FoundPlans& found) {
  for (const plan::Candidate& item : found.candidates) {
    if (item.sharder == kPlanner && item.simulated) {
      return fmt::format(
          "the tables, as {} shards them; TorchRec's planner comes to {:.3f} "
          "ms "
          "per step",
          found.candidates[found.best].sharder,
          ToMilliseconds(item.simulated->step));
    }
  }
  return "";
}

}  // namespace

std::optional<Resharded> TrySharding(const Case& before,
                                     scenario::Resolver& resolver) {
  if (!CanBePlanned(before)) {
    return std::nullopt;
  }
  scenario::Job job = *before.job;
  engine::Request& request = job.request;
  if (request.settings.batch == 0) {
    request.settings.batch = request.model.batch;
  }
  const plan::Ranks ranks{.count = request.machine.ranks,
                          .nodes = request.machine.nodes};
  const auto problem = plan::MakeProblem(
      {.model = &request.model,
       .settings = request.settings,
       .kernels = request.machine.kernels,
       .collectives = request.machine.collectives,
       .overheads = request.overheads.value.get(),
       .ranks = ranks,
       .device_bytes = request.machine.device->dram_gb * kGiga,
       .host = engine::HostPricingOf(request.machine)},
      {});
  if (!problem) {
    return std::nullopt;
  }
  const auto found = Find(request, *problem, job.options.seed);
  if (!found || !found->candidates[found->best].simulated ||
      !found->candidates[found->best].simulated->fits) {
    return std::nullopt;
  }
  request.assignment = plan::AssignmentOf(
      plan::PlanOf(*problem, found->candidates[found->best].choices),
      model::SingleTables(request.model.tables), ranks);
  auto after = CaseOfModel(std::move(job), resolver);
  if (!after) {
    return std::nullopt;
  }
  Resharded resharded{.changed = {}, .where = WhereOf(*found)};
  resharded.changed.after = *std::move(after);
  resharded.changed.delta = DeltaOf(before, resharded.changed.after);
  return resharded;
}

}  // namespace stepcast::whatif

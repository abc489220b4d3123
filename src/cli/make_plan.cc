// Runs the search for a plan, or evaluates one that was given.
#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/quantity.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/extra_file.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/plan_command.h"
#include "cli/progress.h"
#include "engine/place_tables.h"
#include "hw/cluster.h"
#include "plan/load_deal.h"
#include "plan/make_problem.h"
#include "plan/plan_json.h"
#include "report/model_report.h"
#include "scenario/resolve.h"
#include "scenario/settings.h"
#include "workload/table_deal.h"

namespace stepcast::cli {
namespace {

constexpr int64_t kGpusOfNode = 8;
constexpr double kDefaultSeconds = 60;
constexpr int64_t kDefaultEvaluations = 500'000;
// Tables times ranks up to which changes are tried on the simulator, and how
// many: each takes some milliseconds for ten tables on eight ranks.
constexpr size_t kSimulatedSize = 2000;
constexpr int kTrials = 40;
// Above, plans that are simulated: each takes up to a second for some hundred
// tables on a hundred ranks.
constexpr size_t kMostSimulated = 4;
constexpr size_t kLargeSize = 50'000;

// An amount in `unit`; `otherwise` if it was not given.
Result<double> ParseAmount(std::string_view option, const std::string& text,
                           std::string_view unit, double otherwise) {
  if (text.empty()) {
    return otherwise;
  }
  const auto value = ParseQuantity(text, unit);
  if (!value || !(*value > 0) || !std::isfinite(*value)) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} is '{}'; expected more than 0, in {}", option,
                            text, unit));
  }
  return *value;
}

Result<engine::Request> ReadPlanRequest(const PlanCommand& command) {
  scenario::Scenario asked = command.scenario;
  RETURN_IF_ERROR(scenario::CheckSubject(asked, scenario::Subject::kModel));
  asked.impl = "torchrec";
  if (asked.gpus.empty()) {
    const scenario::Setting* const nodes = scenario::FindSetting("nodes");
    ASSIGN_OR_RETURN(
        const scenario::Value count,
        scenario::ParseValue(*nodes, asked.nodes.empty() ? "1" : asked.nodes));
    asked.gpus = fmt::format("{}", kGpusOfNode * count.whole);
  }
  ASSIGN_OR_RETURN(scenario::Job job, scenario::Resolve(asked));
  if (job.request.settings.batch == 0) {
    job.request.settings.batch = job.request.model.batch;
  }
  return std::move(job.request);
}

// What a job is planned with, loaded.
Result<plan::Job> MakeJob(engine::Predictor& predictor,
                          engine::Request& request) {
  std::string gpu = request.gpu;
  ASSIGN_OR_RETURN(request.platform, engine::PlatformOf(request, gpu));
  request.gpu = gpu;
  ASSIGN_OR_RETURN(request.nodes, engine::NodesOn(request.platform, request));
  plan::Job job{.model = &request.model,
                .settings = request.settings,
                .ranks = {.count = request.gpus, .nodes = request.nodes}};
  if (request.gpus > 1) {
    ASSIGN_OR_RETURN(const std::string linked,
                     hw::PlatformWith(request.platform, gpu));
    ASSIGN_OR_RETURN(job.collectives, predictor.Collectives(
                                          linked, request.gpus, request.nodes));
  }
  ASSIGN_OR_RETURN(const std::string device, hw::GpuOn(gpu, request.platform));
  ASSIGN_OR_RETURN(job.kernels, predictor.Models(device));
  ASSIGN_OR_RETURN(
      job.overheads,
      predictor.Overheads(request.overheads.empty()
                              ? engine::DefaultOverheads(request.settings.impl)
                              : request.overheads));
  job.device_bytes = job.kernels->machine().device.dram_gb * kGiga;
  job.host = engine::HostPricingOf(request, request.platform,
                                   job.kernels->machine().device);
  return job;
}

// The plan of a file, first among the candidates.
Status AddGiven(const PlanCommand& command, const plan::Job& job,
                const plan::Simulate& simulate, plan::Problem& problem,
                plan::FoundPlans& found) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(command.plan));
  ASSIGN_OR_RETURN(
      const plan::Plan given,
      plan::ReadPlanJson(text, command.plan, plan::NamedTablesOf(*job.model),
                         job.ranks));
  plan::Candidate candidate{.sharder = "given"};
  ASSIGN_OR_RETURN(candidate.choices, plan::Adopt(job, given, problem));
  candidate.cost = plan::Ledger(problem, candidate.choices).Evaluate();
  candidate.evaluations = 1;
  ASSIGN_OR_RETURN(candidate.simulated, simulate(given));
  ++found.simulations;
  ++found.evaluations;
  found.candidates.insert(found.candidates.begin(), std::move(candidate));
  return {};
}

Result<plan::FindOptions> ReadOptions(const PlanCommand& command,
                                      const plan::Problem& problem) {
  plan::FindOptions options;
  ASSIGN_OR_RETURN(const scenario::Job job,
                   scenario::ResolveTimes(command.scenario));
  options.search.seed = job.options.seed;
  ASSIGN_OR_RETURN(const auto evaluations,
                   ParseNumber("--evaluations", command.evaluations, 1));
  options.search.evaluations = evaluations.value_or(kDefaultEvaluations);
  ASSIGN_OR_RETURN(const auto threads,
                   ParseNumber("--threads", command.threads, 0));
  options.threads = static_cast<size_t>(threads.value_or(0));
  ASSIGN_OR_RETURN(const auto trials,
                   ParseNumber("--trials", command.trials, 0));
  if (std::ranges::find(command.sharders, "all") == command.sharders.end()) {
    options.sharders = command.sharders;
  }
  const size_t size =
      problem.tables.size() * static_cast<size_t>(problem.ranks.count);
  if (size > kLargeSize && options.sharders.empty()) {
    options.most_simulated = kMostSimulated;
  }
  const bool small = size <= kSimulatedSize;
  constexpr int64_t kMostTrials = 1'000'000;
  options.trials = static_cast<int>(
      std::min(trials.value_or(small ? kTrials : 0), kMostTrials));
  return options;
}

// The page, with the step of the best plan.
Status WritePage(const PlanCommand& command, const report::PlanReport& report,
                 const plan::Plan& best, engine::Request request,
                 engine::Predictor& predictor) {
  if (request.gpus > 1) {
    request.deal =
        plan::DealOf(best, workload::SingleTables(request.model.tables),
                     {.count = request.gpus, .nodes = request.nodes});
  }
  ASSIGN_OR_RETURN(const engine::ModelPrediction predicted,
                   predictor.Predict(request, {}));
  return WriteExtraFiles(std::array{PageOf(
      report::PlanDoc(report,
                      report::ReportModel(request, predicted, predicted.result),
                      predicted.result),
      command.output)});
}

}  // namespace

Result<report::PlanReport> MakePlan(const PlanCommand& command) {
  const auto begin = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(
      const double seconds,
      ParseAmount("--time-limit", command.time_limit, "s", kDefaultSeconds));
  ASSIGN_OR_RETURN(const double hbm,
                   ParseAmount("--hbm", command.hbm, "GB", 0));
  plan::ProblemOptions how{.device_bytes = hbm * kGiga};
  for (const std::string& text : command.constraints) {
    ASSIGN_OR_RETURN(plan::Constraint constraint, plan::ParseConstraint(text));
    how.constraints.push_back(std::move(constraint));
  }
  engine::Predictor predictor(
      {command.scenario.profile.begin(), command.scenario.profile.end()});
  ASSIGN_OR_RETURN(engine::Request request, ReadPlanRequest(command));
  std::vector<std::string> notes;
  if (request.hybrid) {
    ASSIGN_OR_RETURN(engine::HybridRequest placed,
                     engine::PlaceHybrid(request, predictor));
    notes.push_back(std::move(placed.note));
    request = std::move(placed.request);
  }
  ASSIGN_OR_RETURN(const plan::Job job, MakeJob(predictor, request));
  ASSIGN_OR_RETURN(plan::Problem problem, plan::MakeProblem(job, how));
  ASSIGN_OR_RETURN(plan::FindOptions options, ReadOptions(command, problem));

  const InterruptGuard guard;
  Progress progress("plan");
  options.search.stop = [&] {
    const std::chrono::duration<double> spent =
        std::chrono::steady_clock::now() - begin;
    return InterruptGuard::Noted() || spent.count() > seconds;
  };
  options.tell = [&](std::string_view what) { progress.Set(what); };
  const plan::Simulate simulate = plan::MakeSimulator(
      predictor, request, problem.capacity_bytes + problem.other_bytes);
  plan::FoundPlans found;
  if (command.plan.empty() || !command.sharders.empty()) {
    ASSIGN_OR_RETURN(found, plan::FindPlans(problem, simulate, options));
  }
  if (!command.plan.empty()) {
    RETURN_IF_ERROR(AddGiven(command, job, simulate, problem, found));
    found.best = plan::BestOf(found.candidates);
  }
  if (!command.out.empty()) {
    const plan::Plan best =
        plan::PlanOf(problem, found.candidates[found.best].choices);
    RETURN_IF_ERROR(WriteOutput(
        command.out, plan::WritePlanJson(
                         best, plan::NamedTablesOf(request.model), job.ranks)));
  }
  report::PlanReport report = report::ReportPlans(
      problem, found,
      {.workload = request.model.name,
       .platform = request.platform,
       .gpu = request.gpu,
       .num_gpus = request.gpus,
       .nodes = request.nodes,
       .batch_per_gpu = request.settings.batch,
       .precision = std::string(workload::Name(request.settings.precision))});
  report.notes.insert(report.notes.end(), notes.begin(), notes.end());
  if (!command.output.html.empty()) {
    RETURN_IF_ERROR(
        WritePage(command, report,
                  plan::PlanOf(problem, found.candidates[found.best].choices),
                  request, predictor));
  }
  return report;
}

}  // namespace stepcast::cli

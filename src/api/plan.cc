// plan: who has which table, for the shortest step.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/ask.h"
#include "api/workload.h"
#include "base/files/file.h"
#include "base/text/value_text.h"
#include "base/units.h"
#include "engine/run/place_tables.h"
#include "hw/cluster.h"
#include "model/frameworks/implementations.h"
#include "model/tables/table_assignment.h"
#include "plan/load_assignment.h"
#include "plan/make_problem.h"
#include "plan/plan_json.h"
#include "scenario/resolve.h"
#include "scenario/settings.h"
#include "view/reports/model_report.h"
#include "view/reports/plan_report.h"

namespace stepcast::api {
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

std::vector<double> ValuesOf(const view::PlanReport& report) {
  const double step = report.best_row().step_us.value_or(0);
  const view::PlanRow* const torchrec = report.RowOf("torchrec");
  // Not known: as if it were the same.
  return {
      step, PercentOf(report.best_row().hbm_bytes, report.hbm_capacity_bytes),
      PercentOf(step,
                torchrec == nullptr ? step : torchrec->step_us.value_or(step))};
}

plan::Ranks RanksOf(const engine::Machine& machine) {
  return {.count = machine.ranks, .nodes = machine.nodes};
}

Result<engine::Request> ReadPlanRequest(const scenario::Scenario& scenario,
                                        scenario::Resolver& resolver) {
  scenario::Scenario asked = scenario;
  RETURN_IF_ERROR(scenario::CheckSubject(asked, scenario::Subject::kModel));
  asked.impl = std::ranges::find_if(model::Implementations(),
                                    &model::Implementation::plans)
                   ->name;
  if (asked.gpus.empty()) {
    const scenario::Setting* const nodes = scenario::FindSetting("nodes");
    ASSIGN_OR_RETURN(
        const scenario::Value count,
        scenario::ParseValue(*nodes, asked.nodes.empty() ? "1" : asked.nodes));
    asked.gpus = fmt::format("{}", kGpusOfNode * count.whole);
  }
  ASSIGN_OR_RETURN(scenario::Job job, resolver.Resolve(asked));
  if (job.request.settings.batch == 0) {
    job.request.settings.batch = job.request.model.batch;
  }
  RETURN_IF_ERROR(resolver.Load(job.request.machine));
  return std::move(job.request);
}

// What a job is planned with.
plan::Job PlanJobOf(const engine::Request& request) {
  const engine::Machine& machine = request.machine;
  return {.model = &request.model,
          .settings = request.settings,
          .kernels = machine.kernels,
          .collectives = machine.collectives,
          .overheads = request.overheads.value.get(),
          .ranks = RanksOf(machine),
          .device_bytes = machine.device->dram_gb * kGiga,
          .host = engine::HostPricingOf(machine)};
}

// The plan of a file, first among the candidates.
Status AddGiven(const std::string& file, const plan::Job& job,
                const plan::Simulate& simulate, plan::Problem& problem,
                plan::FoundPlans& found) {
  ASSIGN_OR_RETURN(const std::string text, ReadFile(file));
  ASSIGN_OR_RETURN(const plan::Plan given,
                   plan::ReadPlanJson(
                       text, file, plan::NamedTablesOf(*job.model), job.ranks));
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

Result<plan::FindOptions> ReadSearch(const scenario::Question& question,
                                     const Options& how,
                                     const plan::Problem& problem) {
  plan::FindOptions options;
  ASSIGN_OR_RETURN(const scenario::Job job,
                   scenario::ResolveTimes(question.scenario));
  options.search.seed = job.options.seed;
  ASSIGN_OR_RETURN(
      const auto evaluations,
      ParseNumber("--evaluations", question.One("evaluations"), 1));
  options.search.evaluations = evaluations.value_or(kDefaultEvaluations);
  options.threads = how.threads;
  ASSIGN_OR_RETURN(const auto trials,
                   ParseNumber("--trials", question.One("trials"), 0));
  const std::vector<std::string>& sharders = question.All("sharder");
  if (std::ranges::find(sharders, "all") == sharders.end()) {
    options.sharders = sharders;
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

struct PlannedStep {
  scenario::Resolver resolver;
  std::optional<engine::ModelPrediction> step;
};

// The report with the step of the best plan.
Result<view::Doc> WithStep(const view::PlanReport& report,
                           const plan::Plan& best, engine::Request request,
                           PlannedStep& kept) {
  if (request.machine.ranks > 1) {
    request.assignment =
        plan::AssignmentOf(best, model::SingleTables(request.model.tables),
                           RanksOf(request.machine));
  }
  ASSIGN_OR_RETURN(kept.step, engine::PredictModel(request, {}));
  return view::PlanDoc(
      report, view::ReportModel(request, *kept.step, kept.step->result),
      kept.step->result);
}

bool IsOfPlans(const scenario::Setting& setting) {
  // What a plan decides itself, or has no interval for, and servers.
  constexpr std::string_view kOthers[] = {"plan", "impl", "samples", "profiled",
                                          "server"};
  return setting.subjects.model &&
         setting.section != scenario::Section::kFleet &&
         !setting.name.starts_with("server-") &&
         std::ranges::find(kOthers, setting.name) == std::end(kOthers);
}

Result<Answer> AskPlan(const scenario::Question& question, const Options& how) {
  const auto begin = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const double seconds,
                   ParseAmount("--time-limit", question.One("time-limit"), "s",
                               kDefaultSeconds));
  ASSIGN_OR_RETURN(const double hbm,
                   ParseAmount("--hbm", question.One("hbm"), "GB", 0));
  plan::ProblemOptions limits{.device_bytes = hbm * kGiga};
  for (const std::string& text : question.All("constraints")) {
    ASSIGN_OR_RETURN(plan::Constraint constraint, plan::ParseConstraint(text));
    limits.constraints.push_back(std::move(constraint));
  }
  const auto kept = std::make_shared<PlannedStep>(
      PlannedStep{.resolver = ResolverOf(question.scenario), .step = {}});
  ASSIGN_OR_RETURN(engine::Request request,
                   ReadPlanRequest(question.scenario, kept->resolver));
  std::vector<std::string> notes;
  if (request.hybrid) {
    ASSIGN_OR_RETURN(engine::HybridRequest placed,
                     engine::PlaceHybrid(request));
    notes.push_back(std::move(placed.note));
    request = std::move(placed.request);
  }
  const plan::Job job = PlanJobOf(request);
  ASSIGN_OR_RETURN(plan::Problem problem, plan::MakeProblem(job, limits));
  ASSIGN_OR_RETURN(plan::FindOptions options,
                   ReadSearch(question, how, problem));

  options.search.stop = [&] {
    const std::chrono::duration<double> spent =
        std::chrono::steady_clock::now() - begin;
    return how.IsCancelled() || spent.count() > seconds;
  };
  options.on_progress = [&](std::string_view what) {
    how.ReportProgress(what);
  };
  const plan::Simulate simulate = plan::MakeSimulator(
      request, problem.capacity_bytes + problem.other_bytes);
  plan::FoundPlans found;
  const std::string file = question.One("plan");
  if (file.empty() || question.Has("sharder")) {
    ASSIGN_OR_RETURN(found, plan::FindPlans(problem, simulate, options));
  }
  if (!file.empty()) {
    RETURN_IF_ERROR(AddGiven(file, job, simulate, problem, found));
    found.best = plan::BestOf(found.candidates);
  }
  RETURN_IF_ERROR(kept->resolver.store().CheckProfiles());
  const plan::Plan best =
      plan::PlanOf(problem, found.candidates[found.best].choices);
  const std::string text =
      plan::WritePlanJson(best, plan::NamedTablesOf(request.model), job.ranks);
  view::PlanReport report = view::ReportPlans(
      problem, found,
      {.workload = request.model.name,
       .platform = request.machine.platform,
       .gpu = request.machine.gpu,
       .num_gpus = request.machine.ranks,
       .nodes = request.machine.nodes,
       .batch_per_gpu = request.settings.batch,
       .precision = std::string(model::Name(request.settings.precision))});
  report.notes.insert(report.notes.end(), notes.begin(), notes.end());
  Answer answer{.doc = {},
                .values = ValuesOf(report),
                .fits = report.best_row().fits,
                .owner = kept};
  answer.files.emplace("out", [text] { return std::string(text); });
  if (how.page) {
    ASSIGN_OR_RETURN(answer.doc,
                     WithStep(report, best, std::move(request), *kept));
  } else {
    answer.doc = view::PlanDoc(report);
  }
  return answer;
}

}  // namespace

Verb PlanVerb() {
  using Kind = Argument::Kind;
  return {
      .name = "plan",
      .about =
          "Searches for the sharding of a model's embedding tables with the "
          "least predicted step\ntime that fits every GPU's memory. Tables are "
          "named t_cat_0, t_cat_1, ... in the model's order.",
      .examples =
          "  stepcast plan dlrm_mlperf --gpu a100-sxm-80gb --gpus 8\n"
          "  stepcast plan my_model.toml --platform dgx-a100 --nodes 4 --out "
          "plan.json\n"
          "  stepcast plan dlrm_mlperf --plan torchrec_plan.json\n"
          "  stepcast plan dlrm_mlperf --constraints 't_cat_*=table_wise' "
          "--hbm 20\n",
      .page = "plans and the best one's step",
      .rows = "a row for each sharder",
      .takes = IsOfPlans,
      .arguments =
          {{.name = "hbm",
            .value = "GB",
            .help = "memory per GPU that plans may use; default: all"},
           {.name = "sharder",
            .value = "NAME",
            .help = "naive, chunk, random, size, lookup, size-lookup, "
                    "torchrec,\ngreedy, beam, local, or all (the default); may "
                    "be repeated",
            .kind = Kind::kRepeated},
           {.name = "constraints",
            .value = "TABLE=TYPES",
            .help = "sharding types that tables may have, as in\n"
                    "t_cat_*=table_wise,row_wise; may be repeated",
            .kind = Kind::kRepeated},
           {.name = "plan",
            .value = "FILE",
            .help = "evaluate this plan, TorchRec's ShardingPlan as JSON, next "
                    "to ours"},
           {.name = "time-limit",
            .value = "S",
            .help = "seconds to search; the best plan so far is shown then, or "
                    "on Ctrl-C;\ndefault 60"},
           {.name = "evaluations",
            .value = "N",
            .help = "plans that a search evaluates; default 500000"},
           {.name = "trials",
            .value = "N",
            .help = "changes of the best plan to simulate; default: depends on "
                    "the size of the job"}},
      .quantities =
          {{.name = "step", .unit = "us", .help = "predicted step time"},
           {.name = "memory",
            .unit = "%",
            .help =
                "memory of the fullest GPU, as a share of what plans may use"},
           {.name = "torchrec",
            .unit = "%",
            .help = "step time of the best plan, relative to TorchRec's"}},
      .files = {{.name = "out", .help = "write the best plan there, as JSON"}},
      .is_search = true,
      .ask = AskPlan};
}

}  // namespace stepcast::api

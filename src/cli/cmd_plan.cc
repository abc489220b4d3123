// stepcast plan: who has which table, for the shortest step.
#include <array>

#include "cli/commands.h"
#include "cli/fail_on.h"
#include "cli/options.h"
#include "cli/plan_command.h"
#include "cli/predict_command.h"
#include "cli/quantities.h"

namespace stepcast::cli {
namespace {

constexpr std::array kPlanQuantities = {
    kStepTime,
    Quantity{.name = "memory",
             .unit = "%",
             .help = "memory of the fullest GPU, of what plans may use"},
    Quantity{.name = "torchrec",
             .unit = "%",
             .help = "step time of the best plan, of that of TorchRec's"},
};

std::array<double, kPlanQuantities.size()> ValuesOf(
    const report::PlanReport& report) {
  const double step = report.best_row().step_us.value_or(0);
  const report::PlanRow* const torchrec = report.RowOf("torchrec");
  // Not known: as if it were the same.
  return {
      step, PercentOf(report.best_row().hbm_bytes, report.hbm_capacity_bytes),
      PercentOf(step,
                torchrec == nullptr ? step : torchrec->step_us.value_or(step))};
}

void AddOptions(OptionParser& parser, PlanCommand& command) {
  AddPlanSettings(parser, command.scenario);
  parser.Add("--hbm", command.hbm,
             "memory per GPU that plans may use; default: all", "GB");
  parser.AddRepeated(
      "--sharder", command.sharders,
      "naive, chunk, random, size, lookup, size-lookup, torchrec,\n"
      "greedy, beam, local, or all (the default); may be repeated",
      "NAME");
  parser.AddRepeated("--constraints", command.constraints,
                     "sharding types that tables may have, as in\n"
                     "t_cat_*=table_wise,row_wise; may be repeated",
                     "TABLE=TYPES");
  parser.Add("--plan", command.plan,
             "evaluate this plan, TorchRec's ShardingPlan as JSON, beside ours",
             "FILE");
  parser.Add("--out", command.out, "write the best plan there, as JSON",
             "FILE");
  parser.Add(
      "--time-limit", command.time_limit,
      "seconds to search; the best plan so far is told then, or on Ctrl-C;\n"
      "default 60",
      "S");
  parser.Add("--evaluations", command.evaluations,
             "plans that a search looks at; default 500000", "N");
  parser.Add(
      "--trials", command.trials,
      "changes of the best plan to simulate; default by the size of the job",
      "N");
  parser.Add("--threads", command.threads, "threads to use; 0: one per core",
             "N");
  AddFailOn(parser, kPlanQuantities, command.fail_on);
  AddReportOptions(parser, command.output, "plans and the best one's step",
                   "a row for each sharder");
}

}  // namespace

Result<Outcome> RunPlan(const Words& words) {
  OptionParser parser(
      "plan",
      "Searches for the sharding of a model's embedding tables with the least "
      "predicted step\ntime that fits every GPU's memory. Tables are named "
      "t_cat_0, t_cat_1, ... in the model's order.",
      "  stepcast plan dlrm_mlperf --gpu a100-sxm-80gb --gpus 8\n"
      "  stepcast plan my_model.toml --platform dgx-a100 --nodes 4 --out "
      "plan.json\n"
      "  stepcast plan dlrm_mlperf --plan torchrec_plan.json\n"
      "  stepcast plan dlrm_mlperf --constraints 't_cat_*=table_wise' --hbm "
      "20\n");
  PlanCommand command;
  AddOptions(parser, command);
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  if (!go_on) {
    return Outcome::kDone;
  }
  ASSIGN_OR_RETURN(const std::vector<Check> checks,
                   ParseChecks(command.fail_on, kPlanQuantities));
  RETURN_IF_ERROR(
      CheckReportOptions(command.output, command.scenario.workload));
  ASSIGN_OR_RETURN(const report::PlanReport report, MakePlan(command));
  RETURN_IF_ERROR(PrintReport(report::PlanDoc(report), command.output));
  return RunChecks(checks, kPlanQuantities, ValuesOf(report));
}

}  // namespace stepcast::cli

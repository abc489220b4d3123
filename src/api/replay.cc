// replay: measured steps simulated from their own durations.
#include "engine/run/replay.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/ask.h"
#include "api/workload.h"
#include "base/units.h"
#include "engine/explain/attribution.h"
#include "engine/explain/slow_steps.h"
#include "scenario/resolve.h"
#include "view/reports/rates_blocks.h"
#include "view/reports/replay_doc.h"
#include "view/timelines/timeline.h"

namespace stepcast::api {
namespace {

// The models of the GPU that the trace was recorded on. Where it is not known,
// those of another one still know FLOP and bytes.
Result<view::RatesOf> FindRates(const ir::Graph& graph,
                                scenario::Resolver& resolver) {
  const Result<std::string> recorded = RecordedGpu(graph);
  const std::string gpu =
      recorded ? *recorded : std::string(scenario::kDefaultGpu);
  ASSIGN_OR_RETURN(const Named<hw::Device> device, scenario::FindGpu(gpu));
  ASSIGN_OR_RETURN(const cost::KernelModels* models,
                   resolver.store().Kernels(device));
  return view::RatesOf{
      .with = {.models = models, .same_gpu = recorded.has_value()}, .gpu = gpu};
}

Result<Answer> AskReplay(const scenario::Question& question,
                         const Options& options) {
  const scenario::Scenario& scenario = question.scenario;
  ASSIGN_OR_RETURN(const auto step, ParseNumber("--step", scenario.step, 0));
  ASSIGN_OR_RETURN(const Input input,
                   LoadInput(scenario, options, /*allow_duplicates=*/false));
  options.ReportProgress("replaying steps");
  ASSIGN_OR_RETURN(
      engine::ReplayedJob replayed,
      engine::ReplayJob(input.loaded.ranks, input.rules,
                        {.step = step, .threads = options.threads}));
  const auto job =
      std::make_shared<const engine::ReplayedJob>(std::move(replayed));
  scenario::Resolver resolver = ResolverOf(scenario);
  ASSIGN_OR_RETURN(const view::RatesOf rates,
                   FindRates(*job->replay.result.graph, resolver));
  Answer answer{
      .doc = view::ReplayDoc(
          *job,
          engine::SummarizeSteps(input.loaded.ranks, input.rules, *job,
                                 options.threads),
          scenario.workload.front(), rates),
      .values = {job->max_abs_pct, job->max_abs_pct, job->errors.gmae_pct,
                 ToMicroseconds(job->max_unexplained)},
      .owner = job};
  answer.files.emplace("perfetto", [job] {
    return view::TimelineJson(job->replay.result, job->step.value_or(0));
  });
  answer.files.emplace("folded", [job] {
    const engine::StepResult& result = job->replay.result;
    return engine::FoldedStacks(
        result, ir::RankId{static_cast<uint32_t>(result.slowest())});
  });
  return answer;
}

}  // namespace

Verb ReplayVerb() {
  return {
      .name = "replay",
      .about =
          "Simulates measured steps from their own durations and compares. "
          "Says where the time\nof a step went, which rank the others waited "
          "for and why, and what decided its length.\nWithout --step all steps "
          "are replayed, and details are of the one of median length.",
      .examples =
          "  stepcast replay rank0.json.gz\n"
          "  stepcast replay traces/ --step 12      all ranks, one step\n"
          "  stepcast replay traces/ --perfetto timeline.json.gz\n"
          "  stepcast replay traces/ --json --fail-on 'error>1%'",
      .words = "FILE",
      .words_help = kTraceHelp,
      .page = "the step of median length with a timeline",
      .rows = "a row for each rank and step",
      .takes = IsOfTraces,
      .quantities = {{.name = "error",
                      .unit = "%",
                      .help = "largest error of a rank's step"},
                     {.name = "max_abs_pct", .unit = "%", .help = "the same"},
                     {.name = "gmae_pct",
                      .unit = "%",
                      .help = "geometric mean of the errors"},
                     {.name = "unexplained",
                      .unit = "us",
                      .help = "longest unexplained time of a rank's step"}},
      .files = {{.name = "perfetto",
                 .help = "write the timelines of that step, measured and "
                         "simulated,\nfor Perfetto; .gz is compressed"},
                {.name = "folded",
                 .help = "write that step's time on the slowest rank as folded "
                         "stacks,\nin microseconds, for flame graphs"}},
      .ask = AskReplay};
}

}  // namespace stepcast::api

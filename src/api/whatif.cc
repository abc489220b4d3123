// whatif: a step before and after changes.
#include "view/reports/whatif.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/ask.h"
#include "api/workload.h"
#include "base/units.h"
#include "view/reports/suggestions.h"
#include "view/timelines/timeline.h"
#include "whatif/apply.h"
#include "whatif/change.h"
#include "whatif/suggest.h"

namespace stepcast::api {
namespace {

std::vector<double> ValuesOf(const view::WhatifReport& report) {
  const auto& memory = report.after.memory;
  return {
      PercentOf(ToMicroseconds(report.delta.step),
                ToMicroseconds(report.before.step)),
      ToMicroseconds(report.after.step),
      memory ? PercentOf(memory->hbm_bytes, memory->hbm_capacity_bytes) : 0};
}

Result<std::vector<whatif::Change>> ParseChanges(
    const std::vector<std::string>& texts) {
  std::vector<whatif::Change> changes;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(whatif::Change change, whatif::ParseChange(text));
    changes.push_back(std::move(change));
  }
  if (changes.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "no change given; expected --change NAME=VALUE, as in "
                "`stepcast list changes`, or --suggest");
  }
  return changes;
}

struct Suggested {
  scenario::Resolver resolver;
  whatif::Case before;
};

Result<Answer> SuggestChanges(const scenario::Question& question,
                              const Options& options) {
  if (question.Has("change")) {
    return Fail(ErrorCode::kInvalidInput,
                "--suggest tries changes by itself; expected it without "
                "--change");
  }
  const auto kept = std::make_shared<Suggested>(
      Suggested{.resolver = ResolverOf(question.scenario), .before = {}});
  ASSIGN_OR_RETURN(kept->before,
                   LoadCase(question.scenario, kept->resolver, options));
  options.ReportProgress("trying changes");
  const whatif::Suggestions suggestions = whatif::Suggest(
      kept->before, kept->resolver, question.Has("hypothetical"));
  RETURN_IF_ERROR(kept->resolver.store().CheckProfiles());
  return Answer{.doc = view::SuggestionsDoc(
                    view::ReportSuggestions(kept->before, suggestions,
                                            NameOf(question.scenario)),
                    kept->before),
                .owner = kept};
}

struct BeforeAndAfter {
  scenario::Resolver resolver;
  whatif::Case before;
  whatif::Changed changed;
};

Result<Answer> AskWhatif(const scenario::Question& question,
                         const Options& options) {
  if (question.Has("suggest")) {
    return SuggestChanges(question, options);
  }
  if (question.Has("hypothetical")) {
    return Fail(ErrorCode::kInvalidInput,
                "--hypothetical is about what --suggest tries; expected it "
                "with --suggest");
  }
  ASSIGN_OR_RETURN(const std::vector<whatif::Change> changes,
                   ParseChanges(question.All("change")));
  const auto kept = std::make_shared<BeforeAndAfter>(BeforeAndAfter{
      .resolver = ResolverOf(question.scenario), .before = {}, .changed = {}});
  ASSIGN_OR_RETURN(kept->before,
                   LoadCase(question.scenario, kept->resolver, options));
  ASSIGN_OR_RETURN(kept->changed,
                   whatif::Apply(kept->before, changes, kept->resolver));
  RETURN_IF_ERROR(kept->resolver.store().CheckProfiles());
  const view::WhatifReport report = view::ReportWhatif(
      kept->before, kept->changed, changes, NameOf(question.scenario));
  Answer answer{
      .doc = view::WhatifDoc(report, kept->before, kept->changed.after),
      .values = ValuesOf(report),
      .fits = report.after.fits(),
      .owner = kept};
  answer.files.emplace("perfetto", [kept] {
    return view::TimelineJson(kept->before.result, kept->changed.after.result);
  });
  return answer;
}

}  // namespace

Verb WhatifVerb() {
  return {
      .name = "whatif",
      .about =
          "Predicts what changes do to a step: of a model, or of a recorded "
          "step, in which all\nthat a change leaves alone keeps its measured "
          "time.",
      .examples =
          "  stepcast whatif dlrm_mlperf --gpu v100-sxm-16gb --change "
          "precision=amp-fp16\n"
          "  stepcast whatif traces/ --change drop-op=aten::index_select\n"
          "  stepcast whatif traces/ --change scale-op=gemm=0.5 --change "
          "remove-sync\n"
          "  stepcast whatif trace.json.gz --change gpu=h100-sxm-80gb --json\n"
          "  stepcast whatif trace.json.gz --suggest",
      .page = "both steps with timelines, or suggestions",
      .rows = "a row for each part or suggestion",
      .takes = IsOfSteps,
      .arguments =
          {{.name = "change",
            .value = "NAME=VALUE",
            .help = "what to change, as in `stepcast list changes`; may "
                    "be\nrepeated: changes are applied on top of each other",
            .kind = Argument::Kind::kRepeated},
           {.name = "suggest",
            .value = "",
            .help = "try changes and say what to do for those that gain most",
            .kind = Argument::Kind::kFlag},
           {.name = "hypothetical",
            .value = "",
            .help = "with --suggest: also what nobody can do as such, a faster "
                    "host\nand faster kernels",
            .kind = Argument::Kind::kFlag}},
      .quantities = {{.name = "step",
                      .unit = "%",
                      .help = "change of the step time; negative is a gain"},
                     {.name = "after",
                      .unit = "us",
                      .help = "step time after the change"},
                     {.name = "memory",
                      .unit = "%",
                      .help = "device memory in use after the change, as a "
                              "share of its capacity"}},
      .files = {{.name = "perfetto",
                 .help = "write both timelines for Perfetto; .gz is "
                         "compressed"}},
      .ask = AskWhatif};
}

}  // namespace stepcast::api

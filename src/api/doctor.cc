// doctor: what traces hold, and what is wrong with them.
#include "view/reports/doctor.h"

#include "api/ask.h"
#include "api/workload.h"

namespace stepcast::api {
namespace {

Result<Answer> AskDoctor(const scenario::Question& question,
                         const Options& options) {
  ASSIGN_OR_RETURN(const Input input, LoadInput(question.scenario, options,
                                                /*allow_duplicates=*/true));
  options.ReportProgress("classifying device work");
  return Answer{.doc = view::DoctorDoc(view::Diagnose(input.loaded, input.rules,
                                                      options.threads))};
}

}  // namespace

Verb DoctorVerb() {
  return {
      .name = "doctor",
      .about =
          "Says what traces hold, what is missing or odd in them, and how "
          "to record them\nbetter. The ranks of one job are shown as a "
          "table; --rank N shows one in full.",
      .examples =
          "  stepcast doctor rank0.json.gz\n"
          "  stepcast doctor traces/            a directory with one file per "
          "rank\n"
          "  stepcast doctor traces/ --rank 3   one of them in full\n"
          "  stepcast doctor kineto.json et.json --json",
      .words = "FILE",
      .words_help = kTraceHelp,
      .page = "the report",
      .rows = "",
      .takes =
          [](const scenario::Setting& setting) {
            return IsOfTraces(setting) && setting.name != "step";
          },
      .ask = AskDoctor};
}

}  // namespace stepcast::api

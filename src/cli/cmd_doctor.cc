// stepcast doctor: what traces hold, and what is wrong with them.
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "report/doctor.h"
#include "report/doctor_json.h"
#include "report/doctor_text.h"

namespace stepcast::cli {

Status RunDoctor(const Words& words) {
  OptionParser parser(
      "doctor",
      "Says what traces hold, what is missing or odd in them, and how to "
      "record them\nbetter. The ranks of one job are shown as a table; --rank "
      "N "
      "shows one in full.",
      "  stepcast doctor rank0.json.gz\n"
      "  stepcast doctor traces/            a directory with one file a rank\n"
      "  stepcast doctor traces/ --rank 3   one of them in full\n"
      "  stepcast doctor kineto.json et.json --json");
  InputOptions options;
  bool json = false;
  AddInputOptions(parser, options);
  parser.AddFlag("--json", json, "print one JSON object instead");
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  if (!go_on) {
    return {};
  }
  ASSIGN_OR_RETURN(const Input input,
                   LoadInput(options, /*allow_duplicates=*/true));
  const report::DoctorReport found = [&] {
    const Progress progress("classifying device work");
    return report::Diagnose(input.loaded, input.rules, input.threads);
  }();
  return Print(json ? report::DoctorJson(found, Version())
                    : report::DoctorText(found));
}

}  // namespace stepcast::cli

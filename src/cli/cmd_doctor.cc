// stepcast doctor: what traces hold, and what is wrong with them.
#include <utility>

#include "cli/commands.h"
#include "cli/options.h"
#include "cli/progress.h"
#include "cli/report_options.h"
#include "report/doctor.h"
#include "report/doctor_doc.h"

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
  ReportOptions output;
  AddInputOptions(parser, options);
  AddReportOptions(parser, output, "the report", "");
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  if (!go_on) {
    return {};
  }
  RETURN_IF_ERROR(CheckReportOptions(output, options.files));
  ASSIGN_OR_RETURN(const Input input,
                   LoadInput(options, /*allow_duplicates=*/true));
  view::Doc doc = [&] {
    const Progress progress("classifying device work");
    return report::DoctorDoc(
        report::Diagnose(input.loaded, input.rules, input.threads));
  }();
  return WriteReport(std::move(doc), output);
}

}  // namespace stepcast::cli

// stepcast fit collectives: from measured collectives to constants and curves.
#include "fit/fit_collectives.h"

#include <fmt/format.h>

#include "api/ask.h"
#include "cli/data_options.h"
#include "cli/fit_commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/report_options.h"
#include "cost/collectives/collective_store.h"
#include "hw/cluster.h"
#include "measurements/collective_rows.h"
#include "report/accuracy_doc.h"
#include "report/collective_accuracy.h"

namespace stepcast::cli {
Status FitCollectives(const Words& words) {
  OptionParser parser(
      "fit collectives",
      "Fits models to measured collectives and writes a directory, which "
      "--profile DIR\nof other commands prefers to the built-in ones. A tenth "
      "of the sizes is held\nback to judge the fit.",
      "  stepcast fit collectives --data measured/ -o my_collectives");
  DataOptions given;
  std::vector<std::string> platform_texts;
  std::string output;
  AddDataOptions(parser, given, "CSV files, or directories with them");
  parser.Add("--platform", platform_texts,
             "platform files whose 'collectives' name the systems "
             "of the data; built-in ones are known");
  parser.Add("-o,--output", output, "the directory to write");
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  if (!go_on) {
    return {};
  }
  ASSIGN_OR_RETURN(const Data data, ReadDataOptions(given, kCsvFiles));
  if (output.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "no -o given; expected a directory to write");
  }
  ASSIGN_OR_RETURN(const auto platforms, hw::FindPlatforms(platform_texts));
  ASSIGN_OR_RETURN(const measurements::CollectiveRows rows,
                   measurements::ReadCollectiveRows(data.paths));
  if (rows.rows.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "no collectives in the data; expected CSV files with the "
                "columns gpu, system, collective, dtype, num_gpus, num_nodes, "
                "bytes and time_us");
  }
  const Progress progress("fitting collectives");
  ASSIGN_OR_RETURN(const fit::CollectiveFit fitted,
                   fit::FitCollectives(rows, platforms, data.threads));
  RETURN_IF_ERROR(WriteProfile(
      fit::FilesOf(fitted,
                   fmt::format("Written by stepcast {} fit collectives.",
                               api::Version())),
      output));
  ASSIGN_OR_RETURN(
      const report::CollectiveAccuracy accuracy,
      report::EvaluateCollectives(rows, cost::CollectiveStore({output}),
                                  platforms, measurements::Part::kTest));
  view::Doc doc = report::CollectiveAccuracyDoc(accuracy);
  doc.title += ", held-out sizes";
  return PrintReport(std::move(doc), {});
}

}  // namespace stepcast::cli

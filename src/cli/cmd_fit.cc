// stepcast fit: from measurements to a profile.
#include <array>
#include <filesystem>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/ask.h"
#include "api/workload.h"
#include "base/files/file.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/fit_commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/report_options.h"
#include "cost/collectives/collective_store.h"
#include "cost/model_store.h"
#include "hw/cluster.h"
#include "learn/fit/fit_collectives.h"
#include "learn/fit/overheads/overhead_samples.h"
#include "learn/judge/collective_accuracy.h"
#include "learn/measured/collective_rows.h"
#include "learn/measured/csv.h"
#include "scenario/find_machine.h"
#include "trace/build/build_graph.h"
#include "trace/read/load.h"
#include "view/doc.h"
#include "view/reports/accuracy_doc.h"

namespace stepcast::cli {

// stepcast fit profile: from what a machine measured of itself to a profile.

namespace {

namespace fs = std::filesystem;
constexpr std::string_view kStepsFile = "steps/steps.csv";

struct TimedStep {
  fs::path trace;
  double measured_us = 0;
};

Result<std::vector<TimedStep>> ReadSteps(const fs::path& path) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(const learn::CsvTable table,
                   learn::CsvTable::Parse(std::move(text), path.string()));
  constexpr std::array<std::string_view, 2> kColumns = {"trace",
                                                        "step_time_us"};
  ASSIGN_OR_RETURN(const std::vector<size_t> places,
                   table.FindColumns(kColumns));
  std::vector<TimedStep> steps;
  for (size_t i = 0; i < table.row_count(); ++i) {
    const auto cells = table.row(i);
    const auto time = learn::CellNumber(cells[places[1]]);
    if (!time || !(*time > 0)) {
      return Fail(
          ErrorCode::kInvalidInput,
          fmt::format("{}:{}: step_time_us is '{}'; expected a number above 0",
                      path.string(), table.line(i), cells[places[1]]));
    }
    steps.push_back(
        {.trace = path.parent_path() / cells[places[0]], .measured_us = *time});
  }
  return steps;
}

Result<std::vector<learn::HostStep>> PriceSteps(
    std::span<const TimedStep> steps, const cost::KernelModels& models) {
  ASSIGN_OR_RETURN(const trace::Rules rules, trace::Rules::Load());
  std::vector<learn::HostStep> priced;
  for (const TimedStep& step : steps) {
    const std::array<fs::path, 1> paths = {step.trace};
    ASSIGN_OR_RETURN(const trace::Loaded loaded, trace::Load(paths, rules));
    Diagnostics diagnostics;
    ASSIGN_OR_RETURN(const ir::Graph graph,
                     trace::BuildGraph(loaded.ranks, rules, {}, diagnostics));
    learn::HostStep one = learn::PriceStep(graph, models);
    one.name = step.trace.parent_path().filename().string();
    one.measured_us = step.measured_us;
    priced.push_back(std::move(one));
  }
  return priced;
}

view::Doc HostDoc(std::span<const learn::HostStep> steps, double gap_us) {
  view::Table table{.title = "steps",
                    .columns = {{.label = "step"},
                                {.label = "measured", .unit = "us"},
                                {.label = "operators", .unit = "us"},
                                {.label = "ops"},
                                {.label = "error", .sign = true}}};
  for (const learn::HostStep& step : steps) {
    const double us =
        step.activities_us + gap_us * static_cast<double>(step.ops);
    table.rows.push_back({step.name, FromMicroseconds(step.measured_us),
                          FromMicroseconds(step.activities_us),
                          static_cast<int64_t>(step.ops),
                          view::Share{us / step.measured_us - 1}});
  }
  view::Doc doc;
  doc.title = "host time fitted to recorded steps";
  doc.verdict = fmt::format("{:.2f} us before an op", gap_us);
  doc.blocks.emplace_back(std::move(table));
  return doc;
}

// What the host takes between operators, if steps were recorded.
Status FitHost(const fs::path& file, std::span<const TimedStep> steps,
               const fs::path& output) {
  const auto device = api::FindIn({&output, 1}, api::kDeviceFile);
  if (!device) {
    return {};
  }
  cost::ModelStore store({output});
  ASSIGN_OR_RETURN(const Named<hw::Device> gpu,
                   scenario::FindGpu(device->string()));
  ASSIGN_OR_RETURN(const cost::KernelModels* models, store.Kernels(gpu));
  ASSIGN_OR_RETURN(const std::vector<learn::HostStep> priced,
                   PriceSteps(steps, *models));
  const double gap_us = learn::FitGap(priced);
  const cost::OverheadData table = learn::GapTable(
      priced, gap_us,
      {fmt::format("Host overheads, by stepcast {} fit profile.",
                   api::Version()),
       fmt::format("data: {} step{} of {}", priced.size(),
                   priced.size() == 1 ? "" : "s", file.string())});
  RETURN_IF_ERROR(
      WriteOutput(output / api::kOverheadsFile, cost::OverheadText(table)));
  RETURN_IF_ERROR(Print("\n"));
  return PrintReport(HostDoc(priced, gap_us), {});
}

}  // namespace

Status FitProfile(const Words& words) {
  OptionParser parser(
      "fit profile",
      "Makes a profile from what collect/torch/bench.py measured: models of "
      "the operators\nand, from recorded steps, the host's time between them. "
      "--profile DIR of other\ncommands uses it.",
      "  collect/torch/bench.py --device cpu --minutes 10 --out measured\n"
      "  stepcast fit profile --data measured -o my_profile\n"
      "  stepcast predict recorded/et.json --profile my_profile");
  DataOptions given;
  std::string output;
  AddDataOptions(parser, given, "what bench.py wrote");
  parser.Add("-o,--output", output, "the directory of the profile");
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  if (!go_on) {
    return {};
  }
  ASSIGN_OR_RETURN(const Data data, ReadDataOptions(given, kCsvFiles));
  const auto file = api::FindIn(data.paths, kStepsFile);
  // Before anything is fitted and written.
  std::vector<TimedStep> steps;
  if (file) {
    ASSIGN_OR_RETURN(steps, ReadSteps(*file));
  }
  RETURN_IF_ERROR(FitKernels(words));
  return file ? FitHost(*file, steps, output) : Status();
}

// stepcast fit collectives: from measured collectives to constants and curves.

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
  ASSIGN_OR_RETURN(const learn::CollectiveRows rows,
                   learn::ReadCollectiveRows(data.paths));
  if (rows.rows.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "no collectives in the data; expected CSV files with the "
                "columns gpu, system, collective, dtype, num_gpus, num_nodes, "
                "bytes and time_us");
  }
  const Progress progress("fitting collectives");
  ASSIGN_OR_RETURN(const learn::CollectiveFit fitted,
                   learn::FitCollectives(rows, platforms, data.threads));
  RETURN_IF_ERROR(WriteProfile(
      learn::FilesOf(fitted,
                     fmt::format("Written by stepcast {} fit collectives.",
                                 api::Version())),
      output));
  ASSIGN_OR_RETURN(
      const learn::CollectiveAccuracy accuracy,
      learn::EvaluateCollectives(rows, cost::CollectiveStore({output}),
                                 platforms, learn::Part::kTest));
  view::Doc doc = view::CollectiveAccuracyDoc(accuracy);
  doc.title += ", held-out sizes";
  return PrintReport(std::move(doc), {});
}

Status RunFit(const Words& words) {
  constexpr std::array kKinds = {
      Kind{"kernels", "kernel models of a GPU, from measured times",
           FitKernels},
      Kind{"profile", "a whole machine, from its own measurements", FitProfile},
      Kind{"overheads", "the host's time for ops and calls, from traces",
           FitOverheads},
      Kind{"collectives", "collectives of a platform, from measured times",
           FitCollectives},
  };
  return RunKind("fit", "Turns measurements into files for predictions.",
                 kKinds, words);
}

Status WriteProfile(const std::vector<learn::ProfileFile>& files,
                    const std::filesystem::path& directory) {
  for (const learn::ProfileFile& file : files) {
    const std::filesystem::path path = directory / file.path;
    std::error_code error;
    std::filesystem::create_directories(path.parent_path(), error);
    if (error) {
      return Fail(ErrorCode::kIo,
                  fmt::format("cannot make {}: {}", path.parent_path().string(),
                              error.message()));
    }
    RETURN_IF_ERROR(WriteOutput(path, file.text));
  }
  return {};
}

}  // namespace stepcast::cli

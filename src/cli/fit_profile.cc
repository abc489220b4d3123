// stepcast fit profile: from what a machine measured of itself to a profile.
#include <array>
#include <filesystem>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/ask.h"
#include "api/profile_device.h"
#include "base/file.h"
#include "base/units.h"
#include "cli/data_options.h"
#include "cli/fit_commands.h"
#include "cli/output.h"
#include "cli/report_options.h"
#include "cost/model_store.h"
#include "fit/host_steps.h"
#include "ingest/build_graph.h"
#include "ingest/load.h"
#include "measurements/csv.h"
#include "scenario/find_machine.h"
#include "view/doc.h"

namespace stepcast::cli {
namespace {

namespace fs = std::filesystem;
constexpr std::string_view kStepsFile = "steps/steps.csv";

struct TimedStep {
  fs::path trace;
  double measured_us = 0;
};

Result<std::vector<TimedStep>> ReadSteps(const fs::path& path) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  ASSIGN_OR_RETURN(
      const measurements::CsvTable table,
      measurements::CsvTable::Parse(std::move(text), path.string()));
  constexpr std::array<std::string_view, 2> kColumns = {"trace",
                                                        "step_time_us"};
  ASSIGN_OR_RETURN(const std::vector<size_t> places,
                   table.FindColumns(kColumns));
  std::vector<TimedStep> steps;
  for (size_t i = 0; i < table.row_count(); ++i) {
    const auto cells = table.row(i);
    const auto time = measurements::CellNumber(cells[places[1]]);
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

Result<std::vector<fit::HostStep>> PriceSteps(
    std::span<const TimedStep> steps, const cost::KernelModels& models) {
  ASSIGN_OR_RETURN(const ingest::Rules rules, ingest::Rules::Load());
  std::vector<fit::HostStep> priced;
  for (const TimedStep& step : steps) {
    const std::array<fs::path, 1> paths = {step.trace};
    ASSIGN_OR_RETURN(const ingest::Loaded loaded, ingest::Load(paths, rules));
    Diagnostics diagnostics;
    ASSIGN_OR_RETURN(const ir::Graph graph,
                     ingest::BuildGraph(loaded.ranks, rules, {}, diagnostics));
    fit::HostStep one = fit::PriceStep(graph, models);
    one.name = step.trace.parent_path().filename().string();
    one.measured_us = step.measured_us;
    priced.push_back(std::move(one));
  }
  return priced;
}

view::Doc HostDoc(std::span<const fit::HostStep> steps, double gap_us) {
  view::Table table{.title = "steps",
                    .columns = {{.label = "step"},
                                {.label = "measured", .unit = "us"},
                                {.label = "operators", .unit = "us"},
                                {.label = "ops"},
                                {.label = "error", .sign = true}}};
  for (const fit::HostStep& step : steps) {
    const double us = step.works_us + gap_us * static_cast<double>(step.ops);
    table.rows.push_back({step.name, FromMicroseconds(step.measured_us),
                          FromMicroseconds(step.works_us),
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
  ASSIGN_OR_RETURN(const std::vector<fit::HostStep> priced,
                   PriceSteps(steps, *models));
  const double gap_us = fit::FitGap(priced);
  const cost::OverheadData table = fit::GapTable(
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

}  // namespace stepcast::cli

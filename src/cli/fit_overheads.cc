// stepcast fit overheads: from traces to a table of overheads.
#include "learn/fit/overheads/fit_overheads.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "api/ask.h"
#include "base/files/file.h"
#include "base/text/join.h"
#include "base/text/nearest.h"
#include "base/text/text_table.h"
#include "cli/fit_commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/report_options.h"
#include "cost/overheads/overhead_table.h"
#include "learn/fit/overheads/authors_overheads.h"
#include "learn/fit/overheads/held_out_overheads.h"
#include "learn/measured/csv.h"
#include "trace/read/load.h"
#include "view/doc.h"

namespace stepcast::cli {
namespace {

struct Request {
  DataOptions given;
  std::vector<std::string> notes;
  std::string output;
  std::string name;
  std::string outliers = "keep";
  std::string profiler_us;
  size_t threads = 0;
  bool all_steps = false;
};

// One line per part: its names, samples and the row of all together.
view::Doc FittedOverheadsDoc(const cost::OverheadData& data) {
  view::Table table{.title = "parts, all names together",
                    .columns = {{.label = "part"},
                                {.label = "names"},
                                {.label = "samples"},
                                {.label = "mean", .unit = "us", .decimals = 2},
                                {.label = "p10", .unit = "us", .decimals = 2},
                                {.label = "p50", .unit = "us", .decimals = 2},
                                {.label = "p90", .unit = "us", .decimals = 2},
                                {.label = "events", .decimals = 2}}};
  const cost::OverheadTable lookup(data);
  for (size_t i = 0; i < cost::kOverheadPartCount; ++i) {
    const auto part = static_cast<cost::OverheadPart>(i);
    if (data.parts[i].empty()) {
      continue;
    }
    const cost::OverheadRow row = lookup.Lookup(part, cost::kPooledName).row;
    const size_t names =
        data.parts[i].size() - data.parts[i].count(cost::kPooledName);
    table.rows.push_back({std::string(cost::Name(part)),
                          static_cast<int64_t>(names), int64_t{row.count},
                          row.mean_us, row.p10_us, row.p50_us, row.p90_us,
                          row.events});
  }
  view::Doc doc;
  doc.title = "host overheads fitted to traces";
  doc.blocks.emplace_back(std::move(table));
  return doc;
}

// Adds the steps of one run and says in a line what it was.
Result<std::string> AddRun(const std::string& path, uint32_t workload,
                           const Request& request,
                           learn::OverheadSamples& samples) {
  ASSIGN_OR_RETURN(const trace::Rules rules, trace::Rules::Load());
  const std::filesystem::path file(path);
  ASSIGN_OR_RETURN(
      const trace::Loaded loaded,
      trace::Load({&file, 1}, rules, {.threads = request.threads}));
  Diagnostics diagnostics;
  ASSIGN_OR_RETURN(const std::vector<learn::StepGraph> steps,
                   learn::BuildStepGraphs(loaded.ranks, rules, diagnostics));
  const std::vector<bool> steady = learn::SteadySteps(steps);
  size_t used = 0;
  size_t ranks = 0;
  std::set<std::string> gpus;
  for (size_t i = 0; i < steps.size(); ++i) {
    const ir::GraphData& data = steps[i].graph.data();
    if (!steady[i] && !request.all_steps) {
      continue;
    }
    learn::AddSamples(data, workload, samples);
    ++used;
    ranks = data.ranks.size();
    for (const ir::Rank& rank : data.ranks) {
      gpus.emplace(Printable(data.strings.view(rank.gpu)));
    }
  }
  return fmt::format("data: {}: {}, {} rank{}, {} of {} steps", Printable(path),
                     Join(gpus, " and "), ranks, ranks == 1 ? "" : "s", used,
                     steps.size());
}

Result<cost::OverheadData> FitTraces(const Request& request) {
  learn::OverheadSamples samples;
  learn::FitOverheadsOptions options{.name = request.name};
  constexpr std::array<std::string_view, 2> kOutliers = {"keep", "tukey"};
  if (std::ranges::find(kOutliers, request.outliers) == kOutliers.end()) {
    return Fail(ErrorCode::kInvalidInput,
                Unknown("--outliers", request.outliers, kOutliers));
  }
  options.outliers = request.outliers == "tukey" ? learn::Outliers::kTukey
                                                 : learn::Outliers::kKeep;
  for (uint32_t i = 0; i < request.given.data.size(); ++i) {
    ASSIGN_OR_RETURN(std::string line,
                     AddRun(request.given.data[i], i, request, samples));
    options.provenance.push_back(std::move(line));
  }
  options.profiler_us_per_event = learn::EstimateProfilerCost(samples);
  if (!request.profiler_us.empty()) {
    const auto given = learn::CellNumber(request.profiler_us);
    if (!given || *given < 0) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("--profiler-us is '{}'; expected microseconds",
                              Printable(request.profiler_us)));
    }
    options.profiler_us_per_event = *given;
  }
  return learn::FitOverheads(samples, options);
}

Result<cost::OverheadData> ReadTables(const Request& request) {
  std::vector<learn::CsvTable> tables;
  std::vector<std::string> provenance;
  for (const std::string& path : request.given.data) {
    ASSIGN_OR_RETURN(std::string text, ReadFile(path));
    ASSIGN_OR_RETURN(learn::CsvTable table,
                     learn::CsvTable::Parse(std::move(text), path));
    tables.push_back(std::move(table));
    provenance.push_back(fmt::format("data: {}", Printable(path)));
  }
  ASSIGN_OR_RETURN(cost::OverheadData data,
                   learn::ReadAuthorsOverheads(tables, {.name = request.name}));
  data.provenance = std::move(provenance);
  return data;
}

bool IsTable(const std::string& path) {
  return path.ends_with(".csv");
}

Result<cost::OverheadData> Fit(const Request& request) {
  const auto tables = std::ranges::count_if(request.given.data, IsTable);
  if (tables > 0 && static_cast<size_t>(tables) < request.given.data.size()) {
    return Fail(ErrorCode::kInvalidInput,
                "--data has traces and tables; expected one kind of them");
  }
  ASSIGN_OR_RETURN(cost::OverheadData data,
                   tables > 0 ? ReadTables(request) : FitTraces(request));
  std::vector<std::string> lines = {fmt::format(
      "Host overheads, by stepcast {} fit overheads.", api::Version())};
  for (const std::string& note : request.notes) {
    lines.push_back(Printable(note));
  }
  lines.insert(lines.end(), data.provenance.begin(), data.provenance.end());
  data.provenance = std::move(lines);
  return data;
}

void AddOptions(OptionParser& parser, Request& request) {
  AddDataOptions(parser, request.given,
                 "profiler traces, each a file or a directory of ranks of one "
                 "run; or CSV tables of the papers");
  parser.Add("-o,--output", request.output, "the file to write");
  parser.Add("--name", request.name,
             "what to call the set; default: the file's name");
  parser.Add("--note", request.notes,
             "a line for the head of the file, such as the host or the "
             "framework; may be repeated");
  parser.Add("--outliers", request.outliers,
             "keep all samples (the default), or leave out those beyond "
             "Tukey's fences, as the papers do");
  parser.Add("--profiler-us", request.profiler_us,
             "the profiler's time per event, in microseconds; default: an "
             "estimate from the quickest ops");
  parser.AddFlag("--all-steps", request.all_steps,
                 "also use steps longer than 1.5 times the median");
}

}  // namespace

Status FitOverheads(const Words& words) {
  OptionParser parser(
      "fit overheads",
      "Fits the host's time for ops and calls (T1-T5) to recorded traces and "
      "writes a\ntable, which --overheads FILE of other commands uses.",
      "  stepcast fit overheads --data run1/ run2.json.gz -o my_host.toml\n"
      "  stepcast eval overheads --data run1/");
  Request request;
  AddOptions(parser, request);
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  if (!go_on) {
    return {};
  }
  ASSIGN_OR_RETURN(const Data checked,
                   ReadDataOptions(request.given, "traces of a profiler"));
  request.threads = checked.threads;
  if (request.output.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "no -o given; expected a file to write");
  }
  if (request.name.empty()) {
    request.name = std::filesystem::path(request.output).stem().string();
  }
  cost::OverheadData data;
  {
    const Progress progress("fitting overheads");
    ASSIGN_OR_RETURN(data, Fit(request));
  }
  RETURN_IF_ERROR(WriteOutput(request.output, cost::OverheadText(data)));
  return request.output == "-" ? Status()
                               : PrintReport(FittedOverheadsDoc(data), {});
}

}  // namespace stepcast::cli

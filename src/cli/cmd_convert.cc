// stepcast convert: one step of a trace in another format.
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "api/workload.h"
#include "base/units.h"
#include "cli/ask_command.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/report_options.h"
#include "scenario/scenario.h"
#include "trace/build/build_graph.h"
#include "trace/link/find_steps.h"
#include "view/doc.h"
#include "view/reports/doctor.h"
#include "view/reports/text_parts.h"

namespace stepcast::cli {
namespace {

struct ConvertOptions {
  scenario::Scenario scenario;
  std::string threads;
  std::string output;
  std::string to;
  bool json = false;
};

// A file to be written.
struct OutputFile {
  std::filesystem::path path;
  std::string bytes;
};

// step.et of rank 3 is step.3.et; step.et.gz is step.3.et.gz.
std::filesystem::path PathOfRank(const std::filesystem::path& path,
                                 int64_t rank) {
  std::string tail;
  std::filesystem::path head = path;
  if (IsGzipPath(head)) {
    tail = ".gz";
    head.replace_extension();
  }
  tail = head.extension().string() + tail;
  head.replace_extension();
  return fmt::format("{}.{}{}", head.string(), rank, tail);
}

Result<OutputFile> Render(const OutputFormat& format, const OutputStep& step,
                          const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(std::string bytes, format.write(step));
  if (IsGzipPath(path)) {
    ASSIGN_OR_RETURN(bytes, Gzip(bytes));
  }
  return OutputFile{.path = path, .bytes = std::move(bytes)};
}

Result<std::vector<OutputFile>> RenderAll(const OutputFormat& format,
                                          const ir::Graph& graph,
                                          int64_t number,
                                          const std::filesystem::path& path) {
  const auto& ranks = graph.data().ranks;
  std::vector<OutputFile> files;
  if (!format.one_rank || ranks.size() == 1) {
    const OutputStep step{
        .graph = graph, .rank = ir::RankId{0}, .number = number};
    ASSIGN_OR_RETURN(OutputFile file, Render(format, step, path));
    files.push_back(std::move(file));
    return files;
  }
  if (path == "-") {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("a {} file holds one rank and there are {}; "
                            "expected --rank N or -o FILE",
                            format.name, ranks.size()));
  }
  for (const ir::RankId rank : ranks.ids()) {
    const OutputStep step{.graph = graph, .rank = rank, .number = number};
    ASSIGN_OR_RETURN(
        OutputFile file,
        Render(format, step, PathOfRank(path, ranks[rank].number)));
    files.push_back(std::move(file));
  }
  return files;
}

// All of them or, if one fails, none.
Status WriteAll(const std::vector<OutputFile>& files) {
  for (size_t i = 0; i < files.size(); ++i) {
    Status status = WriteOutput(files[i].path, files[i].bytes);
    if (!status) {
      for (size_t done = 0; done < i; ++done) {
        std::error_code error;
        std::filesystem::remove(files[done].path, error);
      }
      return status;
    }
  }
  return {};
}

view::Doc ConvertedDoc(const std::vector<OutputFile>& files,
                       const ir::Graph& graph, std::optional<int64_t> step) {
  const ir::GraphData& data = graph.data();
  view::Table table{.key = "files",
                    .title = "files",
                    .columns = {{.key = "path", .label = "file"},
                                {.key = "bytes"},
                                {.label = "size"}},
                    .readers = files.size() == 1 ? view::Readers::kPrograms
                                                 : view::Readers::kAll};
  for (const OutputFile& file : files) {
    const auto size = static_cast<int64_t>(file.bytes.size());
    table.rows.push_back(
        {file.path.string(), size, view::BytesText(Bytes{size})});
  }
  view::Doc doc;
  doc.title = files.size() == 1
                  ? fmt::format("wrote {} ({})", files.front().path.string(),
                                std::get<std::string>(table.rows[0][2]))
                  : fmt::format("wrote {} files", files.size());
  doc.verdict = fmt::format("{}: {}, {}, {}, {}",
                            step ? fmt::format("step {}", *step) : "one step",
                            view::CountText(data.ranks.size(), "rank"),
                            view::CountText(data.ops.size(), "op"),
                            view::CountText(data.calls.size(), "call"),
                            view::CountText(data.activities.size(),
                                            "GPU activity", "GPU activities"));
  doc.blocks.emplace_back(std::move(table));
  doc.blocks.emplace_back(view::Facts{
      {{.key = "step"}, step ? view::Value(*step) : view::Value(nullptr)},
      {{.key = "ranks"}, int64_t{data.ranks.size()}},
      {{.key = "ops"}, int64_t{data.ops.size()}},
      {{.key = "calls"}, int64_t{data.calls.size()}},
      {{.key = "works"}, int64_t{data.activities.size()}},
      {{.key = "collectives"}, int64_t{data.collectives.size()}}});
  return doc;
}

// What makes the result doubtful, one line per kind.
void Warn(const trace::Loaded& loaded, const Diagnostics& building) {
  Diagnostics all = loaded.diagnostics;
  for (const trace::RankTrace& rank : loaded.ranks) {
    all.Merge(view::RankDiagnostics(rank));
  }
  all.Merge(building);
  for (const Diagnostic& item : all.list()) {
    if (item.kind.severity == Severity::kWarning) {
      Complain(fmt::format("warning: {} ({}): {}", item.kind.name, item.count,
                           item.kind.what));
    }
  }
}

Status Convert(const ConvertOptions& options) {
  if (options.output.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "no output given; expected -o FILE, or -o - for standard "
                "output");
  }
  if (options.json && options.output == "-") {
    return Fail(ErrorCode::kInvalidInput,
                "--json and -o - both want standard output; expected one of "
                "them");
  }
  ASSIGN_OR_RETURN(const OutputFormat* format,
                   FindOutputFormat(options.to, options.output));
  ASSIGN_OR_RETURN(const auto wanted,
                   api::ParseNumber("--step", options.scenario.step, 0));
  ASSIGN_OR_RETURN(const auto threads,
                   api::ParseNumber("--threads", options.threads, 0));
  Progress progress("convert");
  ASSIGN_OR_RETURN(
      const api::Input input,
      api::LoadInput(
          options.scenario,
          {.threads = static_cast<size_t>(threads.value_or(0)),
           .on_progress = [&](std::string_view what) { progress.Set(what); }},
          /*allow_duplicates=*/false));
  ASSIGN_OR_RETURN(const auto step,
                   trace::StepNumber(input.loaded.ranks, wanted));
  Diagnostics diagnostics;
  ASSIGN_OR_RETURN(const ir::Graph graph,
                   trace::BuildGraph(input.loaded.ranks, input.rules,
                                     {.step = wanted}, diagnostics));
  ASSIGN_OR_RETURN(const auto files,
                   RenderAll(*format, graph, step.value_or(0), options.output));
  for (const OutputFile& file : files) {
    RETURN_IF_ERROR(CheckNotInput(file.path, options.scenario.workload));
  }
  RETURN_IF_ERROR(WriteAll(files));
  Warn(input.loaded, diagnostics);
  if (options.output == "-") {
    return {};
  }
  return PrintReport(ConvertedDoc(files, graph, step), {.json = options.json});
}

}  // namespace

Status RunConvert(const Words& words) {
  OptionParser parser(
      "convert",
      "Writes one step of a trace in another format. Formats with one file per "
      "rank put the\nrank into the name: step.et becomes step.0.et, step.1.et, "
      "...",
      "  stepcast convert rank0.json.gz -o step.graph\n"
      "  stepcast convert traces/ -o timeline.json.gz   all ranks on one "
      "clock\n"
      "  stepcast convert traces/ --step 12 -o step.et\n"
      "  stepcast convert et.json --to graph -o -");
  ConvertOptions options;
  AddSettings(parser, options.scenario, api::IsOfTraces, "FILE",
              api::kTraceHelp);
  parser.Add("--threads", options.threads,
             "threads to use; 0, the default: one per core", "N");
  parser.Add("-o,--output", options.output,
             "file to write; - is standard output; .gz is compressed", "FILE");
  parser.Add("--to", options.to,
             "graph, chakra or perfetto; default: by the extension\n"
             "(.graph .txt, .et, .json)",
             "FORMAT");
  parser.AddFlag("--json", options.json,
                 "print what was written as one JSON object");
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  return go_on ? Convert(options) : Status{};
}

}  // namespace stepcast::cli

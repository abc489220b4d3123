#include "cli/report_options.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "api/ask.h"
#include "api/workload.h"
#include "base/text/join.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "view/write.h"

namespace stepcast::cli {

void AddDataOptions(OptionParser& parser, DataOptions& options,
                    std::string_view help) {
  parser.Add("--data", options.data, help);
  parser.Add("--threads", options.threads,
             "threads to use; default: one per core");
}

Result<Data> ReadDataOptions(const DataOptions& options,
                             std::string_view expected) {
  if (options.data.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("no --data given; expected {}", expected));
  }
  ASSIGN_OR_RETURN(const auto threads,
                   api::ParseNumber("--threads", options.threads, 1));
  return Data{.paths = {options.data.begin(), options.data.end()},
              .threads = static_cast<size_t>(threads.value_or(0))};
}

namespace {

// Empty if it is not set. Nothing of the program writes the environment.
std::string_view Environment(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
  return value == nullptr ? "" : value;
}

size_t TerminalWidth() {
  const std::string_view columns = Environment("COLUMNS");
  size_t width = 0;
  const auto [end, error] =
      std::from_chars(columns.data(), columns.data() + columns.size(), width);
  if (error == std::errc() && end == columns.data() + columns.size() &&
      width > 0) {
    return width;
  }
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// Pipes and files get everything, and no colours. What mpirun starts sees a
// terminal of mpirun's making, wherever its output goes.
view::TextStyle StyleOfOutput() {
  const auto process = EnvProcess();
  if (isatty(STDOUT_FILENO) == 0 || !process || process->count > 1) {
    return {};
  }
  return {
      .width = TerminalWidth(),
      .rich = Environment("NO_COLOR").empty() && Environment("TERM") != "dumb"};
}

}  // namespace

void AddReportOptions(OptionParser& parser, ReportOptions& options,
                      std::string_view page, std::string_view rows) {
  parser.Add("--html", options.html,
             fmt::format("write one HTML file: {}", page), "FILE");
  parser.AddFlag("--json", options.json, "print one JSON object instead");
  parser.AddFlag("--markdown", options.markdown,
                 "print Markdown instead, for pull requests");
  if (!rows.empty()) {
    parser.AddFlag("--csv", options.csv,
                   fmt::format("print CSV instead: column names and {}", rows));
  }
}

Status CheckReportOptions(const ReportOptions& options,
                          const std::vector<std::string>& inputs) {
  std::vector<std::string_view> given;
  for (const auto& [name, is_given] :
       {std::pair("--json", options.json), std::pair("--csv", options.csv),
        std::pair("--markdown", options.markdown)}) {
    if (is_given) {
      given.emplace_back(name);
    }
  }
  if (given.size() > 1) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} were given; expected one of them",
                            Join(given, " and ")));
  }
  return CheckExtraFile("--html", options.html, inputs);
}

ExtraFile PageOf(view::Doc doc, const ReportOptions& options) {
  if (options.html.empty()) {
    return {};
  }
  doc.version = api::Version();
  return {.path = options.html, .text = view::WriteHtml(doc)};
}

Status PrintReport(view::Doc doc, const ReportOptions& options) {
  doc.version = api::Version();
  if (options.json || options.csv) {
    return PrintChunks([&](const view::Sink& sink) {
      options.json ? view::WriteJson(doc, sink) : view::WriteCsv(doc, sink);
    });
  }
  return Print(options.markdown ? view::WriteMarkdown(doc)
                                : view::WriteText(doc, StyleOfOutput()));
}

Status WriteReport(view::Doc doc, const ReportOptions& options) {
  RETURN_IF_ERROR(WriteExtraFiles(std::array{PageOf(doc, options)}));
  return PrintReport(std::move(doc), options);
}

}  // namespace stepcast::cli

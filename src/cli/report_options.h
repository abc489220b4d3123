// How reports are written: the options, and where they go.
#ifndef STEPCAST_CLI_REPORT_OPTIONS_H_
#define STEPCAST_CLI_REPORT_OPTIONS_H_

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/option_parser.h"
#include "cli/output.h"
#include "view/doc.h"

namespace stepcast::cli {

// What commands that work on measurements share: --data and --threads.

/// As the user gives them.
struct DataOptions {
  std::vector<std::string> data;
  std::string threads;
};

/// The files, and how many threads; 0: one a core.
struct Data {
  std::vector<std::filesystem::path> paths;
  size_t threads = 0;
};

/// Declares them; `help` says what the data is.
void AddDataOptions(OptionParser& parser, DataOptions& options,
                    std::string_view help);

/// Checks them; `expected` says what the data is: "CSV files or ...".
Result<Data> ReadDataOptions(const DataOptions& options,
                             std::string_view expected);

/// What measurements of kernels, collectives and steps come in.
inline constexpr std::string_view kCsvFiles =
    "CSV files or directories with them";

struct ReportOptions {
  std::string html{};
  bool json = false;
  bool csv = false;
  bool markdown = false;
};

/// `page` says what the HTML file shows, `rows` what CSV has a row for.
void AddReportOptions(OptionParser& parser, ReportOptions& options,
                      std::string_view page, std::string_view rows);

/// Fails if several formats are asked for, or if the page would overwrite an
/// input.
Status CheckReportOptions(const ReportOptions& options,
                          const std::vector<std::string>& inputs);

/// The page; an empty path if it was not asked for.
ExtraFile PageOf(view::Doc doc, const ReportOptions& options);

/// Prints the report in the format that was asked for. Text fits the terminal,
/// if there is one.
Status PrintReport(view::Doc doc, const ReportOptions& options);

/// Both.
Status WriteReport(view::Doc doc, const ReportOptions& options);

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_REPORT_OPTIONS_H_

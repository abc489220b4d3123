// How reports are written: the options, and where they go.
#ifndef STEPCAST_CLI_REPORT_OPTIONS_H_
#define STEPCAST_CLI_REPORT_OPTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/extra_file.h"
#include "cli/option_parser.h"
#include "view/doc.h"

namespace stepcast::cli {

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

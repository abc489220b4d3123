// The rows of a study, for people and for programs.
#ifndef STEPCAST_REPORT_EXPLORED_H_
#define STEPCAST_REPORT_EXPLORED_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "explore/columns.h"
#include "explore/tornado.h"

namespace stepcast::report {

/// A table of the shown rows with the study's columns, or the usual ones that
/// any of the rows has, and what else a reader should know.
std::string ExploredText(const explore::Explored& explored,
                         std::span<const int64_t> shown);

/// All columns of the shown rows, with a head; "pareto" is 1 for those on the
/// front.
std::string ExploredCsv(const explore::Explored& explored,
                        std::span<const int64_t> shown);

/// One object: the study, and a prediction a row.
std::string ExploredJson(const explore::Explored& explored,
                         std::span<const int64_t> shown,
                         const std::vector<explore::Tornado>& tornados,
                         std::string_view version);

/// One page with charts, the Pareto front, tornados and the table.
std::string ExploredHtml(const explore::Explored& explored,
                         std::span<const int64_t> shown,
                         const std::vector<explore::Tornado>& tornados,
                         std::string_view version);

/// How far conclusions hang on what is not known well.
std::string TornadosText(const explore::Study& study,
                         const std::vector<explore::Tornado>& tornados);

/// The columns of a table for people.
std::vector<std::string> ShownColumns(const explore::Explored& explored,
                                      std::span<const int64_t> shown);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_EXPLORED_H_

// Parts that the HTML pages of several reports are made of.
#ifndef STEPCAST_REPORT_HTML_PARTS_H_
#define STEPCAST_REPORT_HTML_PARTS_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/account.h"
#include "engine/price_works.h"
#include "html/page.h"
#include "ir/graph.h"
#include "report/breakdown.h"
#include "report/path_summary.h"
#include "report/prediction.h"
#include "report/simulated_slices.h"

namespace stepcast::report {

/// What readers are told above bars and paths.
inline constexpr std::string_view kBarsText =
    "Every instant of a rank's step is in one part. Exposed: nothing else ran "
    "on the GPU at that time.";
inline constexpr std::string_view kPathText =
    "The chain of waits that decides the length of the step: only what is on "
    "it can make the step shorter.";

/// So much of a name is shown.
inline constexpr size_t kNameLength = 100;

/// Where a step went, and what it is called.
struct NamedParts {
  std::string name;
  StepParts parts;
};

/// Steps side by side.
std::string PartBars(std::span<const NamedParts> steps);

/// Which ranks stand for others; empty if none does.
std::string AlikeHtml(std::span<const engine::RankAccount> accounts);

/// Where each rank's step went.
std::string AccountBars(std::span<const engine::RankAccount> accounts);

/// Where a rank's step went: kernels by family, then the rest.
html::Table PartsTable(const engine::RankAccount& account);

/// The works of a rank that take most, summed by name; where their times come
/// from, if there are `prices`.
html::Table TopWorks(const ir::Graph& graph, const SimulatedStep& step,
                     const engine::RankAccount& account,
                     const engine::PricedWorks* prices);

/// What the critical path was spent on, the longest first.
html::Table PathTable(const PathSummary& path);

/// Where the times of reports come from, in a column each.
html::Table SourcesTable(const std::vector<const PredictionReport*>& reports,
                         const std::vector<std::string>& names);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_HTML_PARTS_H_

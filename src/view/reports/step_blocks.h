// Blocks that the reports of several commands are made of.
#ifndef STEPCAST_VIEW_REPORTS_STEP_BLOCKS_H_
#define STEPCAST_VIEW_REPORTS_STEP_BLOCKS_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/explain/account.h"
#include "engine/explain/step_result.h"
#include "view/doc.h"
#include "view/html/bars.h"
#include "view/reports/breakdown.h"
#include "view/reports/path_summary.h"
#include "view/reports/prediction.h"

namespace stepcast::view {

/// The explanations above bars and paths.
inline constexpr std::string_view kBarsText =
    "Every instant of a rank's step is in one part. Exposed: nothing else ran "
    "on the GPU at that time.";
inline constexpr std::string_view kPathText =
    "The chain of waits that decides the length of the step: only what is on "
    "it can make the step shorter.";

/// Rows of a path, and of what changed on it, that text shows.
inline constexpr size_t kPathRows = 6;

/// Where a step went, and what it is called.
struct NamedParts {
  std::string name;
  StepParts parts;
};

/// Steps side by side.
html::Bars PartBars(std::span<const NamedParts> steps);

/// Where each rank's step went.
html::Bars AccountBars(std::span<const engine::RankAccount> accounts);

/// Where a rank's step went: kernels by family, then the rest. `caption` says
/// which rank.
Table PartsTable(const engine::RankAccount& account, std::string caption);

/// The activities of the slowest rank that take most, summed by name, and where
/// their times come from.
Table KernelTable(const engine::StepResult& result);

/// What the critical path was spent on, the longest first.
Table PathTable(const PathSummary& path);

/// Where the times of reports come from, in a column each.
Table SourceTable(const std::vector<const PredictionReport*>& reports,
                  const std::vector<std::string>& names);

/// Facts for programs, under `key` and a dot.
void AddTimes(std::string_view key, const StepParts& times, Facts& facts);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_REPORTS_STEP_BLOCKS_H_

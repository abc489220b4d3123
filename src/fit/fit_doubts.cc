#include "fit/fit_doubts.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/stats.h"
#include "ir/shape_set.h"

namespace stepcast::fit {
namespace {

// Of all rows that built-in models are fitted to, in which two runs of one
// shape often differ by 10 %, this names one group: 16 rows of MI300X's
// profiles.
constexpr double kFarApart = 1.5;
// So many of the repeated shapes, and at least so many, are no accident.
constexpr size_t kOneOf = 4;
constexpr size_t kFewestShapes = 3;

// What is left of a prediction at such an error says little; fewer rows do not
// tell.
constexpr double kFarOffPct = 30;
constexpr size_t kFewestTests = 5;

}  // namespace

std::optional<std::string> DoubtAboutRepeats(const TrainingRows& rows) {
  // By shape and by what is timed: a loop and a graph may well differ.
  std::map<std::pair<uint64_t, measurements::Timing>, std::vector<double>>
      repeats;
  for (const TrainingRow& row : rows.rows) {
    if (row.counts) {
      repeats[{ir::HashOf(row.row->shape), row.row->timing}].push_back(
          row.row->time_us);
    }
  }
  size_t shapes = 0;
  std::vector<double> apart;
  for (const auto& [shape, times] : repeats) {
    if (times.size() < 2) {
      continue;
    }
    ++shapes;
    const auto [low, high] = std::ranges::minmax(times);
    if (high > kFarApart * low) {
      apart.push_back(high / low);
    }
  }
  if (apart.size() < kFewestShapes || apart.size() * kOneOf < shapes) {
    return std::nullopt;
  }
  const size_t count = apart.size();
  return fmt::format(
      "{} of {} shapes that were measured more than once differ by x{:.1f} in "
      "the median; expected repeats that agree: was the machine busy?",
      count, shapes, Quantile(std::move(apart), 0.5));
}

std::optional<std::string> DoubtAboutModel(const FitSummary& summary) {
  if (summary.model.n < kFewestTests || summary.model.gmae_pct <= kFarOffPct) {
    return std::nullopt;
  }
  return fmt::format(
      "off by {:.0f} % (GMAE) on {} rows that the model did not learn from; "
      "more rows may help, or a machine with nothing else to do",
      summary.model.gmae_pct, summary.model.n);
}

}  // namespace stepcast::fit

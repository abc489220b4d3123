#include "fit/spreads.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "base/stats.h"

namespace stepcast::fit {
namespace {

// One chip says nothing about how chips differ, and fewer rows than this
// nothing about a chip.
constexpr size_t kFewestChips = 2;
constexpr size_t kFewestChipRows = 10;

using ChipMisses = std::map<std::string, std::vector<double>>;

// The 90 % point of Student's distribution with so many degrees of freedom.
double StudentP90(size_t degrees) {
  constexpr std::array kPoints = {3.078, 1.886, 1.638, 1.533, 1.476,
                                  1.440, 1.415, 1.397, 1.383, 1.372};
  constexpr double kNormal = 1.282;
  return degrees <= kPoints.size() ? kPoints[degrees - 1] : kNormal;
}

// A chip is off as a whole, and its rows are off about that. The first is a
// draw from about zero, as wide as the few chips show; the second is the mean
// of theirs. Both add by their squares.
cost::FormulaSpread SpreadOf(const ChipMisses& chips) {
  const auto n = static_cast<double>(chips.size());
  double squares = 0;
  double below = 0;
  double above = 0;
  for (const auto& [chip, misses] : chips) {
    const double median = Quantile(misses, 0.5);
    squares += median * median / n;
    below += (median - Quantile(misses, 0.1)) / n;
    above += (Quantile(misses, 0.9) - median) / n;
  }
  const double chip =
      StudentP90(chips.size()) * std::sqrt(squares * (1 + 1 / n));
  return {.log2_p10 = -std::hypot(chip, below),
          .log2_p90 = std::hypot(chip, above)};
}

}  // namespace

cost::FormulaSpreads SpreadsOf(std::span<const Misses> misses) {
  std::map<std::string, std::pair<ChipMisses, ChipMisses>> keys;
  for (const Misses& one : misses) {
    if (one.nothing.size() < kFewestChipRows) {
      continue;
    }
    for (const std::string& key : {fmt::format("{}-{}", one.family, one.type),
                                   one.family, std::string("other")}) {
      // Families count alike in what is said of those without rows.
      const std::string chip = key == "other"
                                   ? fmt::format("{} {}", one.chip, one.family)
                                   : one.chip;
      auto& [nothing, ceilings] = keys[key];
      nothing[chip].insert(nothing[chip].end(), one.nothing.begin(),
                           one.nothing.end());
      ceilings[chip].insert(ceilings[chip].end(), one.ceilings.begin(),
                            one.ceilings.end());
    }
  }
  cost::FormulaSpreads spreads;
  for (const auto& [key, chips] : keys) {
    if (chips.first.size() < kFewestChips) {
      continue;
    }
    spreads[key] = {.nothing = SpreadOf(chips.first),
                    .ceilings = SpreadOf(chips.second)};
  }
  return spreads;
}

std::string SpreadsText(const cost::FormulaSpreads& spreads,
                        std::string_view provenance) {
  std::string text = fmt::format(
      "# {}\n"
      "# log2 of measured over estimated where nothing was fitted to a GPU: "
      "80 % of its\n"
      "# kernels are expected from p10 to p90. From the errors on chips left "
      "out of the\n"
      "# fits, each chip counting alike: with nothing measured on the GPU, "
      "and given its\n"
      "# ceilings. A family with its type of elements goes before the family; "
      "'other' is\n"
      "# for families that nobody measured.\n",
      provenance);
  for (const auto& [key, spread] : spreads) {
    text += fmt::format(
        "\n[{}]\nlog2_p10 = {:.3f}\nlog2_p90 = {:.3f}\n"
        "ceilings_log2_p10 = {:.3f}\nceilings_log2_p90 = {:.3f}\n",
        key, spread.nothing.log2_p10, spread.nothing.log2_p90,
        spread.ceilings.log2_p10, spread.ceilings.log2_p90);
  }
  return text;
}

}  // namespace stepcast::fit

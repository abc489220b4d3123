// Which rows of a study are shown, and in which order.
#ifndef STEPCAST_EXPLORE_SELECT_ROWS_H_
#define STEPCAST_EXPLORE_SELECT_ROWS_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "explore/row.h"
#include "explore/study.h"

namespace stepcast::explore {

// How far a conclusion moves with each input that is not known well.

/// One input at its low and at its high value, all others as they are.
struct TornadoBar {
  std::string setting{};
  std::string low{};  // The values, as text.
  std::string high{};
  std::string why{};
  double at_low = 0;  // What the conclusion becomes; not a number: none.
  double at_high = 0;
};

struct Tornado {
  std::string name{};
  std::string metric{};
  bool is_ratio = false;
  double usual = 0;                // The conclusion as it stands.
  std::vector<TornadoBar> bars{};  // The widest first.
};

/// Predicts every sensitivity of the study, with profiles as of rows.
std::vector<Tornado> MakeTornados(
    const Study& study,
    const std::vector<std::filesystem::path>& profiles = {});

// The rows that no other beats: more of one thing at no higher price.

/// What a front is of.
struct ParetoColumns {
  Number more = Number::kSamplesPerS;
  Number less = Number::kPowerW;
};

/// As the study says, else the first of power and memory that any row knows;
/// nothing if none does.
std::optional<ParetoColumns> FindParetoColumns(const Explored& explored);

/// The rows of the front, the cheapest first. Of equal rows the first.
std::vector<int64_t> ParetoFront(std::span<const Row> rows,
                                 const ParetoColumns& columns);

struct Selection {
  std::string where{};           // Empty: all.
  std::optional<int64_t> top{};  // So many at most.
  /// A column: the largest first, "-NAME" the smallest; empty: the study's
  /// order, or with `top` the most samples per second.
  std::string by{};
};

/// Fails for a condition or a column that there is not. Rows without a number
/// in the column come last.
Result<std::vector<int64_t>> SelectRows(const Explored& explored,
                                        const Selection& selection);

/// Fails as SelectRows would, before anything was predicted.
Status CheckSelection(const Study& study, const Selection& selection);

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_SELECT_ROWS_H_

// Reads tables of overheads as we write them, many times as fast as any TOML.
#ifndef STEPCAST_COST_OVERHEADS_OVERHEAD_LINES_H_
#define STEPCAST_COST_OVERHEADS_OVERHEAD_LINES_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "cost/overheads/overhead_table.h"

namespace stepcast::cost {

/// The table of a text without a line that OverheadText would not write, but
/// for its comments; nothing for any other, good or bad: the reader of TOML
/// knows what to say of it.
std::optional<OverheadData> ParseOverheadLines(std::string_view text);

/// The columns of a row, in its order.
inline constexpr size_t kOverheadColumnCount = 7;
/// A row of numbers; nothing if they make no sense.
std::optional<OverheadRow> MakeOverheadRow(
    std::span<const double, kOverheadColumnCount> values);

/// The part of a name; nothing if it is none.
std::optional<OverheadPart> FindOverheadPart(std::string_view name);

/// Whether a profiler can take so long for an event.
bool IsProfilerCost(double us_per_event);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_OVERHEADS_OVERHEAD_LINES_H_

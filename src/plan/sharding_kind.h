// The ways to share a table out to ranks.
#ifndef STEPCAST_PLAN_SHARDING_KIND_H_
#define STEPCAST_PLAN_SHARDING_KIND_H_

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"

namespace stepcast::plan {

enum class Sharding : uint8_t {
  kTableWise,     // Whole on one rank.
  kColumnWise,    // Slices of columns, each on a rank.
  kRowWise,       // Rows dealt out to all ranks.
  kTableRowWise,  // Rows dealt out to the ranks of one node.
  kDataParallel,  // A copy on every rank.
};
inline constexpr size_t kShardingCount = 5;

/// "table_wise", ...: TorchRec's names.
std::string_view Name(Sharding sharding);
/// "TW", "CW", "RW", "TWRW", "DP": as TorchRec's tables have it.
std::string_view ShortName(Sharding sharding);

/// Also "table_column_wise": slices of columns on the ranks of one node. The
/// error lists what is known.
Result<Sharding> ParseSharding(std::string_view name);

}  // namespace stepcast::plan

#endif  // STEPCAST_PLAN_SHARDING_KIND_H_

#include "plan/sharding_kind.h"

#include <array>

#include "base/nearest.h"

namespace stepcast::plan {
namespace {

constexpr std::array<std::string_view, kShardingCount> kNames = {
    "table_wise", "column_wise", "row_wise", "table_row_wise", "data_parallel"};
constexpr std::array<std::string_view, kShardingCount> kShortNames = {
    "TW", "CW", "RW", "TWRW", "DP"};

}  // namespace

std::string_view Name(Sharding sharding) {
  return kNames[static_cast<size_t>(sharding)];
}

std::string_view ShortName(Sharding sharding) {
  return kShortNames[static_cast<size_t>(sharding)];
}

Result<Sharding> ParseSharding(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (name == kNames[i]) {
      return static_cast<Sharding>(i);
    }
  }
  if (name == "table_column_wise") {
    return Sharding::kColumnWise;
  }
  return Fail(ErrorCode::kInvalidInput, Unknown("sharding type", name, kNames));
}

}  // namespace stepcast::plan

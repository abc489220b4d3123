#include "plan/constraints.h"

#include <algorithm>

#include <fmt/format.h>

namespace stepcast::plan {

Result<Constraint> ParseConstraint(std::string_view text) {
  const size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0 ||
      equals + 1 == text.size()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("constraint '{}' has no table or no sharding "
                            "types; expected TABLE=TYPE,TYPE as in "
                            "t_cat_*=table_wise,row_wise",
                            text));
  }
  Constraint constraint{.text = std::string(text),
                        .tables = Glob(text.substr(0, equals))};
  std::string_view rest = text.substr(equals + 1);
  while (true) {
    const size_t comma = rest.find(',');
    ASSIGN_OR_RETURN(const Sharding sharding,
                     ParseSharding(rest.substr(0, comma)));
    constraint.allowed.push_back(sharding);
    if (comma == std::string_view::npos) {
      return constraint;
    }
    rest.remove_prefix(comma + 1);
  }
}

std::vector<Sharding> AllowedFor(std::string_view table,
                                 const std::vector<Constraint>& constraints) {
  std::vector<Sharding> allowed;
  for (size_t i = 0; i < kShardingCount; ++i) {
    const auto sharding = static_cast<Sharding>(i);
    const bool forbidden =
        std::ranges::any_of(constraints, [&](const Constraint& constraint) {
          return constraint.tables.Matches(table) &&
                 std::ranges::find(constraint.allowed, sharding) ==
                     constraint.allowed.end();
        });
    if (!forbidden) {
      allowed.push_back(sharding);
    }
  }
  return allowed;
}

}  // namespace stepcast::plan

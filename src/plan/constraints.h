// What the user does not want of a plan.
#ifndef STEPCAST_PLAN_CONSTRAINTS_H_
#define STEPCAST_PLAN_CONSTRAINTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/glob.h"
#include "base/result.h"
#include "plan/sharding_kind.h"

namespace stepcast::plan {

/// Tables whose name matches may be shared out in these ways only.
struct Constraint {
  std::string text{};  // As written.
  Glob tables{"*"};
  std::vector<Sharding> allowed{};
};

/// "t_cat_*=table_wise,row_wise".
Result<Constraint> ParseConstraint(std::string_view text);

/// All ways that the constraints leave to a table: of several that match, what
/// all of them allow.
std::vector<Sharding> AllowedFor(std::string_view table,
                                 const std::vector<Constraint>& constraints);

}  // namespace stepcast::plan

#endif  // STEPCAST_PLAN_CONSTRAINTS_H_

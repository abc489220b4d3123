// From a model and ranks to a problem: every way to shard each table, with its
// price.
#ifndef STEPCAST_PLAN_MAKE_PROBLEM_H_
#define STEPCAST_PLAN_MAKE_PROBLEM_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text/glob.h"
#include "plan/plan.h"
#include "plan/problem.h"
#include "plan/shard_rates.h"

namespace stepcast::plan {

// What the user does not want of a plan.

/// Tables whose name matches may be divided in these ways only.
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

struct ProblemOptions {
  std::vector<Constraint> constraints{};
  /// Memory of a GPU that plans may use, in bytes; 0: all there is.
  double device_bytes = 0;
  size_t threads = 1;
};

/// Fails if constraints name no table or leave one nowhere to go, and for
/// models without tables.
Result<Problem> MakeProblem(const Job& job, const ProblemOptions& options);

/// A plan's choices in terms of the problem, which gets the options it lacks.
Result<Choices> Adopt(const Job& job, const Plan& plan, Problem& problem);

/// "t_cat_0": what table `index` of a model is called in plans.
std::string TableName(const model::Model& model, size_t index);

}  // namespace stepcast::plan

#endif  // STEPCAST_PLAN_MAKE_PROBLEM_H_

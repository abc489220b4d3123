// Seeded sharding problems, small enough to try every plan.
#ifndef STEPCAST_TESTS_TESTING_RANDOM_PROBLEM_H_
#define STEPCAST_TESTS_TESTING_RANDOM_PROBLEM_H_

#include <cstdint>

#include "plan/ledger.h"
#include "plan/problem.h"

namespace stepcast::testing {

/// Up to `tables` tables on up to `ranks` ranks of one node or two, with costs
/// in the proportions of real ones: loads by rows, columns and ids, exchanges
/// by latency and rate, and memory that is ample or scarce.
plan::Problem RandomProblem(uint64_t seed, int tables, int ranks);

/// The cost of the best plan, by trying all of them.
plan::Cost BestOfAll(const plan::Problem& problem);

}  // namespace stepcast::testing

#endif  // STEPCAST_TESTS_TESTING_RANDOM_PROBLEM_H_

// Sums over an account, for tests.
#ifndef STEPCAST_ENGINE_EXPLAIN_ACCOUNT_TESTING_H_
#define STEPCAST_ENGINE_EXPLAIN_ACCOUNT_TESTING_H_

#include "engine/explain/account.h"

namespace stepcast::engine {

/// All parts together, which are the step.
inline Duration SumOf(const RankAccount& account) {
  Duration sum = account.copies_exposed + account.communication_exposed +
                 account.idle.host + account.idle.launch + account.idle.sync +
                 account.idle.wait_for_rank;
  for (const Duration time : account.kernels) {
    sum += time;
  }
  return sum;
}

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_EXPLAIN_ACCOUNT_TESTING_H_

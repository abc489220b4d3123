// Random measured steps, as a profiler would see them.
#ifndef STEPCAST_TESTS_TESTING_RANDOM_STEP_H_
#define STEPCAST_TESTS_TESTING_RANDOM_STEP_H_

#include <cstdint>
#include <string>

namespace stepcast::testing {

/// A step of several ranks in graph text: ops that launch kernels on two
/// streams, syncs, and collectives of all ranks.
std::string RandomStepText(uint64_t seed);

}  // namespace stepcast::testing

#endif  // STEPCAST_TESTS_TESTING_RANDOM_STEP_H_

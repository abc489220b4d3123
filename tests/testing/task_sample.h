// Random tasks seen through the parts they are made of, to state laws about.
//
// What a task waits for is worked out from the parts that go into the builder,
// so that a mistake in a graph's links cannot hide itself.
#ifndef STEPCAST_TESTS_TESTING_TASK_SAMPLE_H_
#define STEPCAST_TESTS_TESTING_TASK_SAMPLE_H_

#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/testing/random_tasks.h"

namespace stepcast::testing {

/// `before` has to end so long before the task that needs it starts, or, if the
/// delay is negative, at most so long after, and has to be active by then.
struct Need {
  sim::TaskId before{};
  Duration delay{};
};

struct TaskSample {
  TaskParts parts{};
  std::vector<std::vector<sim::TaskId>> lanes{};
  std::vector<std::vector<sim::TaskId>> rendezvous_list{};
  std::vector<std::vector<Need>> needs{};  // By task: of its lane and others.
};

/// Samples of other sizes for other seeds, with and without ties.
TaskSample SampleOf(uint64_t seed);

/// The parts as a graph; aborts if they have a cycle.
sim::TaskGraph GraphOf(const TaskParts& parts);

/// How many samples each law is tried on.
constexpr uint64_t kSampleSeeds = 300;

/// Calls law(seed, sample) until it fails.
template <typename Law>
void ForEachSample(Law law) {
  for (uint64_t seed = 0; seed < kSampleSeeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    law(seed, SampleOf(seed));
    if (::testing::Test::HasFatalFailure()) {
      return;
    }
  }
}

}  // namespace stepcast::testing

#endif  // STEPCAST_TESTS_TESTING_TASK_SAMPLE_H_

// Tests of ParallelFor.
#include "base/parallel.h"

#include <atomic>
#include <cstddef>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

namespace stepcast {
namespace {

TEST(ParallelForTest, CallsEveryIndexOnceWhateverTheThreads) {
  for (const size_t threads : std::vector<size_t>{0, 1, 2, 3, 8, 100}) {
    std::vector<std::atomic<int>> calls(57);
    ParallelFor(calls.size(), threads, [&](size_t i) { ++calls[i]; });
    for (const auto& count : calls) {
      EXPECT_EQ(count, 1) << threads << " threads";
    }
  }
}

TEST(ParallelForTest, NothingToDoCallsNothing) {
  ParallelFor(0, 4, [](size_t) { ADD_FAILURE(); });
}

TEST(ParallelForTest, ReturnsOnlyWhenAllAreDone) {
  std::vector<size_t> squares(1000);
  ParallelFor(squares.size(), 4, [&](size_t i) { squares[i] = i * i; });
  // 0 + 1 + 4 + ... + 999^2 = 999 * 1000 * 1999 / 6
  EXPECT_EQ(std::accumulate(squares.begin(), squares.end(), size_t{0}),
            332833500);
}

}  // namespace
}  // namespace stepcast

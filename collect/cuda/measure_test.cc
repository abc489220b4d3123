#include "collect/cuda/measure.h"

#include <gtest/gtest.h>

namespace stepcast::collect {
namespace {

// Rounds of five calls: slow at first, then each of so many microseconds.
class Scripted : public Prepared {
 public:
  explicit Scripted(double call_us) : call_us_(call_us) {}

  int64_t calls() const override { return 5; }
  std::string timing() const override { return "graph"; }
  double RunUs(int64_t rounds) override {
    ++runs;
    most_rounds = std::max(most_rounds, rounds);
    if (runs == failing_run) {
      return -1;
    }
    const double time_us =
        (runs == 1 ? 100 : 1) * call_us_ * 5 * static_cast<double>(rounds);
    seconds += time_us / 1e6;
    return time_us;
  }

  int runs = 0;
  int failing_run = 0;
  int64_t most_rounds = 0;
  double seconds = 0;

 private:
  double call_us_;
};

TEST(MeasureTest, TheFirstCallIsNotMeasured) {
  Scripted prepared(4);
  const auto summary = Measure(prepared, 1, [&] { return prepared.seconds; });
  ASSERT_TRUE(summary);
  EXPECT_DOUBLE_EQ(summary->time_us, 4);
  EXPECT_EQ(summary->count, 5);
  EXPECT_TRUE(summary->is_stable);
  // A sample of 250 us is 12.5 rounds of 20 us, and one more.
  EXPECT_EQ(prepared.most_rounds, 13);
}

TEST(MeasureTest, LongCallsAreTimedOneByOneAndFewTimes) {
  Scripted prepared(1e5);
  const auto summary = Measure(prepared, 0.1, [&] { return prepared.seconds; });
  ASSERT_TRUE(summary);
  EXPECT_EQ(prepared.most_rounds, 1);
  EXPECT_EQ(summary->count, 3);
}

TEST(MeasureTest, ADeviceThatFailsHasNoTime) {
  for (const int run : {1, 2, 4}) {
    Scripted prepared(4);
    prepared.failing_run = run;
    EXPECT_FALSE(Measure(prepared, 1, [] { return 0.0; })) << run;
  }
}

}  // namespace
}  // namespace stepcast::collect

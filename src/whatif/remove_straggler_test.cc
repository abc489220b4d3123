#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "whatif/whatif_testing.h"

namespace stepcast::whatif {
namespace {

// A rank of three whose step begins at `start` and lasts `length`; after
// `arrival` of it, all in microseconds, it comes to a collective that ends with
// the step.
std::string RankText(int rank, int start, int length, int arrival) {
  return fmt::format(
      R"(rank {0} @{1}+{2}
  thread main
    op "a" @{3}+20
      call launch "launch" @{4}+5
        s7: collective kind=all_reduce bytes=4096 group=3 dtype=fp32 "ar" @{5}+{6} #a{0}
    call stream_sync "sync" @{7}+{8} #c{0}
  wait #a{0} -> #c{0}
)",
      rank, start, length, arrival, arrival + 10, arrival + 20,
      length - arrival - 20, arrival + 30, length - arrival - 30);
}

// Three ranks do the same; the last sleeps 5 ms before its collective and
// starts 200 us late. Without that all take what the first takes alone:
//
//   rank 0  |100 a 110|--- waits --------|own 80|
//   rank 2  200 + |100 a 110| 5000 |own 80|
TEST(RemoveStragglerTest, WhatOneRankTakesLongerForIsCutToTheMiddle) {
  const Case before =
      TraceOf("stepcast-graph 1\n" + RankText(0, 0, 5400, 100) +
              RankText(1, 0, 5400, 100) + RankText(2, 200, 5200, 5100) +
              "collective all_reduce #a0 #a1 #a2\n");
  const Changed changed = After(before, {"remove-straggler"});
  // 100 + 20 us to the collective, its own 80 us.
  EXPECT_NEAR(ToMicroseconds(changed.after.result.step), 200, 10);
  ASSERT_EQ(changed.notes.size(), 1u);
  EXPECT_THAT(changed.notes[0],
              ::testing::HasSubstr("5.000 ms in 1 place beyond what the median "
                                   "rank takes, and all ranks start at once"));
}

TEST(RemoveStragglerTest, SaysSoWhereNothingLastsLonger) {
  const Case before =
      TraceOf("stepcast-graph 1\n" + RankText(0, 0, 400, 100) +
              RankText(1, 0, 400, 100) + RankText(2, 0, 400, 100) +
              "collective all_reduce #a0 #a1 #a2\n");
  const Changed changed = After(before, {"remove-straggler"});
  EXPECT_EQ(changed.delta.step, Duration{});
  EXPECT_THAT(changed.notes,
              ::testing::ElementsAre("nothing lasts far longer than on the "
                                     "median rank, and all ranks start at "
                                     "once"));
}

}  // namespace
}  // namespace stepcast::whatif

#include "timeline/measured_times.h"

#include <string_view>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph_testing.h"

namespace stepcast::timeline {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

MeasuredTimes Take(std::string_view text) {
  return TakeMeasuredTimes(ir::GraphOf(text).data());
}

double DurationOf(const MeasuredTimes& times, uint32_t activity) {
  return ToMicroseconds(
      times.times.activities[ir::ActivityId{activity}].duration);
}
double LaunchOf(const MeasuredTimes& times, uint32_t activity) {
  return ToMicroseconds(
      times.times.activities[ir::ActivityId{activity}].launch);
}
double GapOf(const MeasuredTimes& times, uint32_t activity) {
  return ToMicroseconds(times.times.activities[ir::ActivityId{activity}].gap);
}
StartCause CauseOf(const MeasuredTimes& times, uint32_t activity) {
  return times.causes[ir::ActivityId{activity}];
}

// calls    10      20               60
// s7         [16-36     ][38-48]      [66-70]
TEST(MeasuredTimesTest, AStartFollowsItsLaunchOrTheActivityBefore) {
  const MeasuredTimes times = Take(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    call launch "launch" @10+5
      s7: gemm m=1 @16+20
    call launch "launch" @20+5
      s7: gemm m=2 @38+10
    call launch "launch" @60+5
      s7: gemm m=3 @66+4
)");
  EXPECT_EQ(CauseOf(times, 0), StartCause::kLaunch);
  EXPECT_EQ(CauseOf(times, 1), StartCause::kStream);
  EXPECT_EQ(CauseOf(times, 2), StartCause::kLaunch);
  // Both launches on the idle stream took 6 us; that is the least for all.
  EXPECT_EQ(LaunchOf(times, 0), 6);
  EXPECT_EQ(LaunchOf(times, 1), 6);
  EXPECT_EQ(GapOf(times, 0), 0);
  EXPECT_EQ(GapOf(times, 1), 2);
  EXPECT_EQ(GapOf(times, 2), 0);
  EXPECT_EQ(ToMicroseconds(times.usual.launch), 6);
  EXPECT_EQ(ToMicroseconds(times.usual.gap), 2);
  EXPECT_THAT(times.late_starts, IsEmpty());
}

// s7   [16-36     ]
// s20              [40-45]      launched at 20, waits for s7 by an event
TEST(MeasuredTimesTest, AStartAfterAnotherStreamIsAStreamWait) {
  const MeasuredTimes times = Take(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    call launch "launch" @10+5
      s7: gemm m=1 @16+20 #a
    call launch "launch" @20+5
      s20: gemm m=2 @40+5 #b
  wait #a -> #b
)");
  EXPECT_EQ(CauseOf(times, 1), StartCause::kStreamWait);
  ASSERT_THAT(times.times.wait_delays, SizeIs(1));
  EXPECT_EQ(ToMicroseconds(times.times.wait_delays[0]), 4);
  EXPECT_EQ(ToMicroseconds(times.usual.stream_wait), 4);
}

// s7   [16                          116]
// s20                                 [118-120]  launched at 20: 92 us late
TEST(MeasuredTimesTest, ALateStartBelongsToTheActivityThatEndedThen) {
  const MeasuredTimes times = Take(R"(stepcast-graph 1
rank 0 @0+200
  thread main
    call launch "launch" @10+5
      s7: gemm m=1 @16+100
    call launch "launch" @20+5
      s20: gemm m=2 @118+2
)");
  EXPECT_EQ(CauseOf(times, 1), StartCause::kContention);
  ASSERT_THAT(times.times.contentions, SizeIs(1));
  EXPECT_EQ(times.times.contentions[0].before, ir::ActivityId{0});
  EXPECT_EQ(times.times.contentions[0].after, ir::ActivityId{1});
  EXPECT_EQ(ToMicroseconds(times.times.contentions[0].delay), 2);
  EXPECT_THAT(times.late_starts, IsEmpty());
}

// s7   [16                          116]
// s20                           [106-109]   in the last quarter of the other
TEST(MeasuredTimesTest, AStartInTheLastWavesOfAnotherHasANegativeDelay) {
  const MeasuredTimes times = Take(R"(stepcast-graph 1
rank 0 @0+200
  thread main
    call launch "launch" @10+5
      s7: gemm m=1 @16+100
    call launch "launch" @20+5
      s20: gemm m=2 @106+3
)");
  ASSERT_THAT(times.times.contentions, SizeIs(1));
  EXPECT_EQ(ToMicroseconds(times.times.contentions[0].delay), -10);
}

// Two others end near the start; a long one that started first and ended long
// ago is passed over.
// s7   [16-20]           [90               117]
// s9         [21-40]                   [110-119]
// s20                                     [120-121] launched at 22
TEST(MeasuredTimesTest, OfSeveralTheOneThatEndedNearestHeldTheDevice) {
  const MeasuredTimes times = Take(R"(stepcast-graph 1
rank 0 @0+200
  thread main
    call launch "launch" @10+1
      s7: gemm m=1 @16+4
    call launch "launch" @15+1
      s9: gemm m=2 @21+19
    call launch "launch" @22+1
      s20: gemm m=3 @120+1
    call launch "launch" @84+1
      s7: gemm m=4 @90+27
    call launch "launch" @104+1
      s9: gemm m=5 @110+9
)");
  ASSERT_THAT(times.times.contentions, SizeIs(1));
  // Works by stream: s7 has 0 and 1, s9 has 2 and 3, s20 has 4.
  EXPECT_EQ(times.times.contentions[0].after, ir::ActivityId{4});
  EXPECT_EQ(times.times.contentions[0].before, ir::ActivityId{3});
  EXPECT_EQ(ToMicroseconds(times.times.contentions[0].delay), 1);
}

// A collective in its last part is only waiting: it holds no device back.
TEST(MeasuredTimesTest, ACollectiveThatStillRunsIsNotTheCause) {
  const MeasuredTimes times = Take(R"(stepcast-graph 1
rank 0 @0+200
  thread main
    call launch "launch" @10+5
      s7: collective kind=all_reduce @16+100
    call launch "launch" @20+5
      s20: gemm m=2 @106+3
)");
  EXPECT_THAT(times.times.contentions, IsEmpty());
  EXPECT_THAT(times.late_starts, SizeIs(1));
}

// Launches on an idle stream take 6 us. The last one starts 100 us after its
// call, which takes `call_us`, and nothing else ran.
MeasuredTimes TakeLateStart(int call_us) {
  return Take(fmt::format(R"(stepcast-graph 1
rank 0 @0+300
  thread main
    call launch "launch" @10+5
      s7: gemm m=1 @16+4
    call launch "launch" @30+5
      s7: gemm m=2 @36+4
    call launch "launch" @100+{}
      s7: gemm m=3 @200+4
)",
                          call_us));
}

// 100 us after the call are 94 us after what a launch takes at least.
TEST(MeasuredTimesTest, ALateStartWithoutACauseStaysUnexplained) {
  const MeasuredTimes times = TakeLateStart(5);
  ASSERT_THAT(times.late_starts, SizeIs(1));
  EXPECT_EQ(times.late_starts[0].activity, ir::ActivityId{2});
  EXPECT_EQ(times.late_starts[0].cause, StartCause::kLaunch);
  EXPECT_EQ(ToMicroseconds(times.late_starts[0].late), 94);
  EXPECT_EQ(LaunchOf(times, 2), 6);  // As usual; the rest is named.
}

// The work starts 5 us after the call.
TEST(MeasuredTimesTest, AStartNearTheReturnOfALongCallIsExplained) {
  const MeasuredTimes times = TakeLateStart(95);
  EXPECT_THAT(times.late_starts, IsEmpty());
  EXPECT_EQ(LaunchOf(times, 2), 100);
}

// s7   [10      30]
//            [25-35]
TEST(MeasuredTimesTest, AnActivityIsCutWhereTheNextOfItsStreamStarts) {
  const MeasuredTimes times = Take(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    call graph_launch "cudaGraphLaunch" @5+5
      s7: gemm m=1 @10+20
      s7: gemm m=2 @25+10
)");
  EXPECT_EQ(times.overlaps, 1);
  EXPECT_EQ(DurationOf(times, 0), 15);
  EXPECT_EQ(DurationOf(times, 1), 10);
}

// The step before left two activities: one that runs when the step starts, and
// one that starts in it.
TEST(MeasuredTimesTest, WorkOfTheStepBeforeIsReleasedWhereItStarts) {
  const MeasuredTimes times = Take(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    op "a" @0+1
  s7: gemm m=1 @-10+30
  s7: gemm m=2 @25+10
)");
  EXPECT_EQ(times.times.activities[ir::ActivityId{0}].release, Duration{});
  EXPECT_EQ(DurationOf(times, 0), 20);
  EXPECT_EQ(ToMicroseconds(times.times.activities[ir::ActivityId{1}].release),
            25);
  EXPECT_EQ(DurationOf(times, 1), 10);
  EXPECT_EQ(CauseOf(times, 1), StartCause::kNone);
}

// shared clock   0    20        60   80
// rank 0 @0           [20----------80]
// rank 1 @50                   [60-80]    from 10 on its own
TEST(MeasuredTimesTest, ACollectiveTakesWhatIsLeftWhenTheLastRankHasStarted) {
  const MeasuredTimes times = Take(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    call launch "launch" @10+5
      s7: collective kind=all_reduce @20+60 #a
rank 1 @50+100
  thread main
    call launch "launch" @1+5
      s7: collective kind=all_reduce @10+20 #b
collective all_reduce #a #b
)");
  EXPECT_EQ(DurationOf(times, 0), 20);
  EXPECT_EQ(DurationOf(times, 1), 20);
}

TEST(MeasuredTimesTest, AnActivityWithoutAStartTakesItsDurationAtOnce) {
  const MeasuredTimes times = Take(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    call launch "launch" @10+5
      s7: gemm m=1 @+7
)");
  EXPECT_EQ(DurationOf(times, 0), 7);
  EXPECT_EQ(LaunchOf(times, 0), 0);
  EXPECT_EQ(CauseOf(times, 0), StartCause::kNone);
}

}  // namespace
}  // namespace stepcast::timeline

#include "engine/run/steady_step.h"

#include <memory>
#include <string_view>

#include <gtest/gtest.h>

#include "engine/explain/limits.h"
#include "ir/graph_testing.h"

namespace stepcast::engine {
namespace {

double Micros(Duration time) {
  return ToMicroseconds(time);
}

StepResult SteadyOf(std::string_view text) {
  auto steady =
      SteadyStep(std::make_shared<const ir::Graph>(ir::GraphOf(text)));
  EXPECT_TRUE(steady) << steady.error().message;
  return *std::move(steady);
}

// host    [a 20][ ............ 100]
// stream        [gemm 30]
constexpr std::string_view kHostBound = R"(stepcast-graph 1
rank 0 @0+100
  thread main
    op "a" @0+20
      call launch "launch" @10+4
        s7: gemm m=1 @20+30
)";

TEST(SteadyStepTest, AHostThatTakesLongerRepeatsAsItWasRecorded) {
  const StepResult steady = SteadyOf(kHostBound);
  EXPECT_EQ(Micros(steady.step), 100);
  EXPECT_EQ(Micros(steady.slowest_account().gpu_active), 30);
  const StepLimits limits = FindLimits(steady);
  EXPECT_EQ(limits.bound, LimitKind::kHost);
  // Without the host's time a kernel follows the other.
  EXPECT_EQ(Micros(limits.host_slack), 70);
  EXPECT_EQ(Micros(limits.device_slack), 0);
}

// The host is done after 100 us and goes on with the next step; its kernel is
// not:
//
// host    [step 100][step 100][step 100]
// stream     [250                     ][250                    ]
constexpr std::string_view kDeviceBound = R"(stepcast-graph 1
rank 0 @0+100
  thread main
    op "a" @0+20
      call launch "launch" @10+4
        s7: gemm m=1 @20+250
)";

TEST(SteadyStepTest, WorkThatEndsAfterTheHostsStepBelongsToIt) {
  const StepResult steady = SteadyOf(kDeviceBound);
  EXPECT_EQ(Micros(steady.step), 250);
  EXPECT_EQ(Micros(steady.slowest_account().gpu_active), 250);
  const StepLimits limits = FindLimits(steady);
  EXPECT_EQ(limits.bound, LimitKind::kKernels);
  EXPECT_EQ(Micros(limits.host_slack), 0);
  EXPECT_EQ(Micros(limits.device_slack), 150);
}

TEST(SteadyStepTest, SaysHowFarTheDeviceRanAfterTheHost) {
  const ir::Graph graph = ir::GraphOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    op "a" @0+20
      call launch "launch" @10+4
        s7: gemm m=1 @40+90
  s7: opaque "left over" @-30+65
)");
  const std::vector<HostLead> leads = HostLeads(graph.data());
  ASSERT_EQ(leads.size(), 1U);
  EXPECT_EQ(Micros(leads[0].at_start), 35);
  EXPECT_EQ(Micros(leads[0].at_end), 30);
}

// What the step before left over is the end of this one, one step earlier: it
// runs once in a step, and who waits for it waits for that.
//
// host    [launch][sync: waits for what is left over]     step 200
// stream  [left over 100         ][gemm 40][copy 150 ...
TEST(SteadyStepTest, WaitsForTheStepBeforeAreThoseOfTheRepeatBefore) {
  const StepResult steady = SteadyOf(R"(stepcast-graph 1
rank 0 @0+200
  thread main
    call launch "launch" @0+10
      s7: gemm m=1 @110+40
    call launch "launch" @20+10
      s7: opaque "last" @150+150
    call stream_sync "sync" @40+62 #c0
  s7: opaque "last" @-50+150 #a0
  wait #a0 -> #c0
)");
  // 40 + 150 us of the stream.
  EXPECT_EQ(Micros(steady.slowest_account().gpu_active), 190);
  EXPECT_GE(Micros(steady.step), 190);
  EXPECT_LE(Micros(steady.step), 200);
}

// In the recording the host took 5 ms for an op while the device was busy: it
// waited, though no call says so. With the device done sooner it does not.
TEST(SteadyStepTest, AHostThatOnlySeemedBusyWaitsForTheDevice) {
  const StepResult steady = SteadyOf(R"(stepcast-graph 1
rank 0 @0+6000
  thread main
    op "a" @0+20
      call launch "launch" @10+4
        s7: gemm m=1 @20+5500
    op "b" @500+5100
)");
  EXPECT_NEAR(Micros(steady.step), 6000, 10);
  const StepLimits limits = FindLimits(steady);
  EXPECT_NEAR(Micros(limits.device_slack), 5000, 600);
}

// rank 0  |10 a|--- waits -----|own 80|
// rank 1  |5000 b, then a      |own 80|
TEST(SteadyStepTest, TheRankThatTheOthersWaitForIsShown) {
  const StepResult steady = SteadyOf(R"(stepcast-graph 1
rank 0 @0+5200
  thread main
    op "a" @0+20
      call launch "launch" @10+4
        s7: collective kind=all_reduce @20+5100 #a0
    call stream_sync "sync" @30+5100 #c0
  wait #a0 -> #c0
rank 1 @0+5200
  thread main
    op "b" @0+5000
    op "a" @5000+30
      call launch "launch" @5010+4
        s7: collective kind=all_reduce @5020+100 #a1
    call stream_sync "sync" @5040+90 #c1
  wait #a1 -> #c1
collective all_reduce #a0 #a1
)");
  const StepLimits limits = FindLimits(steady);
  EXPECT_EQ(steady.slowest_account().rank, 1);
  EXPECT_EQ(limits.rank, 1);
  EXPECT_EQ(limits.bound, LimitKind::kRanks);
  ASSERT_NE(limits.Find(LimitKind::kRanks), nullptr);
  EXPECT_NEAR(Micros(limits.Find(LimitKind::kRanks)->slack), 5000, 100);
}

}  // namespace
}  // namespace stepcast::engine

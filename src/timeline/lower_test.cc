#include "timeline/lower.h"

#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph_testing.h"
#include "sim/simulate.h"
#include "timeline/predicted_plan.h"

namespace stepcast::timeline {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Duration Us(int64_t count) {
  return std::chrono::microseconds(count);
}

// Every call takes 1 us, with nothing between them.
HostPlan CallsOnly(const ir::GraphData& data) {
  HostPlan plan;
  plan.threads =
      IdVector<ir::ThreadId, std::vector<HostSegment>>(data.threads.size());
  plan.starts = IdVector<ir::ThreadId, Duration>(data.threads.size());
  for (const ir::CallId id : data.calls.ids()) {
    plan.threads[data.calls[id].thread].push_back(
        {.kind = cost::HostKind::kCall, .call = id, .duration = Us(1)});
  }
  return plan;
}

ActivityTimes AllTake(const ir::GraphData& data, int64_t us,
                      const DeviceDelays& delays = {}) {
  return UniformTimes(
      data, IdVector<ir::ActivityId, Duration>(data.activities.size(), Us(us)),
      delays);
}

// A lowered graph and its schedule.
struct Outcome {
  Lowered lowered;
  sim::Schedule schedule;

  double StartOf(uint32_t activity) const {
    return ToMicroseconds(
        schedule.placements[lowered.activity_tasks[ir::ActivityId{activity}]]
            .start);
  }
  std::vector<double> Starts() const {
    std::vector<double> starts;
    for (const ir::ActivityId id : lowered.activity_tasks.ids()) {
      starts.push_back(StartOf(id.value));
    }
    return starts;
  }
  double EndOf(uint32_t rank, size_t repeat = 0) const {
    return ToMicroseconds(
        schedule.placements[lowered.rank_ends[repeat][ir::RankId{rank}]].end);
  }
};

Outcome LowerAndRun(const ir::Graph& graph, const HostPlan& plan,
                    const ActivityTimes& times,
                    const LowerOptions& options = {}) {
  auto lowered = Lower(graph, plan, times, options);
  EXPECT_TRUE(lowered) << lowered.error().message;
  Outcome run;
  run.lowered = *std::move(lowered);
  run.schedule = Simulate(run.lowered.tasks);
  return run;
}

constexpr std::string_view kThreeLaunches = R"(stepcast-graph 1
rank 0
  thread main
    call launch "launch"
      s7: gemm m=1
    call launch "launch"
      s7: gemm m=2
    call launch "launch"
      s7: gemm m=3
)";

// host   [0-1][1-2][2-3]
// s7            ~4~[4-14]_2_[16-26]_2_[28-38]      a launch takes 4 us
TEST(LowerTest, ActivitiesStartALaunchAfterTheStartOfTheirCallAndAGapApart) {
  const ir::Graph graph = ir::GraphOf(kThreeLaunches);
  const Outcome run =
      LowerAndRun(graph, CallsOnly(graph.data()),
                  AllTake(graph.data(), 10, {.launch = Us(4), .gap = Us(2)}));
  EXPECT_THAT(run.Starts(), ElementsAre(4, 16, 28));
  EXPECT_EQ(run.EndOf(0), 3);  // The host does not wait.
}

// host   [0-1]     [10-11]     [20-21]     30
// s7     [0-10    ][10-20     ][20-30     ]
TEST(LowerTest, ASynchronousCallReturnsWhenItsWorkIsDone) {
  const ir::Graph graph = ir::GraphOf(kThreeLaunches);
  const Outcome run =
      LowerAndRun(graph, CallsOnly(graph.data()), AllTake(graph.data(), 10),
                  {.synchronous = true});
  EXPECT_THAT(run.Starts(), ElementsAre(0, 10, 20));
  EXPECT_EQ(run.EndOf(0), 30);
}

// With room for two, the third call waits for the end of the first activity,
// then takes its 1 us: host   [0-1][1-2]        [10-11] s7     [0-10
// ][10-20][20-30]
TEST(LowerTest, ALaunchBlocksWhileItsQueueIsFull) {
  const ir::Graph graph = ir::GraphOf(kThreeLaunches);
  const Outcome run =
      LowerAndRun(graph, CallsOnly(graph.data()), AllTake(graph.data(), 10),
                  {.launch_queue = 2});
  EXPECT_EQ(run.EndOf(0), 11);
  EXPECT_THAT(run.Starts(), ElementsAre(0, 10, 20));
  const Outcome unlimited =
      LowerAndRun(graph, CallsOnly(graph.data()), AllTake(graph.data(), 10),
                  {.launch_queue = 0});
  EXPECT_EQ(unlimited.EndOf(0), 3);
}

// One call, three activities, of which one is on another stream:
// host   [0-1][1-2]
// s7       ~1~[1-6][6-11]          and the next call's [11-16]
// s9       ~1~[1-6]
TEST(LowerTest, AGraphLaunchStartsManyActivitiesAndTakesOnePlaceInTheQueue) {
  const ir::Graph graph = ir::GraphOf(R"(stepcast-graph 1
rank 0
  thread main
    call graph_launch "cudaGraphLaunch"
      s7: gemm m=1
      s7: gemm m=2
      s9: gemm m=3
    call launch "launch"
      s7: gemm m=4
)");
  const Outcome run = LowerAndRun(graph, CallsOnly(graph.data()),
                                  AllTake(graph.data(), 5, {.launch = Us(1)}),
                                  {.launch_queue = 2});
  EXPECT_THAT(run.Starts(), ElementsAre(1, 6, 11, 1));
  EXPECT_EQ(run.EndOf(0), 2);
}

// host   [0-1][sync 1 ...      10][tail 10-13]
// s7     [0-10             ]
TEST(LowerTest, ASyncReturnsItsTailAfterTheActivity) {
  const ir::Graph graph = ir::GraphOf(R"(stepcast-graph 1
rank 0
  thread main
    call launch "launch"
      s7: gemm m=1 #w
    call stream_sync "sync" #c
  wait #w -> #c
)");
  HostPlan plan = CallsOnly(graph.data());
  plan.threads[ir::ThreadId{0}][1].tail = Us(3);
  EXPECT_EQ(LowerAndRun(graph, plan, AllTake(graph.data(), 10)).EndOf(0), 13);
  // A short work is done before the sync: 1 + 1 + 3.
  EXPECT_EQ(LowerAndRun(graph, plan, AllTake(graph.data(), 1)).EndOf(0), 5);
}

// s7    [0-10   ]
// s9             ~2~[12-22]     launched at 1
TEST(LowerTest, AStreamWaitsForAnotherAndALittleMore) {
  const ir::Graph graph = ir::GraphOf(R"(stepcast-graph 1
rank 0
  thread main
    call launch "launch"
      s7: gemm m=1 #a
    call launch "launch"
      s9: gemm m=2 #b
  wait #a -> #b
)");
  const Outcome run =
      LowerAndRun(graph, CallsOnly(graph.data()),
                  AllTake(graph.data(), 10, {.stream_wait = Us(2)}));
  EXPECT_THAT(run.Starts(), ElementsAre(0, 12));
}

TEST(LowerTest, ContentionHoldsAnActivityBackAndLetsItStartInTheLastWave) {
  const ir::Graph graph = ir::GraphOf(R"(stepcast-graph 1
rank 0
  thread main
    call launch "launch"
      s7: gemm m=1
    call launch "launch"
      s9: gemm m=2
)");
  ActivityTimes times = AllTake(graph.data(), 10);
  times.contentions = {{.before = ir::ActivityId{0},
                        .after = ir::ActivityId{1},
                        .delay = Us(-3)}};
  const Outcome run = LowerAndRun(graph, CallsOnly(graph.data()), times);
  EXPECT_THAT(run.Starts(), ElementsAre(0, 7));
}

// main      [0-1][handoff 1-1  ]                [goes on 6-7]
// autograd                      [backward 1-6  ]
TEST(LowerTest, AThreadStartsWhenItIsGivenTheWork) {
  const ir::Graph graph = ir::GraphOf(R"(stepcast-graph 1
rank 0
  thread main
    op "forward"
    op "optimizer"
  thread autograd
    op "backward"
)");
  HostPlan plan;
  const auto segment = [](uint32_t op, int64_t us) {
    return HostSegment{.kind = cost::HostKind::kNoLaunch,
                       .op = ir::OpId{op},
                       .duration = Us(us)};
  };
  plan.threads.push_back({segment(0, 1), segment(1, 1)});
  plan.threads.push_back({segment(2, 5)});
  plan.starts = IdVector<ir::ThreadId, Duration>(2, Us(90));
  plan.starts[ir::ThreadId{0}] = {};
  plan.handoffs = {{.from = ir::ThreadId{0},
                    .from_segment = 0,
                    .to = ir::ThreadId{1},
                    .to_segment = 0},
                   {.from = ir::ThreadId{1},
                    .from_segment = 0,
                    .to = ir::ThreadId{0},
                    .to_segment = 1}};
  // A thread that is handed work does not wait for its measured start.
  EXPECT_EQ(LowerAndRun(graph, plan, {}).EndOf(0), 7);
}

// What the first repeat leaves after delays the second, but the work of the
// step before the first is there once.
// host   [0-1][1-2]
// s7     [old 0-10][0: 10-20][1: 20-30]
TEST(LowerTest, RepeatsRunBackToBackOnEveryLane) {
  const ir::Graph graph = ir::GraphOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    call launch "launch" @5+1
      s7: gemm m=2 @20+10
  s7: gemm m=1 @0+10
)");
  const Outcome run = LowerAndRun(graph, CallsOnly(graph.data()),
                                  AllTake(graph.data(), 10), {.repeats = 2});
  ASSERT_EQ(run.lowered.rank_ends.size(), 2);
  EXPECT_EQ(run.EndOf(0, 0), 1);
  EXPECT_EQ(run.EndOf(0, 1), 2);
  EXPECT_EQ(ToMicroseconds(run.schedule.makespan), 30);
}

constexpr std::string_view kTwoRanks = R"(stepcast-graph 1
rank 0 @0+100
  thread main
    call launch "launch" @1+1
      s7: collective kind=all_reduce @2+1 #a
rank 1 @40+100
  thread main
    call launch "launch" @1+1
      s7: collective kind=all_reduce @2+1 #b
collective all_reduce #a #b
)";

TEST(LowerTest, RanksStartWhereTheyWereMeasuredToOrAllAtOnce) {
  const ir::Graph graph = ir::GraphOf(kTwoRanks);
  const Outcome offsets =
      LowerAndRun(graph, CallsOnly(graph.data()), AllTake(graph.data(), 10));
  EXPECT_EQ(offsets.StartOf(0), 0);
  EXPECT_EQ(offsets.StartOf(1), 40);
  EXPECT_EQ(ToMicroseconds(offsets.schedule.makespan), 50);
  const Outcome together =
      LowerAndRun(graph, CallsOnly(graph.data()), AllTake(graph.data(), 10),
                  {.rank_offsets = false});
  EXPECT_EQ(together.StartOf(1), 0);
  EXPECT_EQ(ToMicroseconds(together.schedule.makespan), 10);
}

// Each rank's stream is blocked by a collective that the other one has after.
TEST(LowerTest, CollectivesInDifferentOrderAreNamedAsADeadlock) {
  const ir::Graph graph = ir::GraphOf(R"(stepcast-graph 1
rank 0
  thread main
    call launch "launch"
      s7: collective kind=all_reduce "reduce" #a0
    call launch "launch"
      s7: collective kind=all_to_all "exchange" #b0
rank 1
  thread main
    call launch "launch"
      s7: collective kind=all_to_all "exchange" #b1
    call launch "launch"
      s7: collective kind=all_reduce "reduce" #a1
collective all_reduce #a0 #a1
collective all_to_all #b0 #b1
)");
  const auto lowered =
      Lower(graph, CallsOnly(graph.data()), AllTake(graph.data(), 10), {});
  ASSERT_FALSE(lowered);
  EXPECT_THAT(lowered.error().message, HasSubstr("rank 0's reduce"));
  EXPECT_THAT(lowered.error().message, HasSubstr("rank 1's exchange"));
  EXPECT_THAT(lowered.error().message, HasSubstr("one rank alone with --rank"));
}

TEST(LowerTest, AFullQueueDoesNotKeepASecondForwardPassFromTheFirstBackward) {
  // f2's launch waits until b1 has left the queue. If the handoff of b1 came
  // after all of the main thread's forward pass, b1 would in turn wait for f2.
  const ir::Graph graph = ir::GraphOf(R"(stepcast-graph 1
rank 0
  thread main
    op "f1" phase=forward
      call launch "launch"
        s7[0]: gemm m=1
    op "f2" phase=forward
      call launch "launch"
        s7[2]: gemm m=1
  thread autograd
    op "b1" phase=backward
      call launch "launch"
        s7[1]: gemm m=1
    op "b2" phase=backward
      call launch "launch"
        s7[3]: gemm m=1
)");
  const auto lowered = Lower(graph, OrderedPlan(graph.data()),
                             AllTake(graph.data(), 10), {.launch_queue = 1});
  EXPECT_TRUE(lowered) << lowered.error().message;
}

TEST(LowerTest, ARankWithoutThreadsHasNoEnd) {
  const ir::Graph graph = ir::GraphOf(R"(stepcast-graph 1
rank 0 @0+100
  s7: gemm m=1 @5+10
)");
  const Outcome run =
      LowerAndRun(graph, CallsOnly(graph.data()), AllTake(graph.data(), 10));
  EXPECT_FALSE(run.lowered.rank_ends[0][ir::RankId{0}].valid());
}

}  // namespace
}  // namespace stepcast::timeline

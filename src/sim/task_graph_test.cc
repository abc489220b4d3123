#include "sim/task_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/tasks_testing.h"

namespace stepcast::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(TaskGraphTest, AnEmptyGraphHasNothingToOrder) {
  const TaskGraph graph = NamedTasks().Build();
  EXPECT_THAT(graph.order(), IsEmpty());
  EXPECT_EQ(graph.lane_count(), 0);
}

TEST(TaskGraphTest, EachLaneLinksItsOwnTasksInTheOrderOfAdding) {
  NamedTasks tasks;
  const LaneId host = tasks.AddLane();
  const LaneId stream = tasks.AddLane();
  const TaskId a = tasks.Add("a", host, 1);
  const TaskId b = tasks.Add("b", stream, 1);
  const TaskId c = tasks.Add("c", host, 1);
  const TaskGraph graph = std::move(tasks).Build();
  EXPECT_FALSE(graph.previous(a).valid());
  EXPECT_FALSE(graph.previous(b).valid());
  EXPECT_EQ(graph.previous(c), a);
}

TEST(TaskGraphTest, WaitsAreSortedByTheTaskWaitedForThenByKind) {
  NamedTasks tasks;
  const TaskId a = tasks.Add("a", tasks.AddLane(), 1);
  const TaskId b = tasks.Add("b", tasks.AddLane(), 1);
  const TaskId c = tasks.Add("c", tasks.AddLane(), 1);
  tasks.Wait(b, c, 0, 1);
  tasks.Wait(a, c, 0, 9);
  tasks.Wait(a, c, 0, 2);
  const TaskGraph graph = std::move(tasks).Build();
  std::vector<std::pair<TaskId, int>> waits;
  for (const Dependency& wait : graph.waits(c)) {
    waits.emplace_back(wait.before, wait.kind);
  }
  EXPECT_THAT(waits,
              ElementsAre(std::pair(a, 2), std::pair(a, 9), std::pair(b, 1)));
  EXPECT_THAT(graph.waits(a), IsEmpty());
}

// Adding order: kernel, launch, sync; the kernel waits for its launch.
TEST(TaskGraphTest, ATaskMayWaitForOneThatWasAddedLater) {
  NamedTasks tasks;
  const LaneId host = tasks.AddLane();
  const TaskId kernel = tasks.Add("kernel", tasks.AddLane(), 1);
  const TaskId launch = tasks.Add("launch", host, 1);
  const TaskId sync = tasks.Add("sync", host, 1);
  tasks.Wait(launch, kernel);
  const TaskGraph graph = std::move(tasks).Build();
  // Once the launch is placed, the kernel has the smallest id again.
  EXPECT_THAT(graph.order(), ElementsAre(launch, kernel, sync));
}

// rank 0: [a0][m0][b0]
// rank 1: [a1][m1]         b0 stands after m1 although it waits for m0 only
TEST(TaskGraphTest, WhatWaitsForAMemberComesAfterAllOfThem) {
  NamedTasks tasks;
  const RendezvousId rendezvous = tasks.AddRendezvous();
  const LaneId rank0 = tasks.AddLane();
  const LaneId rank1 = tasks.AddLane();
  const TaskId a0 = tasks.Add("a0", rank0, 1);
  const TaskId m0 = tasks.Add("m0", rank0, 1, {.rendezvous = rendezvous});
  const TaskId b0 = tasks.Add("b0", rank0, 1);
  const TaskId a1 = tasks.Add("a1", rank1, 1);
  const TaskId m1 = tasks.Add("m1", rank1, 1, {.rendezvous = rendezvous});
  const TaskGraph graph = std::move(tasks).Build();
  EXPECT_THAT(graph.order(), ElementsAre(a0, m0, a1, m1, b0));
  EXPECT_THAT(graph.members(rendezvous), ElementsAre(m0, m1));
  EXPECT_EQ(graph.closer(rendezvous), m1);
}

TEST(TaskGraphTest, ARendezvousThatNobodyJoinsHoldsNobodyUp) {
  NamedTasks tasks;
  const RendezvousId rendezvous = tasks.AddRendezvous();
  const TaskId a = tasks.Add("a", tasks.AddLane(), 1);
  const TaskGraph graph = std::move(tasks).Build();
  EXPECT_THAT(graph.order(), ElementsAre(a));
  EXPECT_THAT(graph.members(rendezvous), IsEmpty());
  EXPECT_FALSE(graph.closer(rendezvous).valid());
}

// rank 0: [all_to_all ][all_reduce ]
// rank 1: [all_reduce ][all_to_all ]   each waits for the other for ever
TEST(TaskGraphTest, RanksThatSwapTwoCollectivesAreADeadlock) {
  NamedTasks tasks;
  const RendezvousId all_to_all = tasks.AddRendezvous();
  const RendezvousId all_reduce = tasks.AddRendezvous();
  const LaneId rank0 = tasks.AddLane();
  const LaneId rank1 = tasks.AddLane();
  tasks.Add("rank 0 all_to_all", rank0, 1, {.rendezvous = all_to_all});
  tasks.Add("rank 0 all_reduce", rank0, 1, {.rendezvous = all_reduce});
  tasks.Add("rank 1 all_reduce", rank1, 1, {.rendezvous = all_reduce});
  tasks.Add("rank 1 all_to_all", rank1, 1, {.rendezvous = all_to_all});
  const auto graph = std::move(tasks).TryBuild();
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message,
            "tasks form a dependency cycle: "
            "rank 0 all_reduce runs after rank 0 all_to_all, "
            "which is in a rendezvous with rank 1 all_to_all, "
            "which runs after rank 1 all_reduce, "
            "which is in a rendezvous with rank 0 all_reduce");
}

TEST(TaskGraphTest, TheMessageLeavesOutWhatOnlyWaitsForTheCycle) {
  NamedTasks tasks;
  const TaskId outside = tasks.Add("outside", tasks.AddLane(), 1);
  const TaskId a = tasks.Add("a", tasks.AddLane(), 1);
  const TaskId b = tasks.Add("b", tasks.AddLane(), 1);
  tasks.Wait(a, outside);
  tasks.Wait(a, b);
  tasks.Wait(b, a);
  const auto graph = std::move(tasks).TryBuild();
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message,
            "tasks form a dependency cycle: a waits for b, which waits for a");
}

TEST(TaskGraphTest, ATaskThatWaitsForItselfIsACycle) {
  NamedTasks tasks;
  const TaskId a = tasks.Add("a", tasks.AddLane(), 1);
  tasks.Wait(a, a);
  const auto graph = std::move(tasks).TryBuild();
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message,
            "tasks form a dependency cycle: a waits for a");
}

TEST(TaskGraphTest, TwoMembersOfARendezvousOnOneLaneAreACycle) {
  NamedTasks tasks;
  const RendezvousId rendezvous = tasks.AddRendezvous();
  const LaneId lane = tasks.AddLane();
  tasks.Add("a", lane, 1, {.rendezvous = rendezvous});
  tasks.Add("b", lane, 1, {.rendezvous = rendezvous});
  const auto graph = std::move(tasks).TryBuild();
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message,
            "tasks form a dependency cycle: b runs after a, which is in a "
            "rendezvous with b");
}

TEST(TaskGraphTest, TheMessageOfALongCycleStopsAfterEightTasks) {
  NamedTasks tasks;
  std::vector<TaskId> ids;
  for (int i = 0; i < 100; ++i) {
    ids.push_back(tasks.Add(std::to_string(i), tasks.AddLane(), 1));
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    tasks.Wait(ids[(i + 1) % ids.size()], ids[i]);
  }
  const auto graph = std::move(tasks).TryBuild();
  ASSERT_FALSE(graph);
  EXPECT_EQ(graph.error().message,
            "tasks form a dependency cycle: 0 waits for 1, which "
            "waits for 2, which waits for 3, which waits for 4, which waits "
            "for 5, which waits for 6, which waits for 7, which waits for 8, "
            "and so on over 91 more tasks, back to 0");
}

TEST(TaskGraphDeathTest, TimesAreNeverNegative) {
  NamedTasks tasks;
  tasks.Add("a", tasks.AddLane(), -1);
  EXPECT_DEATH(std::move(tasks).Build(), "duration");
}

}  // namespace
}  // namespace stepcast::sim

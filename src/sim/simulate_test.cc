#include "sim/simulate.h"

#include <vector>

#include <gtest/gtest.h>

#include "sim/tasks_testing.h"

namespace stepcast::sim {
namespace {

TEST(SimulateTest, AnEmptyGraphTakesNoTime) {
  const Schedule schedule = Simulate(NamedTasks().Build());
  EXPECT_EQ(schedule.makespan, Us(0));
  EXPECT_FALSE(schedule.last.valid());
}

// lane 0: [a 3us][b 2us]
// lane 1: [c 4us]
TEST(SimulateTest, ALaneRunsItsTasksOneAfterAnotherAndLanesRunAtOnce) {
  NamedTasks tasks;
  const LaneId lane0 = tasks.AddLane();
  const TaskId a = tasks.Add("a", lane0, 3);
  const TaskId b = tasks.Add("b", lane0, 2);
  const TaskId c = tasks.Add("c", tasks.AddLane(), 4);
  const Schedule schedule = Simulate(std::move(tasks).Build());
  EXPECT_EQ(schedule.placements[a].cause, Cause::kNone);
  EXPECT_EQ(schedule.placements[b].start, Us(3));
  EXPECT_EQ(schedule.placements[b].cause, Cause::kLane);
  EXPECT_EQ(schedule.placements[b].blocker, a);
  EXPECT_EQ(schedule.placements[c].start, Us(0));
  EXPECT_EQ(schedule.makespan, Us(5));
  EXPECT_EQ(schedule.last, b);
}

// host:   [launch 3us]
// stream:             ~4us~[kernel 2us]      3 + 4 + 2
TEST(SimulateTest, ADependencyHoldsTheTaskForItsDelay) {
  NamedTasks tasks;
  const TaskId launch = tasks.Add("launch", tasks.AddLane(), 3);
  const TaskId kernel = tasks.Add("kernel", tasks.AddLane(), 2);
  tasks.Wait(launch, kernel, 4, 17);
  const Schedule schedule = Simulate(std::move(tasks).Build());
  const Placement& placement = schedule.placements[kernel];
  EXPECT_EQ(placement.start, Us(7));
  EXPECT_EQ(placement.end, Us(9));
  EXPECT_EQ(placement.cause, Cause::kDependency);
  EXPECT_EQ(placement.blocker, launch);
  EXPECT_EQ(placement.kind, 17);
}

// stream 0: [a 10us          ]
// stream 1:           [b 3us]       may start 4 us before the end of a
// stream 2: [c 1us]                 may start 20 us before, but not before a
TEST(SimulateTest, ANegativeDelayLetsATaskStartBeforeTheOtherEnds) {
  NamedTasks tasks;
  const TaskId a = tasks.Add("a", tasks.AddLane(), 10, {.release_us = 2});
  const TaskId b = tasks.Add("b", tasks.AddLane(), 3);
  const TaskId c = tasks.Add("c", tasks.AddLane(), 1);
  tasks.Wait(a, b, -4);
  tasks.Wait(a, c, -20);
  const Schedule schedule = Simulate(std::move(tasks).Build());
  // a runs from 2 to 12.
  EXPECT_EQ(schedule.placements[b].start, Us(8));
  EXPECT_EQ(schedule.placements[b].cause, Cause::kDependency);
  EXPECT_EQ(schedule.placements[c].start, Us(2));
  EXPECT_EQ(schedule.placements[c].blocker, a);
}

// stream: [a 5us]_2us_[b 1us]                b starts at 5 + 2
// host:      [launch of b, done at 6us]      hidden behind the gap
TEST(SimulateTest, TheGapCountsFromTheEndOfTheTaskBefore) {
  NamedTasks tasks;
  const LaneId stream = tasks.AddLane();
  const TaskId a = tasks.Add("a", stream, 5, {.gap_us = 9});
  const TaskId launch = tasks.Add("launch", tasks.AddLane(), 6);
  const TaskId b = tasks.Add("b", stream, 1, {.gap_us = 2});
  tasks.Wait(launch, b);
  const Schedule schedule = Simulate(std::move(tasks).Build());
  // The first task of a lane has nothing to keep a gap from.
  EXPECT_EQ(schedule.placements[a].start, Us(0));
  EXPECT_EQ(schedule.placements[b].start, Us(7));
  EXPECT_EQ(schedule.placements[b].cause, Cause::kLane);
}

// lane: ......[a 1us][b 1us]     a is released at 6 us, b at 3 us: too early
TEST(SimulateTest, AReleaseTimeHoldsATaskOnlyWhileNothingElseDoes) {
  NamedTasks tasks;
  const LaneId lane = tasks.AddLane();
  const TaskId a = tasks.Add("a", lane, 1, {.release_us = 6});
  const TaskId b = tasks.Add("b", lane, 1, {.release_us = 3});
  const Schedule schedule = Simulate(std::move(tasks).Build());
  EXPECT_EQ(schedule.placements[a].start, Us(6));
  EXPECT_EQ(schedule.placements[a].cause, Cause::kRelease);
  EXPECT_FALSE(schedule.placements[a].blocker.valid());
  EXPECT_EQ(schedule.placements[b].start, Us(7));
  EXPECT_EQ(schedule.placements[b].cause, Cause::kLane);
}

TEST(SimulateTest, AReleaseAfterADependencyForgetsTheDependency) {
  NamedTasks tasks;
  const TaskId a = tasks.Add("a", tasks.AddLane(), 1);
  const TaskId b = tasks.Add("b", tasks.AddLane(), 1, {.release_us = 2});
  tasks.Wait(a, b, 0, 17);
  const Schedule schedule = Simulate(std::move(tasks).Build());
  EXPECT_EQ(schedule.placements[b].cause, Cause::kRelease);
  EXPECT_FALSE(schedule.placements[b].blocker.valid());
  EXPECT_EQ(schedule.placements[b].kind, 0);
}

// Four causes, all at 4 us: the lane (d), dependencies on b and c, a release.
TEST(SimulateTest, OfCausesAtTheSameTimeTheLaneWinsThenTheSmallestId) {
  for (const bool with_lane : {false, true}) {
    NamedTasks tasks;
    const TaskId b = tasks.Add("b", tasks.AddLane(), 4);
    const TaskId c = tasks.Add("c", tasks.AddLane(), 4);
    const LaneId lane = tasks.AddLane();
    const TaskId d = with_lane ? tasks.Add("d", lane, 4) : TaskId{};
    const TaskId e = tasks.Add("e", lane, 1, {.release_us = 4});
    tasks.Wait(c, e, 0, 1);
    tasks.Wait(b, e, 0, 2);
    const Schedule schedule = Simulate(std::move(tasks).Build());
    const Placement& placement = schedule.placements[e];
    EXPECT_EQ(placement.start, Us(4));
    EXPECT_EQ(placement.cause, with_lane ? Cause::kLane : Cause::kDependency);
    EXPECT_EQ(placement.blocker, with_lane ? d : b);
    EXPECT_EQ(placement.kind, with_lane ? 0 : 2);
  }
}

TEST(SimulateTest, OfTasksThatEndLastTheFirstByIdIsNamed) {
  NamedTasks tasks;
  tasks.Add("a", tasks.AddLane(), 1);
  const TaskId b = tasks.Add("b", tasks.AddLane(), 4);
  tasks.Add("c", tasks.AddLane(), 4);
  EXPECT_EQ(Simulate(std::move(tasks).Build()).last, b);
}

// rank 0: [compute 10us      ][all_to_all 3us]
// rank 1: [compute 4us][waits][all_to_all 5us  ][next 1us]
TEST(SimulateTest, ARendezvousBeginsWithItsLastMemberAndEachEndsByItself) {
  NamedTasks tasks;
  const RendezvousId rendezvous = tasks.AddRendezvous();
  const LaneId rank0 = tasks.AddLane();
  const LaneId rank1 = tasks.AddLane();
  const TaskId compute1 = tasks.Add("compute", rank1, 4);
  const TaskId member1 =
      tasks.Add("all_to_all", rank1, 5, {.rendezvous = rendezvous});
  const TaskId next = tasks.Add("next", rank1, 1);
  tasks.Add("compute", rank0, 10);
  const TaskId member0 =
      tasks.Add("all_to_all", rank0, 3, {.rendezvous = rendezvous});
  const Schedule schedule = Simulate(std::move(tasks).Build());
  EXPECT_EQ(schedule.placements[member0].start, Us(10));
  EXPECT_EQ(schedule.placements[member0].run, Us(10));
  EXPECT_EQ(schedule.placements[member0].end, Us(13));
  EXPECT_EQ(schedule.placements[member1].start, Us(4));
  EXPECT_EQ(schedule.placements[member1].blocker, compute1);
  EXPECT_EQ(schedule.placements[member1].run, Us(10));
  EXPECT_EQ(schedule.placements[member1].end, Us(15));
  EXPECT_EQ(schedule.placements[next].start, Us(15));
  EXPECT_EQ(schedule.makespan, Us(16));
}

TEST(SimulateTest, ARendezvousOfOneNeverWaits) {
  NamedTasks tasks;
  const TaskId a =
      tasks.Add("a", tasks.AddLane(), 3, {.rendezvous = tasks.AddRendezvous()});
  const Schedule schedule = Simulate(std::move(tasks).Build());
  EXPECT_EQ(schedule.placements[a].run, Us(0));
  EXPECT_EQ(schedule.makespan, Us(3));
}

// lane: [a 3us -> 1us][b 2us -> 7us]
TEST(SimulateTest, OtherDurationsReplaceThoseOfTheTasks) {
  NamedTasks tasks;
  const LaneId lane = tasks.AddLane();
  tasks.Add("a", lane, 3);
  const TaskId b = tasks.Add("b", lane, 2);
  const TaskGraph graph = std::move(tasks).Build();
  Schedule schedule = Simulate(graph);
  EXPECT_EQ(schedule.makespan, Us(5));
  const std::vector<Duration> durations = {Us(1), Us(7)};
  Resimulate(graph, durations, schedule);
  EXPECT_EQ(schedule.placements[b].start, Us(1));
  EXPECT_EQ(schedule.makespan, Us(8));
  // A schedule of another graph, or none, will do as well.
  Schedule fresh;
  Resimulate(graph, durations, fresh);
  EXPECT_EQ(fresh.makespan, Us(8));
}

// lane 0: [a 3us]
// lane 1:        gap 1us, waits 2us after a [b 2us]
TEST(SimulateTest, TheGraphsOwnTimesGiveTheSameSchedule) {
  NamedTasks tasks;
  const TaskId a = tasks.Add("a", tasks.AddLane(), 3);
  const LaneId lane = tasks.AddLane();
  tasks.Add("first", lane, 1);
  const TaskId b = tasks.Add("b", lane, 2, {.gap_us = 1, .release_us = 4});
  tasks.Wait(a, b, 2, 1);
  const TaskGraph graph = std::move(tasks).Build();
  Schedule schedule;
  SimulateWith(graph, TimesOf(graph), schedule);
  EXPECT_EQ(schedule, Simulate(graph));
}

TEST(SimulateTest, GapsReleasesAndDelaysCanBeOthers) {
  NamedTasks tasks;
  const TaskId a = tasks.Add("a", tasks.AddLane(), 3);
  const LaneId lane = tasks.AddLane();
  tasks.Add("first", lane, 1);
  const TaskId b = tasks.Add("b", lane, 2);
  tasks.Wait(a, b, 2, 1);
  const TaskGraph graph = std::move(tasks).Build();
  Schedule schedule;
  TaskTimes times = TimesOf(graph);
  SimulateWith(graph, times, schedule);
  EXPECT_EQ(schedule.placements[b].start, Us(5));
  times.delays[0] = kNoWait;
  SimulateWith(graph, times, schedule);
  EXPECT_EQ(schedule.placements[b].start, Us(1));
  times.gaps[b.value] = Us(2);
  SimulateWith(graph, times, schedule);
  EXPECT_EQ(schedule.placements[b].start, Us(3));
  times.releases[b.value] = Us(9);
  SimulateWith(graph, times, schedule);
  EXPECT_EQ(schedule.placements[b].start, Us(9));
}

// rank 0: [compute 10us][all_to_all 3us]
// rank 1: [all_to_all 5us]
TEST(SimulateTest, MembersOfARendezvousThatIsApartDoNotWait) {
  NamedTasks tasks;
  const RendezvousId rendezvous = tasks.AddRendezvous();
  const LaneId rank0 = tasks.AddLane();
  tasks.Add("compute", rank0, 10);
  tasks.Add("all_to_all", rank0, 3, {.rendezvous = rendezvous});
  const TaskId member1 =
      tasks.Add("all_to_all", tasks.AddLane(), 5, {.rendezvous = rendezvous});
  const TaskGraph graph = std::move(tasks).Build();
  TaskTimes times = TimesOf(graph);
  times.apart[rendezvous.value] = 1;
  Schedule schedule;
  SimulateWith(graph, times, schedule);
  EXPECT_EQ(schedule.placements[member1].run, Us(0));
  EXPECT_EQ(schedule.placements[member1].end, Us(5));
}

TEST(SimulateDeathTest, EveryTaskNeedsADuration) {
  NamedTasks tasks;
  tasks.Add("a", tasks.AddLane(), 3);
  const TaskGraph graph = std::move(tasks).Build();
  Schedule schedule;
  EXPECT_DEATH(Resimulate(graph, {}, schedule), "0 durations for 1");
}

}  // namespace
}  // namespace stepcast::sim

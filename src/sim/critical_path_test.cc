#include "sim/critical_path.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/tasks_testing.h"

namespace stepcast::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::string_view Name(PathStep::Kind kind) {
  switch (kind) {
    case PathStep::Kind::kTask:
      return "task";
    case PathStep::Kind::kRelease:
      return "release";
    case PathStep::Kind::kGap:
      return "gap";
    case PathStep::Kind::kDelay:
      return "delay";
  }
  return "?";
}

/// One line per step: "task 2 from 3 to 4".
std::vector<std::string> Lines(const std::vector<PathStep>& path) {
  std::vector<std::string> lines;
  for (const PathStep& step : path) {
    lines.push_back(fmt::format("{} {} from {} to {}", Name(step.kind),
                                step.task.value, step.begin / Us(1),
                                step.end / Us(1)));
    if (step.kind == PathStep::Kind::kDelay) {
      lines.back() += fmt::format(" kind {}", step.dependency);
    }
    if (step.last_of_rendezvous) {
      lines.back() += " last of rendezvous";
    }
  }
  return lines;
}

std::vector<std::string> CriticalLines(const TaskGraph& graph) {
  return Lines(CriticalPath(graph, Simulate(graph)));
}

TEST(CriticalPathTest, NoTasksNoPath) {
  EXPECT_THAT(CriticalLines(NamedTasks().Build()), IsEmpty());
}

// host:   ..[0: launch 3us][1: launch 1us]
// stream:                      ~2us~[2: kernel 4us]_1us_[3: kernel 5us]
//         2 + 3 + 1 + 2 + 4 + 1 + 5 = 18 us; kernel 3 was launched long ago
TEST(CriticalPathTest, EveryKindOfWaitHasItsStep) {
  NamedTasks tasks;
  const LaneId host = tasks.AddLane();
  const LaneId stream = tasks.AddLane();
  tasks.Add("launch", host, 3, {.release_us = 2});
  const TaskId launch = tasks.Add("launch", host, 1);
  const TaskId kernel = tasks.Add("kernel", stream, 4);
  tasks.Add("kernel", stream, 5, {.gap_us = 1});
  tasks.Wait(launch, kernel, 2, 7);
  EXPECT_THAT(CriticalLines(std::move(tasks).Build()),
              ElementsAre("release 0 from 0 to 2", "task 0 from 2 to 5",
                          "task 1 from 5 to 6", "delay 2 from 6 to 8 kind 7",
                          "task 2 from 8 to 12", "gap 3 from 12 to 13",
                          "task 3 from 13 to 18"));
}

// lane: [0: 1us][1: 0us][2: 1us]
TEST(CriticalPathTest, TasksOfNoLengthStayOnThePath) {
  NamedTasks tasks;
  const LaneId lane = tasks.AddLane();
  tasks.Add("a", lane, 1);
  tasks.Add("b", lane, 0);
  tasks.Add("c", lane, 1);
  EXPECT_THAT(CriticalLines(std::move(tasks).Build()),
              ElementsAre("task 0 from 0 to 1", "task 1 from 1 to 1",
                          "task 2 from 1 to 2"));
}

// stream 0: [0: 10us          ]
// stream 1:           [1: 6us       ]     from 4 us before the end of 0
TEST(CriticalPathTest, ATaskCountsUntilTheNextMayStart) {
  NamedTasks tasks;
  const TaskId a = tasks.Add("a", tasks.AddLane(), 10);
  const TaskId b = tasks.Add("b", tasks.AddLane(), 6);
  tasks.Wait(a, b, -4);
  EXPECT_THAT(CriticalLines(std::move(tasks).Build()),
              ElementsAre("task 0 from 0 to 6", "task 1 from 6 to 12"));
}

// rank 0: [0: 4us][1 waits    ][1: 5us     ]
// rank 1: [2: 10us            ][3: 3us]
TEST(CriticalPathTest, AMemberThatWaitedLeadsToTheOneThatStartedLast) {
  NamedTasks tasks;
  const RendezvousId rendezvous = tasks.AddRendezvous();
  const LaneId rank0 = tasks.AddLane();
  const LaneId rank1 = tasks.AddLane();
  tasks.Add("compute", rank0, 4);
  tasks.Add("collective", rank0, 5, {.rendezvous = rendezvous});
  tasks.Add("compute", rank1, 10);
  const TaskId late =
      tasks.Add("collective", rank1, 3, {.rendezvous = rendezvous});
  const TaskGraph graph = std::move(tasks).Build();
  EXPECT_THAT(CriticalLines(graph),
              ElementsAre("task 2 from 0 to 10",
                          "task 3 from 10 to 10 last of rendezvous",
                          "task 1 from 10 to 15"));
  // The late one itself waited for nobody.
  EXPECT_THAT(Lines(PathTo(graph, Simulate(graph), late)),
              ElementsAre("task 2 from 0 to 10", "task 3 from 10 to 13"));
}

// rank 0: [0: 4us][1 waits    ][1: 5us     ]
// rank 1: [2: 10us            ]_1us_[3: 3us]
TEST(CriticalPathTest, ThePathToAStartLeavesOutWhatAMemberThenWaitsFor) {
  NamedTasks tasks;
  const RendezvousId rendezvous = tasks.AddRendezvous();
  const LaneId rank0 = tasks.AddLane();
  const LaneId rank1 = tasks.AddLane();
  const TaskId first = tasks.Add("compute", rank0, 4);
  const TaskId early =
      tasks.Add("collective", rank0, 5, {.rendezvous = rendezvous});
  tasks.Add("compute", rank1, 10);
  const TaskId late = tasks.Add("collective", rank1, 3,
                                {.gap_us = 1, .rendezvous = rendezvous});
  const TaskGraph graph = std::move(tasks).Build();
  const Schedule schedule = Simulate(graph);
  EXPECT_THAT(Lines(PathToStart(graph, schedule, early)),
              ElementsAre("task 0 from 0 to 4"));
  EXPECT_THAT(Lines(PathToStart(graph, schedule, late)),
              ElementsAre("task 2 from 0 to 10", "gap 3 from 10 to 11"));
  EXPECT_THAT(PathToStart(graph, schedule, first), IsEmpty());
}

// rank 0: [0: 1us][1 waits]
// rank 1: [2: 6us         ][3: 2us]
// rank 2: [4: 6us         ][5: 2us]
TEST(CriticalPathTest, OfMembersThatStartedLastTheSmallestIsBlamed) {
  NamedTasks tasks;
  const RendezvousId rendezvous = tasks.AddRendezvous();
  for (const int64_t compute_us : {1, 6, 6}) {
    const LaneId rank = tasks.AddLane();
    tasks.Add("compute", rank, compute_us);
    tasks.Add("collective", rank, 2, {.rendezvous = rendezvous});
  }
  const TaskGraph graph = std::move(tasks).Build();
  const Schedule schedule = Simulate(graph);
  EXPECT_THAT(
      Lines(PathTo(graph, schedule, TaskId{1})),
      ElementsAre("task 2 from 0 to 6", "task 3 from 6 to 6 last of rendezvous",
                  "task 1 from 6 to 8"));
  // One that did not wait keeps to its own lane.
  EXPECT_THAT(Lines(PathTo(graph, schedule, TaskId{5})),
              ElementsAre("task 4 from 0 to 6", "task 5 from 6 to 8"));
}

}  // namespace
}  // namespace stepcast::sim

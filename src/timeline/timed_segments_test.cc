#include "timeline/timed_segments.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph_testing.h"

namespace stepcast::timeline {
namespace {

using ir::GraphOf;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TimedThread Cut(const ir::Graph& graph, std::optional<Duration> step) {
  return CutThread(graph.data(), TopLevelOps(graph.data()), ir::ThreadId{0},
                   step);
}

TimedThread CutStep(const ir::Graph& graph) {
  return Cut(graph, graph.data().ranks[ir::RankId{0}].step->duration);
}

// "t2 aten::mm 10-20": kind, op and when; "-" where there is no op.
std::vector<std::string> Lines(const ir::Graph& graph,
                               const TimedThread& thread) {
  std::vector<std::string> lines;
  for (const TimedSegment& timed : thread.segments) {
    const ir::OpId op = timed.segment.op;
    lines.push_back(
        fmt::format("{} {} {}-{}", Name(timed.segment.kind),
                    op.valid() ? graph.text(graph.data().ops[op].name) : "-",
                    ToMicroseconds(timed.begin), ToMicroseconds(timed.end)));
  }
  return lines;
}

std::vector<uint32_t> EventsOf(const TimedThread& thread) {
  std::vector<uint32_t> events;
  for (const TimedSegment& timed : thread.segments) {
    events.push_back(timed.segment.events);
  }
  return events;
}

//   0      10     20  26     35  40   50     60     64        100
//   |--t1--|--t2--|t4|--t5--|t4|--t3--|--t1--|no_lau|---t1----|
//          '------- aten::addmm ------'      ' view '
constexpr std::string_view kTwoOps = R"(stepcast-graph 1
rank 0 @0+100
  thread main
    op "aten::addmm" @10+40
      op "aten::t" @12+3
      call launch "cudaLaunchKernel" @20+6
        s7: gemm m=1 @30+5
      call launch "cudaLaunchKernel" @35+5
        s7: gemm m=2 @40+5
    op "aten::view" @60+4
)";

TEST(TimedSegmentsTest, AStepIsCutAtTopLevelOpsAndCalls) {
  const ir::Graph graph = GraphOf(kTwoOps);
  EXPECT_THAT(Lines(graph, CutStep(graph)),
              ElementsAre("t1 aten::addmm 0-10", "t2 aten::addmm 10-20",
                          "t4 aten::addmm 20-26", "t5 aten::addmm 26-35",
                          "t4 aten::addmm 35-40", "t3 aten::addmm 40-50",
                          "t1 aten::view 50-60", "no_launch aten::view 60-64",
                          "t1 - 64-100"));
}

// The op and the one inside it start in t2, the calls in themselves.
TEST(TimedSegmentsTest, OpsAndCallsCountWhereTheyStart) {
  const ir::Graph graph = GraphOf(kTwoOps);
  EXPECT_THAT(EventsOf(CutStep(graph)), ElementsAre(0, 2, 1, 0, 1, 0, 0, 1, 0));
}

TEST(TimedSegmentsTest, ItemsKnowTheirSegments) {
  const ir::Graph graph = GraphOf(kTwoOps);
  const TimedThread thread = CutStep(graph);
  ASSERT_EQ(thread.items.size(), 2);
  EXPECT_EQ(thread.items[0].first_segment, 0);
  EXPECT_EQ(thread.items[0].last_segment, 5);
  EXPECT_EQ(ToMicroseconds(thread.items[0].start), 10);
  EXPECT_EQ(ToMicroseconds(thread.items[0].end), 50);
  EXPECT_EQ(thread.items[1].first_segment, 6);
  EXPECT_EQ(thread.items[1].last_segment, 7);
}

TEST(TimedSegmentsTest, WithoutAStepSegmentsGoFromTheFirstItemToTheLast) {
  const ir::Graph graph = GraphOf(kTwoOps);
  const std::vector<std::string> lines = Lines(graph, Cut(graph, std::nullopt));
  ASSERT_EQ(lines.size(), 8);
  EXPECT_EQ(lines.front(), "t1 aten::addmm 10-10");
  EXPECT_EQ(lines.back(), "no_launch aten::view 60-64");
}

//   0    5      9     20  22     30
//   |-t1-|a-----|-t1--|t4-|--t1--|
TEST(TimedSegmentsTest, ACallOutsideOfAllOpsIsAnItemOfItsOwn) {
  const ir::Graph graph = GraphOf(R"(stepcast-graph 1
rank 0 @0+30
  thread main
    op "a" @5+4
    call other "cudaMalloc" @20+2
)");
  const TimedThread thread = CutStep(graph);
  EXPECT_THAT(Lines(graph, thread),
              ElementsAre("t1 a 0-5", "no_launch a 5-9", "t1 - 9-20",
                          "t4 - 20-22", "t1 - 22-30"));
  EXPECT_TRUE(thread.segments[3].segment.call.valid());
  EXPECT_FALSE(thread.items[1].op.valid());
}

// A sync at 20 that returns at 70, of which it waited for the work until 60:
//   stream  ....[work 10-60            ]
//   host         [sync 20 ......       ....70]
//                 2 us entry            10 us tail
TEST(TimedSegmentsTest, ASyncKeepsItsEntryAndItsTailButNotWhatItBlocked) {
  const ir::Graph graph = GraphOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    call launch "cudaLaunchKernel" @2+3
      s7: gemm m=1 @10+50 #w
    call stream_sync "cudaStreamSynchronize" @20+50 #c
  wait #w -> #c
)");
  const TimedThread thread = CutStep(graph);
  const HostSegment& sync = thread.segments[3].segment;
  EXPECT_EQ(ToMicroseconds(sync.duration), 2);
  EXPECT_EQ(ToMicroseconds(sync.tail), 10);
  EXPECT_EQ(ToMicroseconds(thread.segments[3].end), 70);
}

TEST(TimedSegmentsTest, ASyncAfterTheEndOfTheActivityWaitsForNothing) {
  const ir::Graph graph = GraphOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    call launch "cudaLaunchKernel" @2+3
      s7: gemm m=1 @6+10 #w
    call stream_sync "cudaStreamSynchronize" @20+5 #c
  wait #w -> #c
)");
  const HostSegment sync = CutStep(graph).segments[3].segment;
  EXPECT_EQ(ToMicroseconds(sync.duration), 5);
  EXPECT_EQ(sync.tail, Duration{});
}

// Clocks of host and device differ a little: the work ends after the return.
TEST(TimedSegmentsTest, AnActivityThatEndsAfterTheReturnLeavesNoTail) {
  const ir::Graph graph = GraphOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    call launch "cudaLaunchKernel" @2+3
      s7: gemm m=1 @10+50 #w
    call stream_sync "cudaStreamSynchronize" @20+30 #c
  wait #w -> #c
)");
  const HostSegment sync = CutStep(graph).segments[3].segment;
  EXPECT_EQ(ToMicroseconds(sync.duration), 2);
  EXPECT_EQ(sync.tail, Duration{});
}

// Coarse clocks let ops begin before the one before has ended; the step ends
// inside the last one.
TEST(TimedSegmentsTest, SegmentsNeverOverlapNorLeaveTheStep) {
  const ir::Graph graph = GraphOf(R"(stepcast-graph 1
rank 0 @0+30
  thread main
    op "a" @0+10
    op "b" @8+5
    op "c" @25+20
)");
  EXPECT_THAT(Lines(graph, CutStep(graph)),
              ElementsAre("t1 a 0-0", "no_launch a 0-10", "t1 b 10-10",
                          "no_launch b 10-13", "t1 c 13-25",
                          "no_launch c 25-30", "t1 - 30-30"));
}

TEST(TimedSegmentsTest, WhatHasNoStartIsCounted) {
  const ir::Graph graph = GraphOf(R"(stepcast-graph 1
rank 0 @0+30
  thread main
    op "a"
    op "b" @5+5
    call launch "cudaLaunchKernel" @+5
)");
  const TimedThread thread = CutStep(graph);
  EXPECT_EQ(thread.unplaced, 2);
  EXPECT_THAT(Lines(graph, thread),
              ElementsAre("t1 b 0-5", "no_launch b 5-10", "t1 - 10-30"));
}

TEST(TimedSegmentsTest, AThreadThatDoesNothingHasNoSegments) {
  const ir::Graph graph = GraphOf(R"(stepcast-graph 1
rank 0 @0+30
  thread main
)");
  EXPECT_THAT(Cut(graph, std::nullopt).segments, IsEmpty());
  EXPECT_THAT(Lines(graph, CutStep(graph)), ElementsAre("t1 - 0-30"));
}

}  // namespace
}  // namespace stepcast::timeline

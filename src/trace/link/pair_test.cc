#include "trace/link/pair.h"

#include <initializer_list>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/read/oddities.h"

namespace stepcast::trace {
namespace {

using std::chrono::microseconds;
using ::testing::ElementsAre;

Rules LoadRules() {
  auto rules = Rules::Load();
  EXPECT_TRUE(rules) << rules.error().message;
  return *std::move(rules);
}

// A thread whose ops follow each other every 10 us.
void AddOps(ProfilerTrace& trace, uint32_t thread,
            std::initializer_list<std::string_view> names) {
  while (trace.threads.size() <= thread) {
    trace.threads.push_back({});
  }
  for (const std::string_view name : names) {
    const auto index = static_cast<int64_t>(trace.host_events.size());
    trace.host_events.push_back({.name = trace.strings.Intern(name),
                                 .thread = thread,
                                 .start = microseconds(10 * index),
                                 .duration = microseconds(5),
                                 .event_index = index});
  }
}

void AddNodes(ExecutionTrace& execution, int64_t thread,
              std::initializer_list<std::string_view> names) {
  for (const std::string_view name : names) {
    ExecutionNode node;
    node.name = execution.strings.Intern(name);
    node.thread = thread;
    execution.nodes.push_back(node);
  }
}

TEST(PairTest, FindsEveryIterationOnEveryThread) {
  const Rules rules = LoadRules();
  Diagnostics diagnostics;
  ProfilerTrace trace;
  AddOps(trace, 0, {"load", "a", "b", "a", "load", "a", "b", "a"});
  AddOps(trace, 1, {"x", "y", "x", "y"});
  const LinkedTrace linked = Link(std::move(trace), rules, diagnostics);
  ExecutionTrace execution;
  AddNodes(execution, 1, {"a", "b", "a"});
  AddNodes(execution, 2, {"x", "y"});

  const Pairing pairing = Pair(linked, execution, rules, diagnostics);

  ASSERT_EQ(pairing.threads.size(), 2U);
  EXPECT_EQ(pairing.threads[0].trace_thread, 0U);
  EXPECT_EQ(pairing.threads[0].matches, 2);
  EXPECT_EQ(pairing.threads[1].trace_thread, 1U);
  EXPECT_EQ(pairing.threads[1].matches, 2);
  EXPECT_EQ(pairing.node_of[0], kNoEvent);  // "load" is in no iteration.
  EXPECT_EQ(pairing.node_of[1], 0U);
  EXPECT_EQ(pairing.node_of[7], 2U);
  EXPECT_EQ(diagnostics.count(kPairMismatch), 0);
}

TEST(PairTest, ResumesInsideARepeatedPrefix) {
  const Rules rules = LoadRules();
  Diagnostics diagnostics;
  ProfilerTrace trace;
  AddOps(trace, 0, {"a", "a", "a", "b"});
  const LinkedTrace linked = Link(std::move(trace), rules, diagnostics);
  ExecutionTrace execution;
  AddNodes(execution, 1, {"a", "a", "b"});

  const Pairing pairing = Pair(linked, execution, rules, diagnostics);

  EXPECT_EQ(pairing.threads[0].matches, 1);
  EXPECT_EQ(pairing.node_of[0], kNoEvent);
  EXPECT_EQ(pairing.node_of[1], 0U);
}

TEST(PairTest, CountsThreadsThatMatchNothing) {
  const Rules rules = LoadRules();
  Diagnostics diagnostics;
  ProfilerTrace trace;
  AddOps(trace, 0, {"a", "b"});
  const LinkedTrace linked = Link(std::move(trace), rules, diagnostics);
  ExecutionTrace execution;
  AddNodes(execution, 1, {"a", "c"});

  const Pairing pairing = Pair(linked, execution, rules, diagnostics);

  EXPECT_EQ(pairing.threads[0].matches, 0);
  EXPECT_EQ(diagnostics.count(kPairMismatch), 1);
}

// The record of the process groups, and what gloo does on a thread of its own.
TEST(PairTest, RangesThatTheProfilerHasElsewhereOrNowhereDoNotMatter) {
  const Rules rules = LoadRules();
  Diagnostics diagnostics;
  ProfilerTrace trace;
  AddOps(trace, 0, {"range", "a", "c10d::allreduce_", "b"});
  AddOps(trace, 1, {"gloo:all_reduce"});
  trace.host_events[0].kind = HostEventKind::kAnnotation;
  trace.host_events[4].kind = HostEventKind::kAnnotation;
  const LinkedTrace linked = Link(std::move(trace), rules, diagnostics);
  ExecutionTrace execution;
  AddNodes(execution, 1,
           {"## process_group:init ##", "range", "a", "c10d::allreduce_",
            "gloo:all_reduce", "b"});
  for (const size_t i : {size_t{0}, size_t{1}, size_t{4}}) {
    execution.nodes[i].kind = NodeKind::kAnnotation;
  }

  const Pairing pairing = Pair(linked, execution, rules, diagnostics);

  ASSERT_EQ(pairing.threads.size(), 1U);
  EXPECT_EQ(pairing.threads[0].nodes, 4);
  EXPECT_EQ(pairing.threads[0].matches, 1);
  EXPECT_THAT(pairing.node_of, ElementsAre(1, 2, 3, 5, kNoEvent));
  EXPECT_EQ(diagnostics.count(kPairMismatch), 0);
}

TEST(PairTest, LeavesOutTheStepMarkerAndTheRecordersOwnNodes) {
  const Rules rules = LoadRules();
  Diagnostics diagnostics;
  ProfilerTrace trace;
  AddOps(trace, 0, {"ProfilerStep#3", "a", "b"});
  trace.host_events[0].kind = HostEventKind::kAnnotation;
  trace.host_events[0].duration = microseconds(100);
  const LinkedTrace linked = Link(std::move(trace), rules, diagnostics);
  ExecutionTrace execution;
  AddNodes(execution, 1,
           {"[pytorch|profiler|execution_trace|thread]", "a", "ProfilerStep#2",
            "b"});
  execution.nodes[0].kind = NodeKind::kRoot;

  const Pairing pairing = Pair(linked, execution, rules, diagnostics);

  EXPECT_EQ(pairing.threads[0].nodes, 2);
  EXPECT_EQ(pairing.threads[0].matches, 1);
}

TEST(PairTest, TheProfilerMayLeaveOutACallOfTheSameName) {
  const Rules rules = LoadRules();
  Diagnostics diagnostics;
  ProfilerTrace trace;
  AddOps(trace, 0, {"div_", "to", "div_", "to"});
  const LinkedTrace linked = Link(std::move(trace), rules, diagnostics);
  ExecutionTrace execution;
  AddNodes(execution, 1, {"div_", "div_", "to"});
  execution.nodes[1].parent = 0;
  execution.nodes[2].parent = 1;

  const Pairing pairing = Pair(linked, execution, rules, diagnostics);

  EXPECT_EQ(pairing.threads[0].matches, 2);
  EXPECT_THAT(pairing.node_of, ElementsAre(0, 2, 0, 2));
  EXPECT_EQ(diagnostics.count(kPairMismatch), 0);
}

TEST(PairTest, TwoCallsOfOneNameInARowAreTwo) {
  const Rules rules = LoadRules();
  Diagnostics diagnostics;
  ProfilerTrace trace;
  AddOps(trace, 0, {"div_", "to"});
  const LinkedTrace linked = Link(std::move(trace), rules, diagnostics);
  ExecutionTrace execution;
  AddNodes(execution, 1, {"div_", "div_", "to"});  // Neither is in the other.

  const Pairing pairing = Pair(linked, execution, rules, diagnostics);

  EXPECT_EQ(pairing.threads[0].matches, 0);
}

}  // namespace
}  // namespace stepcast::trace

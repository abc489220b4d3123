#include "trace/link/link.h"

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "tests/testing/kineto_generator.h"
#include "tests/testing/training_job.h"
#include "trace/read/kineto/read_kineto.h"
#include "trace/read/oddities.h"

namespace stepcast::trace {
namespace {

using std::chrono::microseconds;
using stepcast::testing::JobOptions;
using stepcast::testing::JobStep;
using stepcast::testing::KinetoDialect;
using stepcast::testing::KinetoOptions;
using stepcast::testing::MakeKineto;
using stepcast::testing::TrainingJob;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::SizeIs;

/// A trace made event by event; times in microseconds.
class TraceBuilder {
 public:
  TraceBuilder& Op(std::string_view name, int64_t start, int64_t duration,
                   uint32_t thread = 0, int64_t index = -1) {
    trace_.host_events.push_back({.name = trace_.strings.Intern(name),
                                  .thread = thread,
                                  .start = microseconds(start),
                                  .duration = microseconds(duration),
                                  .event_index = index});
    return *this;
  }
  TraceBuilder& Call(int64_t start, int64_t duration, int64_t correlation,
                     uint32_t thread = 0) {
    trace_.runtime_events.push_back(
        {.name = trace_.strings.Intern("cudaLaunchKernel"),
         .thread = thread,
         .start = microseconds(start),
         .duration = microseconds(duration),
         .correlation = correlation});
    return *this;
  }
  TraceBuilder& Kernel(int64_t start, int64_t duration, int64_t correlation,
                       int64_t stream = 7) {
    trace_.device_events.push_back({.name = trace_.strings.Intern("kernel"),
                                    .stream = stream,
                                    .start = microseconds(start),
                                    .duration = microseconds(duration),
                                    .correlation = correlation});
    return *this;
  }

  LinkedTrace Link(Diagnostics& diagnostics) {
    return trace::Link(std::move(trace_), Rules(), diagnostics);
  }
  LinkedTrace Link() {
    Diagnostics diagnostics;
    return Link(diagnostics);
  }

 private:
  ProfilerTrace trace_;
};

/// "child<parent" for every host event, in order; "<" alone at the top.
std::vector<std::string> Nesting(const LinkedTrace& linked) {
  const auto name = [&](uint32_t event) {
    return event == kNoEvent ? std::string()
                             : std::string(linked.trace.strings.view(
                                   linked.trace.host_events[event].name));
  };
  std::vector<std::string> found;
  for (uint32_t i = 0; i < linked.parent.size(); ++i) {
    found.push_back(name(i) + "<" + name(linked.parent[i]));
  }
  return found;
}

// a [0                    20]
//   b [2      10]  d [12 15]
//     c [3 5]
TEST(LinkTest, OpsNestByTime) {
  const LinkedTrace linked = TraceBuilder()
                                 .Op("a", 0, 20)
                                 .Op("b", 2, 8)
                                 .Op("c", 3, 2)
                                 .Op("d", 12, 3)
                                 .Link();
  EXPECT_THAT(Nesting(linked), ElementsAre("a<", "b<a", "c<b", "d<a"));
}

TEST(LinkTest, EventsMayComeInAnyOrder) {
  const LinkedTrace linked = TraceBuilder()
                                 .Op("d", 12, 3)
                                 .Op("c", 3, 2)
                                 .Op("a", 0, 20)
                                 .Op("b", 2, 8)
                                 .Link();
  EXPECT_THAT(Nesting(linked), ElementsAre("a<", "b<a", "c<b", "d<a"));
}

TEST(LinkTest, ThreadsDoNotMix) {
  const LinkedTrace linked =
      TraceBuilder().Op("a", 0, 20, 0).Op("b", 2, 8, 1).Link();
  EXPECT_THAT(Nesting(linked), ElementsAre("a<", "b<"));
}

// Integer microseconds hide where an op of no length at its parent's very end
// belongs; it is put inside.
TEST(LinkTest, AnOpOfNoLengthAtTheEndIsInside) {
  const LinkedTrace linked =
      TraceBuilder().Op("a", 0, 20).Op("b", 20, 0).Op("c", 21, 0).Link();
  EXPECT_THAT(Nesting(linked), ElementsAre("a<", "b<a", "c<"));
}

TEST(LinkTest, RoundingMayMakeAChildEndLate) {
  const LinkedTrace linked =
      TraceBuilder().Op("a", 0, 20).Op("b", 10, 11).Link();
  EXPECT_THAT(Nesting(linked), ElementsAre("a<", "b<a"));
}

TEST(LinkTest, OfTwoThatStartTogetherTheRecorderKnowsTheFirst) {
  const LinkedTrace linked =
      TraceBuilder().Op("inner", 0, 5, 0, 2).Op("outer", 0, 5, 0, 1).Link();
  EXPECT_THAT(Nesting(linked), ElementsAre("outer<", "inner<outer"));
}

TEST(LinkTest, WithoutItsOrderTheLongerIsTheParent) {
  const LinkedTrace linked =
      TraceBuilder().Op("inner", 0, 5).Op("outer", 0, 9).Link();
  EXPECT_THAT(Nesting(linked), ElementsAre("outer<", "inner<outer"));
}

// a [0     10]
//     b [5       20]
TEST(LinkTest, OpsThatOverlapAreCountedAndCut) {
  Diagnostics diagnostics;
  const LinkedTrace linked =
      TraceBuilder().Op("a", 0, 10).Op("b", 5, 15).Link(diagnostics);
  EXPECT_THAT(Nesting(linked), ElementsAre("a<", "b<"));
  EXPECT_EQ(diagnostics.count(kOverlappingOps), 1);
}

TEST(LinkTest, ACallBelongsToTheInnermostOpAroundIt) {
  Diagnostics diagnostics;
  const LinkedTrace linked = TraceBuilder()
                                 .Op("a", 0, 20)
                                 .Op("b", 2, 8)
                                 .Call(3, 2, 100)
                                 .Call(12, 2, 101)
                                 .Call(30, 2, 102)
                                 .Call(3, 2, 103, 1)
                                 .Kernel(40, 1, 100)
                                 .Kernel(41, 1, 101)
                                 .Kernel(42, 1, 102)
                                 .Link(diagnostics);
  // b, a, nothing; and nothing on the thread without ops.
  EXPECT_THAT(linked.call_op, ElementsAre(1, 0, kNoEvent, kNoEvent));
  EXPECT_EQ(diagnostics.count(kCallOutsideOp), 1);
}

// Thread 0 has ops and calls, thread 1 ops alone; thread 9 launches while ops
// of both run, once after them, and thread 8 launches nothing.
//
//   0  a [0                  40]  launch at 2
//   1      b [10   20] c [22 30]
//   9         12         25    35
//   8         15
TEST(LinkTest, CallsOfAThreadWithoutOpsBelongToOneWithoutCalls) {
  const LinkedTrace linked = TraceBuilder()
                                 .Op("a", 0, 40)
                                 .Op("b", 10, 10, 1)
                                 .Op("c", 22, 8, 1)
                                 .Call(2, 1, 1)
                                 .Call(15, 1, 2, 8)
                                 .Call(12, 1, 3, 9)
                                 .Call(25, 1, 4, 9)
                                 .Call(35, 1, 5, 9)
                                 .Kernel(3, 1, 1)
                                 .Kernel(13, 1, 3)
                                 .Kernel(26, 1, 4)
                                 .Kernel(36, 1, 5)
                                 .Link();
  std::vector<std::string> ops;
  std::vector<uint32_t> threads;
  for (size_t i = 0; i < linked.call_op.size(); ++i) {
    const uint32_t op = linked.call_op[i];
    ops.emplace_back(op == kNoEvent ? std::string_view()
                                    : linked.trace.strings.view(
                                          linked.trace.host_events[op].name));
    threads.push_back(linked.trace.runtime_events[i].thread);
  }
  EXPECT_THAT(ops, ElementsAre("a", "b", "c", "", ""));
  EXPECT_THAT(threads, ElementsAre(0, 1, 1, 1, 8));
}

TEST(LinkTest, ActivitiesAreTiedToTheirCall) {
  Diagnostics diagnostics;
  const LinkedTrace linked = TraceBuilder()
                                 .Call(0, 2, 100)
                                 .Call(5, 2, 101)
                                 .Kernel(20, 1, 101)
                                 .Kernel(10, 1, 100)
                                 .Kernel(2, 1, 17)
                                 .Kernel(3, 1, -1)
                                 .Link(diagnostics);
  // In order of time: the two nobody launched, then 100, then 101.
  EXPECT_THAT(linked.activity_call, ElementsAre(kNoEvent, kNoEvent, 0, 1));
  EXPECT_EQ(diagnostics.count(kOrphanActivity), 2);
}

TEST(LinkTest, OneCallMayLaunchAWholeGraph) {
  TraceBuilder builder;
  builder.Call(0, 2, 100);
  for (int i = 0; i < 300; ++i) {
    builder.Kernel(10 + i, 1, 100);
  }
  Diagnostics diagnostics;
  const LinkedTrace linked = builder.Link(diagnostics);
  EXPECT_THAT(linked.activity_call, SizeIs(300));
  EXPECT_THAT(linked.activity_call, Each(0U));
  EXPECT_EQ(diagnostics.count(kOrphanActivity), 0);
}

TEST(LinkTest, CallsWithOneIdAreCounted) {
  Diagnostics diagnostics;
  TraceBuilder().Call(0, 2, 100).Call(5, 2, 100).Link(diagnostics);
  EXPECT_EQ(diagnostics.count(kDuplicateCorrelation), 1);
}

TEST(LinkTest, WhatIsMissingIsCounted) {
  Diagnostics empty;
  TraceBuilder().Link(empty);
  EXPECT_EQ(empty.count(kNoDeviceEvents), 1);
  EXPECT_EQ(empty.count(kNoHostOps), 1);
  Diagnostics some;
  TraceBuilder().Op("a", 0, 2).Kernel(1, 0, 3).Link(some);
  EXPECT_EQ(some.count(kNoDeviceEvents), 0);
  EXPECT_EQ(some.count(kNoHostOps), 0);
  EXPECT_EQ(some.count(kNoShapes), 1);
  EXPECT_EQ(some.count(kZeroLengthKernels), 1);
}

TEST(LinkTest, OpsWithoutLaunchesAreAProcessors) {
  Diagnostics processor;
  TraceBuilder().Op("a", 0, 2).Link(processor);
  EXPECT_EQ(processor.count(kHostOnly), 1);
  EXPECT_EQ(processor.count(kNoDeviceEvents), 0);
  // Something was launched, but nobody recorded it.
  Diagnostics gpu;
  TraceBuilder().Op("a", 0, 9).Call(1, 2, 100).Link(gpu);
  EXPECT_EQ(gpu.count(kHostOnly), 0);
  EXPECT_EQ(gpu.count(kNoDeviceEvents), 1);
}

LinkedTrace ReadAndLink(const KinetoOptions& options,
                        Diagnostics& diagnostics) {
  const std::string text = MakeKineto(options);
  auto file = ReadKineto(*OpenMemory(text), diagnostics);
  EXPECT_TRUE(file.has_value());
  return Link(*std::move(file->profiler), Rules(), diagnostics);
}

// With nanoseconds nothing is ambiguous: every op, call and kernel is where the
// job put it. Ids of ops are their External id.
TEST(LinkTest, AGeneratedJobIsLinkedAsItRan) {
  const JobOptions job{.seed = 5, .orphans = 4, .graphs = true};
  Diagnostics diagnostics;
  const LinkedTrace linked = ReadAndLink(
      {.job = job, .dialect = KinetoDialect::k2024, .steps = 3}, diagnostics);
  std::map<int64_t, int64_t> parents;
  std::map<int64_t, int64_t> call_ops;
  TrainingJob played(job);
  for (int i = 0; i < 3; ++i) {
    const JobStep step = played.Next();
    const auto id = [&](int64_t event) {
      return event < 0 ? -1 : step.host[static_cast<size_t>(event)].id;
    };
    for (const auto& event : step.host) {
      parents[event.id] = id(event.parent);
    }
    for (const auto& call : step.calls) {
      call_ops[call.correlation] = id(call.op);
    }
  }
  const auto& trace = linked.trace;
  const auto id_of = [&](uint32_t event) {
    return event == kNoEvent ? -1 : trace.host_events[event].external_id;
  };
  ASSERT_EQ(trace.host_events.size(), parents.size());
  for (size_t i = 0; i < trace.host_events.size(); ++i) {
    EXPECT_EQ(id_of(linked.parent[i]),
              parents.at(trace.host_events[i].external_id))
        << trace.strings.view(trace.host_events[i].name);
  }
  ASSERT_EQ(trace.runtime_events.size(), call_ops.size());
  for (size_t i = 0; i < trace.runtime_events.size(); ++i) {
    EXPECT_EQ(id_of(linked.call_op[i]),
              call_ops.at(trace.runtime_events[i].correlation));
  }
  for (size_t i = 0; i < trace.device_events.size(); ++i) {
    const int64_t correlation = trace.device_events[i].correlation;
    const uint32_t call = linked.activity_call[i];
    EXPECT_EQ(call == kNoEvent, !call_ops.contains(correlation));
    if (call != kNoEvent) {
      EXPECT_EQ(trace.runtime_events[call].correlation, correlation);
    }
  }
  EXPECT_EQ(diagnostics.count(kOrphanActivity), 4);
  EXPECT_EQ(diagnostics.count(kOverlappingOps), 0);
}

// Integer microseconds hide some nesting, but Link never takes an op out of its
// parent.
TEST(LinkTest, RoundedTimesStillNest) {
  for (const KinetoDialect dialect :
       {KinetoDialect::k2021, KinetoDialect::k2022}) {
    Diagnostics diagnostics;
    const LinkedTrace linked =
        ReadAndLink({.dialect = dialect, .steps = 5}, diagnostics);
    EXPECT_EQ(diagnostics.count(kOverlappingOps), 0);
    EXPECT_EQ(diagnostics.count(kOrphanActivity), 0);
    EXPECT_EQ(diagnostics.count(kCallOutsideOp), 0);
  }
}

std::vector<RuntimeEvent> Calls(std::initializer_list<int64_t> correlations) {
  std::vector<RuntimeEvent> calls;
  for (const int64_t correlation : correlations) {
    calls.push_back({.correlation = correlation});
  }
  return calls;
}

TEST(CorrelationMapTest, FindsCallsByTheirId) {
  const CorrelationMap map(Calls({1000, 1002, 1001}));
  EXPECT_EQ(map.Find(1000), 0U);
  EXPECT_EQ(map.Find(1001), 2U);
  EXPECT_EQ(map.Find(1002), 1U);
  EXPECT_EQ(map.Find(999), kNoEvent);
  EXPECT_EQ(map.Find(1003), kNoEvent);
  EXPECT_EQ(map.duplicates(), 0);
}

// The ids span the whole range of a number: a table would not fit anywhere.
TEST(CorrelationMapTest, SparseIdsAreFoundToo) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const CorrelationMap map(Calls({kMost, 0, 1'000'000'000'000, 7}));
  EXPECT_EQ(map.Find(kMost), 0U);
  EXPECT_EQ(map.Find(0), 1U);
  EXPECT_EQ(map.Find(1'000'000'000'000), 2U);
  EXPECT_EQ(map.Find(7), 3U);
  EXPECT_EQ(map.Find(8), kNoEvent);
}

TEST(CorrelationMapTest, OfCallsWithOneIdTheFirstCounts) {
  const CorrelationMap dense(Calls({5, 6, 5, 5}));
  EXPECT_EQ(dense.Find(5), 0U);
  EXPECT_EQ(dense.duplicates(), 2);
  const CorrelationMap sparse(Calls({1'000'000'000, 6, 1'000'000'000}));
  EXPECT_EQ(sparse.Find(1'000'000'000), 0U);
  EXPECT_EQ(sparse.duplicates(), 1);
}

TEST(CorrelationMapTest, CallsWithoutAnIdAreNeverFound) {
  const CorrelationMap map(
      Calls({-1, 3, -1, std::numeric_limits<int64_t>::min()}));
  EXPECT_EQ(map.Find(-1), kNoEvent);
  EXPECT_EQ(map.Find(std::numeric_limits<int64_t>::min()), kNoEvent);
  EXPECT_EQ(map.Find(3), 1U);
  EXPECT_EQ(map.duplicates(), 0);
  EXPECT_EQ(CorrelationMap({}).Find(0), kNoEvent);
}

struct NamedNode {
  std::string_view name;
  uint32_t parent = ExecutionNode::kNoParent;
  NodeKind kind = NodeKind::kOp;
};

// The names of the ops that launch, in order.
std::vector<std::string> Launchers(const std::vector<NamedNode>& nodes) {
  ExecutionTrace trace;
  for (const NamedNode& node : nodes) {
    ExecutionNode& added = trace.nodes.emplace_back();
    added.name = trace.strings.Intern(node.name);
    added.kind = node.kind;
    added.parent = node.parent;
  }
  const auto rules = Rules::Load();
  EXPECT_TRUE(rules);
  const std::vector<bool> launches = FindLaunchers(trace, *rules);
  std::vector<std::string> names;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (launches[i]) {
      names.emplace_back(nodes[i].name);
    }
  }
  return names;
}

TEST(LaunchersTest, TheInnermostOpOfAFamilyDoesTheWork) {
  EXPECT_THAT(Launchers({{"aten::linear"},
                         {"aten::t", 0},
                         {"aten::addmm", 0},
                         {"aten::conv2d"},
                         {"aten::convolution", 3},
                         {"aten::cudnn_convolution", 4}}),
              ElementsAre("aten::addmm", "aten::cudnn_convolution"));
}

TEST(LaunchersTest, AllocationsInsideDoNoWork) {
  EXPECT_THAT(
      Launchers(
          {{"aten::cudnn_batch_norm"}, {"aten::empty", 0}, {"aten::view", 0}}),
      ElementsAre("aten::cudnn_batch_norm"));
}

TEST(LaunchersTest, AnOpCanRunNextToTheOpsInside) {
  // The indices are copied to the device, then used.
  EXPECT_THAT(Launchers({{"aten::index"}, {"aten::to", 0}, {"aten::copy_", 1}}),
              ElementsAre("aten::index", "aten::copy_"));
}

TEST(LaunchersTest, AListFallsBackToOneTensorAfterTheOther) {
  EXPECT_THAT(Launchers({{"aten::_foreach_add_"},
                         {"aten::result_type", 0},
                         {"aten::_foreach_mul_"},
                         {"aten::mul_", 2}}),
              ElementsAre("aten::_foreach_add_", "aten::mul_"));
}

TEST(LaunchersTest, ACollectiveIsNotItsAnnotation) {
  EXPECT_THAT(Launchers({{"c10d::allreduce_"},
                         {"record_param_comms", 0},
                         {"nccl:all_reduce", 1, NodeKind::kAnnotation}}),
              ElementsAre("record_param_comms"));
}

TEST(LaunchersTest, AnUnknownOpRunsIfNothingInsideDoes) {
  EXPECT_THAT(Launchers({{"my::leaf"},
                         {"my::outer"},
                         {"## range ##", 1, NodeKind::kAnnotation},
                         {"aten::add", 2}}),
              ElementsAre("my::leaf", "aten::add"));
}

TEST(LaunchersTest, OnlyOpsLaunch) {
  EXPECT_THAT(
      Launchers({{"aten::add", ExecutionNode::kNoParent, NodeKind::kRoot},
                 {"aten::add", 0, NodeKind::kDevice}}),
      ElementsAre());
}

}  // namespace
}  // namespace stepcast::trace

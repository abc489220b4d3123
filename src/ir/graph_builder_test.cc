#include "ir/graph_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/tries_testing.h"

namespace stepcast::ir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::optional<Measured> At(int64_t us, int64_t duration_us = 1) {
  return Measured{.start = Duration{us * 1000},
                  .duration = Duration{duration_us * 1000}};
}

std::vector<std::string_view> OpNames(const Graph& graph) {
  std::vector<std::string_view> names;
  for (const Op& op : graph.data().ops) {
    names.push_back(graph.text(op.name));
  }
  return names;
}

std::vector<std::string_view> ActivityNames(const Graph& graph) {
  std::vector<std::string_view> names;
  for (const Activity& activity : graph.data().activities) {
    names.push_back(graph.text(activity.name));
  }
  return names;
}

// One rank with one thread and two streams.
class GraphBuilderTest : public ::testing::Test {
 protected:
  OpId AddOp(std::string_view name, OpId parent = {},
             std::optional<Measured> measured = {},
             std::vector<Tensor> inputs = {}) {
    return builder_.AddOp({.name = builder_.Intern(name),
                           .thread = thread_,
                           .parent = parent,
                           .measured = measured},
                          std::move(inputs));
  }
  ActivityId AddActivity(std::string_view name, StreamId stream,
                         std::optional<Measured> measured = {},
                         const KernelShape& shape = Opaque{}) {
    return builder_.AddActivity(
        {.name = builder_.Intern(name),
         .kind = std::holds_alternative<Collective>(shape)
                     ? ActivityKind::kCollective
                     : ActivityKind::kKernel,
         .stream = stream,
         .measured = measured},
        shape);
  }
  Graph Build() {
    auto graph = std::move(builder_).Build();
    CHECK(graph.has_value()) << graph.error().message;
    return *std::move(graph);
  }
  std::string BuildError() {
    const auto graph = std::move(builder_).Build();
    return graph ? "no error" : graph.error().message;
  }

  GraphBuilder builder_;
  RankId rank_ = builder_.AddRank({.number = 5});
  ThreadId thread_ = builder_.AddThread({.rank = rank_});
  StreamId s20_ = builder_.AddStream({.rank = rank_, .number = 20});
  StreamId s7_ = builder_.AddStream({.rank = rank_, .number = 7});
};

TEST_F(GraphBuilderTest, AnEmptyGraphIsAGraph) {
  EXPECT_TRUE(GraphBuilder().Build());
}

// a [0      10]   b [20 ...
//   c [1] d [5]
TEST_F(GraphBuilderTest, OpsAreInPreOrderByStart) {
  const OpId b = AddOp("b", {}, At(20));
  const OpId a = AddOp("a", {}, At(0, 10));
  AddOp("d", a, At(5));
  AddOp("c", a, At(1));
  AddOp("e", b, At(21));
  const Graph graph = Build();
  EXPECT_THAT(OpNames(graph), ElementsAre("a", "c", "d", "b", "e"));
  EXPECT_EQ(graph.data().ops[OpId{2}].parent, OpId{0});
  EXPECT_EQ(graph.data().ops[OpId{4}].parent, OpId{3});
}

TEST_F(GraphBuilderTest, OpsWithoutATimeStayAfterTheOneAddedBefore) {
  AddOp("late", {}, At(20));
  AddOp("after late");
  AddOp("early", {}, At(10));
  AddOp("after early");
  EXPECT_THAT(OpNames(Build()),
              ElementsAre("early", "after early", "late", "after late"));
}

TEST_F(GraphBuilderTest, TensorsFollowTheirOps) {
  AddOp("b", {}, At(2), {Tensor{.dims = {2}}, Tensor{.dims = {3}}});
  AddOp("a", {}, At(1), {Tensor{.dims = {1}}});
  const Graph graph = Build();
  EXPECT_EQ(graph.data().ops[OpId{0}].inputs,
            (IdRange<TensorId>{.first = 0, .count = 1}));
  EXPECT_EQ(graph.data().ops[OpId{1}].inputs,
            (IdRange<TensorId>{.first = 1, .count = 2}));
  EXPECT_THAT(graph.data().tensors[TensorId{2}].dims, ElementsAre(3));
}

TEST_F(GraphBuilderTest, HandlesAMillionNestedOps) {
  constexpr uint32_t kDepth = Tries(1'000'000u);
  OpId parent{};
  for (uint32_t i = 0; i < kDepth; ++i) {
    parent = AddOp("op", parent);
  }
  EXPECT_EQ(Build().data().ops.size(), kDepth);
}

TEST_F(GraphBuilderTest, ACycleOfParentsIsRefused) {
  AddOp("fine");
  AddOp("a", OpId{2});
  AddOp("b", OpId{1});
  AddOp("below", OpId{2});
  EXPECT_THAT(BuildError(), HasSubstr("it is its own parent"));
}

TEST_F(GraphBuilderTest, AnIdThatWasNeverGivenIsRefused) {
  AddOp("a", OpId{77});
  EXPECT_EQ(BuildError(), "op 0 'a': its parent is number 77 of 1");
}

TEST_F(GraphBuilderTest, ActivitiesAreSortedByStreamAndStart) {
  AddActivity("s20 late", s20_, At(9));
  AddActivity("s20 early", s20_, At(1));
  AddActivity("s7", s7_, At(5));
  EXPECT_THAT(ActivityNames(Build()),
              ElementsAre("s7", "s20 early", "s20 late"));
}

TEST_F(GraphBuilderTest, EqualShapesAreStoredOnceInTheOrderOfUse) {
  AddActivity("b", s7_, At(2), Fill{.bytes = Bytes{2}});
  AddActivity("a", s7_, At(1), Fill{.bytes = Bytes{1}});
  AddActivity("c", s7_, At(3), Fill{.bytes = Bytes{2}});
  const Graph graph = Build();
  EXPECT_EQ(graph.data().shapes.size(), 2u);
  EXPECT_EQ(graph.shape(ActivityId{0}), KernelShape(Fill{.bytes = Bytes{1}}));
  EXPECT_EQ(graph.data().activities[ActivityId{1}].shape,
            graph.data().activities[ActivityId{2}].shape);
}

TEST_F(GraphBuilderTest, CallsAndWaitsAreRenumberedWithWhatTheyName) {
  const OpId op = AddOp("op", {}, At(0));
  const CallId wait = builder_.AddCall({.name = builder_.Intern("wait"),
                                        .kind = CallKind::kStreamWait,
                                        .thread = thread_,
                                        .op = op,
                                        .stream = s20_,
                                        .event = CallId{1},
                                        .measured = At(9)});
  builder_.AddCall({.name = builder_.Intern("record"),
                    .kind = CallKind::kEventRecord,
                    .thread = thread_,
                    .measured = At(3)});
  const ActivityId after = AddActivity("after", s20_, At(12));
  const ActivityId before = AddActivity("before", s7_, At(1));
  builder_.AddStreamWait({.before = before, .after = after, .inferred = true});
  builder_.AddStreamWait({.before = before, .after = after});
  builder_.AddHostWait({.before = before, .call = wait});
  const Graph graph = Build();
  const GraphData& data = graph.data();
  EXPECT_EQ(graph.text(data.calls[CallId{0}].name), "record");
  EXPECT_EQ(data.calls[CallId{1}].event, CallId{0});
  EXPECT_THAT(
      data.stream_waits,
      ElementsAre(StreamWait{.before = ActivityId{0}, .after = ActivityId{1}}));
  EXPECT_THAT(data.host_waits, ElementsAre(HostWait{.before = ActivityId{0},
                                                    .call = CallId{1}}));
}

TEST_F(GraphBuilderTest, CollectivesAndTheirActivitiesNameEachOther) {
  const RankId rank = builder_.AddRank({.number = 2});
  const StreamId stream = builder_.AddStream({.rank = rank, .number = 20});
  const Collective shape{.kind = CollectiveKind::kAllReduce};
  const ActivityId on_5 = AddActivity("on 5", s20_, At(1), shape);
  const ActivityId on_2 = AddActivity("on 2", stream, At(9), shape);
  builder_.AddCollective(
      {.kind = CollectiveKind::kAllReduce, .activities = {on_5, on_2}});
  const Graph graph = Build();
  EXPECT_THAT(graph.data().collectives[CollectiveId{0}].activities,
              ElementsAre(ActivityId{0}, ActivityId{1}));
  EXPECT_THAT(ActivityNames(graph), ElementsAre("on 2", "on 5"));
  EXPECT_EQ(graph.data().activities[ActivityId{1}].collective, CollectiveId{0});
}

TEST_F(GraphBuilderTest, AnActivityInTwoCollectivesIsRefused) {
  const ActivityId activity = AddActivity("w", s7_, {}, Collective{});
  builder_.AddCollective({.activities = {activity}});
  builder_.AddCollective({.activities = {activity}});
  EXPECT_THAT(BuildError(),
              HasSubstr("activity 0 'w': it is in two collectives"));
}

}  // namespace
}  // namespace stepcast::ir

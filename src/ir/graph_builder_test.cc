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

std::vector<std::string_view> WorkNames(const Graph& graph) {
  std::vector<std::string_view> names;
  for (const Work& work : graph.data().works) {
    names.push_back(graph.text(work.name));
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
  WorkId AddWork(std::string_view name, StreamId stream,
                 std::optional<Measured> measured = {},
                 const KernelShape& shape = Opaque{}) {
    return builder_.AddWork({.name = builder_.Intern(name),
                             .kind = std::holds_alternative<Collective>(shape)
                                         ? WorkKind::kCollective
                                         : WorkKind::kKernel,
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
TEST_F(GraphBuilderTest, OpsStandInPreOrderByStart) {
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

TEST_F(GraphBuilderTest, OpsWithoutATimeStayBehindTheOneAddedBefore) {
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

TEST_F(GraphBuilderTest, AMillionNestedOpsAreNoProblem) {
  constexpr uint32_t kDepth = Tries(1'000'000u);
  OpId parent{};
  for (uint32_t i = 0; i < kDepth; ++i) {
    parent = AddOp("op", parent);
  }
  EXPECT_EQ(Build().data().ops.size(), kDepth);
}

TEST_F(GraphBuilderTest, ACircleOfParentsIsRefused) {
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

TEST_F(GraphBuilderTest, WorksStandByStreamAndStart) {
  AddWork("s20 late", s20_, At(9));
  AddWork("s20 early", s20_, At(1));
  AddWork("s7", s7_, At(5));
  EXPECT_THAT(WorkNames(Build()), ElementsAre("s7", "s20 early", "s20 late"));
}

TEST_F(GraphBuilderTest, EqualShapesAreStoredOnceInTheOrderOfUse) {
  AddWork("b", s7_, At(2), Fill{.bytes = Bytes{2}});
  AddWork("a", s7_, At(1), Fill{.bytes = Bytes{1}});
  AddWork("c", s7_, At(3), Fill{.bytes = Bytes{2}});
  const Graph graph = Build();
  EXPECT_EQ(graph.data().shapes.size(), 2u);
  EXPECT_EQ(graph.shape(WorkId{0}), KernelShape(Fill{.bytes = Bytes{1}}));
  EXPECT_EQ(graph.data().works[WorkId{1}].shape,
            graph.data().works[WorkId{2}].shape);
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
  const WorkId after = AddWork("after", s20_, At(12));
  const WorkId before = AddWork("before", s7_, At(1));
  builder_.AddStreamWait({.before = before, .after = after, .inferred = true});
  builder_.AddStreamWait({.before = before, .after = after});
  builder_.AddHostWait({.before = before, .call = wait});
  const Graph graph = Build();
  const GraphData& data = graph.data();
  EXPECT_EQ(graph.text(data.calls[CallId{0}].name), "record");
  EXPECT_EQ(data.calls[CallId{1}].event, CallId{0});
  EXPECT_THAT(data.stream_waits,
              ElementsAre(StreamWait{.before = WorkId{0}, .after = WorkId{1}}));
  EXPECT_THAT(data.host_waits,
              ElementsAre(HostWait{.before = WorkId{0}, .call = CallId{1}}));
}

TEST_F(GraphBuilderTest, CollectivesAndTheirWorksNameEachOther) {
  const RankId rank = builder_.AddRank({.number = 2});
  const StreamId stream = builder_.AddStream({.rank = rank, .number = 20});
  const Collective shape{.kind = CollectiveKind::kAllReduce};
  const WorkId on_5 = AddWork("on 5", s20_, At(1), shape);
  const WorkId on_2 = AddWork("on 2", stream, At(9), shape);
  builder_.AddCollective(
      {.kind = CollectiveKind::kAllReduce, .works = {on_5, on_2}});
  const Graph graph = Build();
  EXPECT_THAT(graph.data().collectives[CollectiveId{0}].works,
              ElementsAre(WorkId{0}, WorkId{1}));
  EXPECT_THAT(WorkNames(graph), ElementsAre("on 2", "on 5"));
  EXPECT_EQ(graph.data().works[WorkId{1}].collective, CollectiveId{0});
}

TEST_F(GraphBuilderTest, AWorkInTwoCollectivesIsRefused) {
  const WorkId work = AddWork("w", s7_, {}, Collective{});
  builder_.AddCollective({.works = {work}});
  builder_.AddCollective({.works = {work}});
  EXPECT_THAT(BuildError(), HasSubstr("work 0 'w': it is in two collectives"));
}

}  // namespace
}  // namespace stepcast::ir

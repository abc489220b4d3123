#include "trace/read/torch_et/node_order.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/tries_testing.h"
#include "trace/read/execution_trace_testing.h"
#include "trace/read/oddities.h"

namespace stepcast::trace {
namespace {

using ::testing::ElementsAre;

struct Spec {
  int64_t id = 0;
  std::optional<int64_t> parent{};
  int64_t thread = 1;
  int64_t record = -1;
  NodeKind kind = NodeKind::kOp;
};

ExecutionRead Arrange(const std::vector<Spec>& specs) {
  ExecutionRead out;
  std::vector<ParsedNode> nodes;
  for (const Spec& spec : specs) {
    ParsedNode parsed{.parent = spec.parent};
    parsed.node.id = spec.id;
    parsed.node.name = StringPool::kEmpty;
    parsed.node.thread = spec.thread;
    parsed.node.record_id = spec.record;
    parsed.node.kind = spec.kind;
    nodes.push_back(parsed);
  }
  ArrangeNodes(std::move(nodes), out.trace, out.diagnostics);
  return out;
}

// PyTorch writes a node when it ends: children first.
TEST(NodeOrderTest, SortsByThreadAndOrderOfStart) {
  const ExecutionRead out =
      Arrange({{.id = 30, .parent = 20, .record = 2},
               {.id = 20, .parent = 10, .record = 1},
               {.id = 40, .parent = 10, .record = 3},
               {.id = 60, .parent = 50, .thread = 2, .record = 5},
               {.id = 50, .parent = 1, .thread = 2, .record = 4},
               {.id = 10, .parent = 1, .record = 0},
               {.id = 1,
                .parent = 1,
                .thread = 0,
                .record = 0,
                .kind = NodeKind::kRoot}});
  EXPECT_THAT(out.ids(), ElementsAre(1, 10, 20, 30, 40, 50, 60));
  EXPECT_THAT(out.parents(), ElementsAre(0, 1, 10, 20, 10, 1, 50));
  EXPECT_TRUE(out.diagnostics.list().empty());
}

TEST(NodeOrderTest, WithoutRecordIdsParentsStillComeFirst) {
  const ExecutionRead out = Arrange({{.id = 3, .parent = 2},
                                     {.id = 2, .parent = 1},
                                     {.id = 4, .parent = 1},
                                     {.id = 1}});
  EXPECT_THAT(out.ids(), ElementsAre(1, 2, 3, 4));
}

TEST(NodeOrderTest, AParentThatStartsLaterOrOnALaterThreadComesFirst) {
  const ExecutionRead out = Arrange({{.id = 1, .parent = 2, .record = 1},
                                     {.id = 2, .thread = 7, .record = 9},
                                     {.id = 3, .record = 0}});
  EXPECT_THAT(out.ids(), ElementsAre(3, 2, 1));
  EXPECT_THAT(out.parents(), ElementsAre(0, 0, 2));
}

TEST(NodeOrderTest, DeviceNodesFollowWithTheThreadOfTheirParent) {
  const ExecutionRead out =
      Arrange({{.id = 9, .parent = 2, .thread = 0, .kind = NodeKind::kDevice},
               {.id = 1, .record = 1},
               {.id = 8, .thread = 0, .kind = NodeKind::kDevice},
               {.id = 2, .thread = 2, .record = 2}});
  EXPECT_THAT(out.ids(), ElementsAre(1, 2, 9, 8));
  EXPECT_EQ(out.trace.nodes[2].thread, 2);
  EXPECT_EQ(out.trace.nodes[3].thread, 0);
}

TEST(NodeOrderTest, MissingParentsAndDeviceParentsAreCounted) {
  const ExecutionRead out =
      Arrange({{.id = 1, .parent = 77},
               {.id = 2, .parent = 3},
               {.id = 3, .kind = NodeKind::kDevice},
               {.id = 4, .parent = 99, .kind = NodeKind::kRoot}});
  EXPECT_THAT(out.parents(), ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(out.diagnostics.count(kBadParent), 2);
}

// 1 -> 2 -> 3 -> 1, with 4 hanging on the cycle; 5 is its own parent.
TEST(NodeOrderTest, CyclesAreCutOnce) {
  const ExecutionRead out = Arrange({{.id = 1, .parent = 2, .record = 1},
                                     {.id = 2, .parent = 3, .record = 2},
                                     {.id = 3, .parent = 1, .record = 3},
                                     {.id = 4, .parent = 2, .record = 4},
                                     {.id = 5, .parent = 5, .record = 5}});
  EXPECT_THAT(out.ids(), ElementsAre(3, 2, 1, 4, 5));
  EXPECT_THAT(out.parents(), ElementsAre(0, 3, 2, 2, 0));
  EXPECT_EQ(out.diagnostics.count(kBadParent), 2);
}

TEST(NodeOrderTest, OfNodesWithTheSameIdTheFirstCounts) {
  const ExecutionRead out = Arrange({{.id = 1, .record = 5},
                                     {.id = 2, .parent = 1, .record = 6},
                                     {.id = 1, .record = 1},
                                     {.id = 1, .parent = 2, .record = 2}});
  EXPECT_THAT(out.ids(), ElementsAre(1, 2));
  EXPECT_EQ(out.trace.nodes[0].record_id, 5);
  EXPECT_EQ(out.diagnostics.count(kDuplicateId), 2);
}

TEST(NodeOrderTest, AMillionDeepChainInTheWorstOrderIsFine) {
  constexpr int64_t kDepth = Tries(int64_t{1'000'000});
  std::vector<Spec> specs;
  for (int64_t id = kDepth; id >= 1; --id) {
    specs.push_back({.id = id,
                     .parent = id > 1 ? std::optional(id - 1) : std::nullopt,
                     .record = kDepth - id});
  }
  const ExecutionRead out = Arrange(specs);
  ASSERT_EQ(out.trace.nodes.size(), static_cast<size_t>(kDepth));
  uint32_t depth = 1;
  while (depth < kDepth && out.trace.nodes[depth].parent == depth - 1) {
    ++depth;
  }
  EXPECT_EQ(depth, kDepth);
}

// Gloo's threads are none of the recorder's: op 30 began after the range that
// it is said to be around.
TEST(NodeOrderTest, ARangeIsInNoOpThatBeganLater) {
  const ExecutionRead out = Arrange(
      {{.id = 10, .record = 1},
       {.id = 20, .parent = 30, .record = 2, .kind = NodeKind::kAnnotation},
       {.id = 30, .parent = 10, .record = 3}});
  EXPECT_THAT(out.ids(), ElementsAre(10, 20, 30));
  EXPECT_THAT(out.parents(), ElementsAre(0, 0, 10));
  EXPECT_TRUE(out.diagnostics.list().empty());
}

}  // namespace
}  // namespace stepcast::trace

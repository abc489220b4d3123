// Handoffs of graphs without times.
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/join.h"
#include "ir/graph_testing.h"
#include "timeline/predicted_plan.h"

namespace stepcast::timeline {
namespace {

using ir::GraphOf;
using ::testing::ElementsAre;

// The op of a segment, or ">" and "<" for handoffs to and from autograd.
std::string TextOf(const ir::Graph& graph, const HostPlan& plan,
                   ir::ThreadId thread, uint32_t i) {
  const HostSegment& segment = plan.threads[thread][i];
  if (segment.kind != cost::HostKind::kHandoff) {
    return std::string(graph.text(graph.data().ops[segment.op].name));
  }
  for (const Handoff& over : plan.handoffs) {
    if (over.from == thread && over.from_segment == i) {
      return ">";
    }
  }
  return "<";
}

// Ops and handoffs of the main thread in their order.
std::string MainOf(const ir::Graph& graph, const HostPlan& plan) {
  std::vector<std::string> texts;
  for (uint32_t i = 0; i < plan.threads[ir::ThreadId{0}].size(); ++i) {
    const cost::HostKind kind = plan.threads[ir::ThreadId{0}][i].kind;
    if (kind == cost::HostKind::kNoLaunch ||
        kind == cost::HostKind::kAfterLaunch ||
        kind == cost::HostKind::kHandoff) {
      texts.push_back(TextOf(graph, plan, ir::ThreadId{0}, i));
    }
  }
  return Join(texts, " ");
}

// The ops of autograd's thread from handoff to handoff: "b1-b2".
std::vector<std::string> BurstsOf(const ir::Graph& graph,
                                  const HostPlan& plan) {
  std::vector<std::string> bursts;
  for (size_t i = 0; i + 1 < plan.handoffs.size(); i += 2) {
    const ir::ThreadId thread = plan.handoffs[i].to;
    bursts.push_back(fmt::format(
        "{}-{}", TextOf(graph, plan, thread, plan.handoffs[i].to_segment),
        TextOf(graph, plan, thread, plan.handoffs[i + 1].from_segment)));
  }
  return bursts;
}

// Two passes, as with gradients of two batches added up. v2 launches nothing:
// it may be part of either pass.
constexpr std::string_view kTwoPasses = R"(stepcast-graph 1
rank 0
  thread main
    op "f1" phase=forward
      call launch "launch"
        s7[0]: opaque "k"
    op "f2" phase=forward
      call launch "launch"
        s7[2]: opaque "k"
    op "o" phase=optimizer
      call launch "launch"
        s7[5]: opaque "k"
  thread autograd
    op "b1" phase=backward
      call launch "launch"
        s7[1]: opaque "k"
    op "v2" phase=backward
    op "b2" phase=backward
      call launch "launch"
        s7[3]: opaque "k"
    op "b3" phase=backward
      call launch "launch"
        s7[4]: opaque "k"
)";

TEST(OrderedPlanTest, EveryBackwardPassRunsAfterItsOwnForwardPass) {
  const ir::Graph graph = GraphOf(kTwoPasses);
  const HostPlan plan = OrderedPlan(graph.data());
  EXPECT_EQ(MainOf(graph, plan), "f1 > < f2 > < o");
  EXPECT_THAT(BurstsOf(graph, plan), ElementsAre("b1-v2", "b2-b3"));
}

TEST(OrderedPlanTest, AForwardOpAfterTheBackwardPassDoesNotDelayIt) {
  // As a loss that is summed up for a report.
  const ir::Graph graph = GraphOf(R"(stepcast-graph 1
rank 0
  thread main
    op "f" phase=forward
      call launch "launch"
        s7[0]: opaque "k"
    op "loss"
      call launch "launch"
        s7[1]: opaque "k"
    op "report" phase=forward
      call launch "launch"
        s7[3]: opaque "k"
  thread autograd
    op "b" phase=backward
      call launch "launch"
        s7[2]: opaque "k"
)");
  const HostPlan plan = OrderedPlan(graph.data());
  EXPECT_EQ(MainOf(graph, plan), "f loss > < report");
}

TEST(OrderedPlanTest, AStreamOfItsOwnDoesNotCutThePassInTwo) {
  // "dist" has an activity on another stream alone, which autograd uses late.
  const ir::Graph graph = GraphOf(R"(stepcast-graph 1
rank 0
  thread main
    op "f" phase=forward
      call launch "launch"
        s7[0]: opaque "k"
    op "dist" phase=sparse_data_dist
      call launch "launch"
        s20[0]: opaque "k"
    op "o" phase=optimizer
      call launch "launch"
        s7[2]: opaque "k"
  thread autograd
    op "b1" phase=backward
      call launch "launch"
        s7[1]: opaque "k"
    op "b2" phase=backward
      call launch "launch"
        s20[1]: opaque "k"
)");
  const HostPlan plan = OrderedPlan(graph.data());
  EXPECT_EQ(MainOf(graph, plan), "f dist > < o");
  EXPECT_THAT(BurstsOf(graph, plan), ElementsAre("b1-b2"));
}

}  // namespace
}  // namespace stepcast::timeline

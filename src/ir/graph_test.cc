#include "ir/graph.h"

#include <array>
#include <memory>

#include <gtest/gtest.h>

#include "ir/graph_testing.h"

namespace stepcast::ir {
namespace {

constexpr std::string_view kSmallGraph = R"(stepcast-graph 1
source "test"
rank 0 "V100" @0+100
  thread main "python"
    op "a" phase=forward seq=3 modules "m" site "s" @1+2
      in fp32[1]
      call launch "launch" @1+1 #c0
        s7: gemm m=1 @3+1 #w0
        s8: collective kind=reduce @3+1 #w1
  wait #w0 -> #w1
  wait #w0 -> #c0
collective reduce #w1
)";

TEST(GraphTest, AGraphIsTimedIfEveryRankHasAMeasuredStep) {
  EXPECT_TRUE(GraphOf(kSmallGraph).is_timed());
  EXPECT_TRUE(GraphOf("stepcast-graph 1\nrank 0 @0+9\n  thread main\n"
                      "    op \"without a time\"\n")
                  .is_timed());
  EXPECT_FALSE(GraphOf("stepcast-graph 1\nrank 0 @0+9\nrank 1\n").is_timed());
  EXPECT_FALSE(GraphOf("stepcast-graph 1\n").is_timed());
}

TEST(GraphTest, ACopyOutlivesTheGraph) {
  auto graph = std::make_unique<Graph>(GraphOf(kSmallGraph));
  const Graph copy = *graph;
  graph.reset();
  EXPECT_TRUE(SameContent(copy, GraphOf(kSmallGraph)));
}

TEST(GraphTest, StringIdsDoNotMatter) {
  const Graph graph = GraphOf(kSmallGraph);
  GraphData data;
  data.strings.Intern("something else first");
  const Graph other = GraphOf(kSmallGraph);
  const auto move = [&](StringId id) {
    return data.strings.Intern(other.text(id));
  };
  StringPool strings = std::move(data.strings);
  data = other.data();
  data.strings = std::move(strings);
  data.source = move(data.source);
  for (Rank& rank : data.ranks) {
    rank.gpu = move(rank.gpu);
  }
  for (Thread& thread : data.threads) {
    thread.name = move(thread.name);
  }
  for (Op& op : data.ops) {
    op.name = move(op.name);
    op.modules = move(op.modules);
    op.site = move(op.site);
  }
  for (Call& call : data.calls) {
    call.name = move(call.name);
  }
  for (Activity& activity : data.activities) {
    activity.name = move(activity.name);
  }
  const auto moved = Graph::Make(std::move(data));
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_TRUE(SameContent(graph, *moved));
  EXPECT_TRUE(SameContent(*moved, graph));
}

TEST(GraphTest, EveryDifferenceCounts) {
  struct Change {
    std::string_view from;
    std::string_view to;
  };
  constexpr std::array kChanges = {
      Change{"\"test\"", "\"text\""},
      Change{"rank 0", "rank 1"},
      Change{"V100", "A100"},
      Change{"@0+100", "@0+101"},
      Change{"thread main", "thread other"},
      Change{"python", "snake"},
      Change{"op \"a\"", "op \"b\""},
      Change{"phase=forward", "phase=backward"},
      Change{"modules \"m\"", "modules \"n\""},
      Change{"site \"s\"", "site \"t\""},
      Change{"fp32[1]", "fp32[2]"},
      Change{"in fp32", "out fp32"},
      Change{"\"launch\"", "\"start\""},
      Change{"s8:", "s9:"},
      Change{"\"V100\"", "\"V100\" device=1"},
      Change{"gemm m=1", "gemm m=2"},
      Change{"gemm m=1", "gemm m=1 memset"},
      Change{"wait #w0 -> #w1\n", "wait #w0 -> #w1 inferred\n"},
      Change{"  wait #w0 -> #c0\n", ""},
      Change{"collective reduce #w1\n", ""},
  };
  const Graph graph = GraphOf(kSmallGraph);
  for (const Change& change : kChanges) {
    std::string text(kSmallGraph);
    const size_t at = text.find(change.from);
    ASSERT_NE(at, std::string::npos) << change.from;
    text.replace(at, change.from.size(), change.to);
    const Graph other = GraphOf(text);
    EXPECT_FALSE(SameContent(graph, other)) << change.to;
    EXPECT_FALSE(SameContent(other, graph)) << change.to;
  }
}

}  // namespace
}  // namespace stepcast::ir

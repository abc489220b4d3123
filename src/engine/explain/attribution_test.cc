#include "engine/explain/attribution.h"

#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "engine/run/replay_testing.h"

namespace stepcast::engine {
namespace {

double InUs(Duration time) {
  return ToMicroseconds(time);
}

Attribution AttributionOf(std::string_view text) {
  return Attribute(ReplayOf(text).result, ir::RankId{0});
}

// "forward and backward > MLP_0 > aten::linear"
std::string PathOf(const Attribution& found, uint32_t place) {
  const Place& item = found.places[place];
  return item.parent == Place::kNoPlace
             ? item.name
             : fmt::format("{} > {}", PathOf(found, item.parent), item.name);
}

Place PlaceAt(const Attribution& found, std::string_view path) {
  for (uint32_t i = 0; i < found.places.size(); ++i) {
    if (PathOf(found, i) == path) {
      return found.places[i];
    }
  }
  ADD_FAILURE() << "no place " << path;
  return {};
}

// A forward pass in a module, its backward pass by another thread, and an op of
// the optimizer's.
constexpr std::string_view kTraining = R"(stepcast-graph 1
rank 0 @0+200
  streams 7
  thread main
    annotation "## forward ##" phase=forward modules "M" @10+30
      op "aten::relu" phase=forward seq=4 modules "M/L" site "m.py(1): f" @12+8
        call launch "launch" @14+2
          s7: elementwise elements=1 "relu" @20+10
      op "aten::sum" phase=forward seq=5 modules "M" site "m.py(9): g" @30+5
        call launch "launch" @31+2
          s7: reduction inputs=1 outputs=1 "sum" @35+5
    op "aten::add_" phase=optimizer @150+20
      call launch "launch" @160+2
        s7: elementwise elements=1 "add" @165+10
  thread autograd
    op "autograd::engine::evaluate_function: ReluBackward0" phase=backward seq=4 @60+30
      op "ReluBackward0" phase=backward @62+20
        call launch "launch" @70+2
          s7: elementwise elements=1 "relu_back" @80+20
    op "AccumulateGrad" phase=backward @100+10
)";

TEST(AttributionTest, AModuleHasTheBackwardPassOfItsOps) {
  const Attribution found = AttributionOf(kTraining);
  const Place relu = PlaceAt(
      found, "forward and backward > M > ## forward ## > L > aten::relu");
  EXPECT_EQ(relu.kind, PlaceKind::kOp);
  EXPECT_EQ(relu.site, "m.py(1): f");
  EXPECT_EQ(InUs(relu.total.gpu), 30);  // 10 + 20
  EXPECT_EQ(InUs(relu.total.gpu_backward), 20);
  EXPECT_EQ(InUs(relu.total.host), 38);  // 8 + 30
  EXPECT_EQ(InUs(relu.total.host_backward), 30);
  EXPECT_EQ(relu.ops, 2U);
  const Place module = PlaceAt(found, "forward and backward > M");
  EXPECT_EQ(InUs(module.total.gpu), 35);
  EXPECT_EQ(InUs(module.own.gpu), 0);
  // What autograd gave no number stays a matter of the backward pass.
  EXPECT_EQ(InUs(PlaceAt(found, "backward > AccumulateGrad").total.host), 10);
  EXPECT_EQ(InUs(PlaceAt(found, "optimizer > aten::add_").total.gpu), 10);
  EXPECT_EQ(InUs(found.sites.at("m.py(1): f").gpu), 30);
  EXPECT_EQ(InUs(found.sites.at("m.py(9): g").gpu), 5);
}

// FBGEMM's lookup has no number; autograd counts its nodes, so that it is one
// below the next op's. What came before shows the same number.
TEST(AttributionTest, ALookupWithoutANumberGetsItsBackwardPass) {
  const Attribution found = AttributionOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    op "aten::zero_" phase=forward seq=8 @0+5
    op "lookup" phase=forward @5+5
      call launch "launch" @6+1
        s7: embedding_bag tables=1 @10+5
    op "aten::view" phase=forward seq=9 @10+5
    op "SplitLookup" phase=backward seq=8 @50+5
      call launch "launch" @51+1
        s7: embedding_bag tables=1 pass=backward @55+7
)");
  EXPECT_EQ(
      InUs(PlaceAt(found, "forward and backward > lookup").total.gpu_backward),
      7);
}

// Some recorders leave out numbers of the forward pass: what ran between two
// ops of a module is in that module.
TEST(AttributionTest, AnOpBetweenTwoOfAModuleIsInIt) {
  const Attribution found = AttributionOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    op "a" phase=forward seq=3 modules "M" @0+5
    op "b" phase=forward seq=7 modules "M/L" @10+5
    op "View" phase=backward seq=5 @50+5
    op "Early" phase=backward seq=2 @60+5
)");
  EXPECT_EQ(InUs(PlaceAt(found, "forward and backward > M > View").total.host),
            5);
  EXPECT_EQ(InUs(PlaceAt(found, "backward > Early").total.host), 5);
}

// main   |in load 10-60: [empty 50-55]|  |train 70-100: [mm 80-90]      |  120
TEST(AttributionTest, TimeBeforeAnOpIsThatOfWhatIsAroundIt) {
  const Attribution found = AttributionOf(R"(stepcast-graph 1
rank 0 @0+120
  thread main
    annotation "load" phase=data_loading @10+50
      op "aten::empty" phase=data_loading @50+5
    annotation "train" phase=forward @70+30
      op "aten::mm" phase=forward @80+10
)");
  const Place load = PlaceAt(found, "data loading > load");
  EXPECT_EQ(InUs(load.own.host), 45);  // 10-50 and 55-60.
  EXPECT_EQ(InUs(load.total.host), 50);
  const Place train = PlaceAt(found, "forward > train");
  EXPECT_EQ(InUs(train.own.host), 20);  // 70-80 and 90-100.
  EXPECT_EQ(InUs(train.total.host), 30);
  // 0-10 before the data, 60-70 before the forward pass, 100-120 after all.
  EXPECT_EQ(InUs(PlaceAt(found, "data loading").own.host), 10);
  EXPECT_EQ(InUs(PlaceAt(found, "forward").own.host), 10);
  EXPECT_EQ(InUs(PlaceAt(found, "other").own.host), 20);
  EXPECT_EQ(InUs(found.total.host), 120);
  EXPECT_EQ(InUs(found.host_parts.at("data loading")), 60);
  EXPECT_EQ(InUs(found.host_parts.at("in aten::mm")), 10);
}

// s7   [a 10-30   ]          [c 60-70]     a is alone for 10,
// s8        [b 20-40   ]                   b for 10, c always.
TEST(AttributionTest, ExposedIsWhatRunsAlone) {
  const Attribution found = AttributionOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    op "a" @0+3
      call launch "launch" @1+1
        s7: gemm m=1 @10+20
    op "b" @4+3
      call launch "launch" @5+1
        s8: gemm m=1 @20+20
    op "c" @50+3
      call launch "launch" @51+1
        s7: gemm m=1 @60+10
)");
  EXPECT_EQ(InUs(PlaceAt(found, "other > a").total.exposed), 10);
  EXPECT_EQ(InUs(PlaceAt(found, "other > b").total.exposed), 10);
  EXPECT_EQ(InUs(PlaceAt(found, "other > c").total.exposed), 10);
  EXPECT_EQ(InUs(found.total.gpu), 50);
  // By size, then by name: c is the smallest.
  EXPECT_EQ(found.places.at(1).name, "a");
  EXPECT_EQ(found.places.at(3).name, "c");
}

// The simulated step begins at zero with what is left of it.
TEST(AttributionTest, WorkOfTheStepBeforeHasItsPlace) {
  const Attribution found = AttributionOf(R"(stepcast-graph 1
rank 0 @0+100
  thread main
    op "a" @0+3
  s7: gemm m=1 @-5+25
)");
  EXPECT_EQ(InUs(PlaceAt(found, "launched before the step").total.gpu), 20);
}

TEST(AttributionTest, FoldedStacksHaveThePassOfTheirOwn) {
  EXPECT_EQ(FoldedStacks(ReplayOf(kTraining).result, ir::RankId{0}),
            R"(backward;M;## forward ##;L;aten::relu;relu_back 20
forward;M;## forward ##;L;aten::relu;relu 10
forward;M;## forward ##;aten::sum;sum 5
host;backward 10
host;backward;AccumulateGrad 10
host;backward;M;## forward ##;L;aten::relu 30
host;forward 10
host;forward;M;## forward ## 15
host;forward;M;## forward ##;L 2
host;forward;M;## forward ##;L;aten::relu 8
host;forward;M;## forward ##;aten::sum 5
host;optimizer 60
host;optimizer;aten::add_ 20
host;other 30
optimizer;aten::add_;add 10
)");
}

// What a recording nests a hundred levels deep is not written so.
TEST(AttributionTest, TheTreeIsNotAsDeepAsARecording) {
  constexpr int kDepth = 100;
  std::string text = "stepcast-graph 1\nrank 0 @0+100\n  thread main\n";
  for (int i = 0; i < kDepth; ++i) {
    text += fmt::format("^{} annotation \"{}\" @0+90\n", i + 2, i);
  }
  text += fmt::format("^{} op \"deep\" @10+5\n", kDepth + 2);
  const Attribution found = AttributionOf(text);
  uint32_t deepest = 0;
  for (const Place& place : found.places) {
    deepest = std::max(deepest, place.depth);
  }
  EXPECT_LT(deepest, 64U);
  EXPECT_EQ(InUs(found.total.host), 100);
}

}  // namespace
}  // namespace stepcast::engine

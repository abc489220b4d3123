#include "engine/explain/step_result.h"

#include <memory>

#include <gtest/gtest.h>

#include "cost/model_store.h"
#include "engine/run/predict.h"
#include "engine/run/replay_testing.h"
#include "hw/device.h"
#include "ir/graph_testing.h"

namespace stepcast::engine {
namespace {

// host  [a 5-25: call 10-14]| 50
// s7             [k 16 -------------- 116]
constexpr std::string_view kLongKernel = R"(stepcast-graph 1
rank 0 @0+50
  thread main
    op "a" @5+20
      call launch "launch" @10+4
        s7: opaque "k" @16+100
)";

TEST(StepResultTest, ThePathOfARecordedStepLeadsToItsEndPredictedOrReplayed) {
  cost::ModelStore store;
  const auto predicted = engine::Predict(
      {.graph = std::make_shared<const ir::Graph>(ir::GraphOf(kLongKernel)),
       .models =
           *store.Kernels(MakeNamed("gpu", *hw::FindDevice("v100-sxm-16gb")))},
      {.repeats = 1, .rank_offsets = true});
  ASSERT_TRUE(predicted) << predicted.error().message;
  const StepResult replayed = ReplayOf(kLongKernel).result;
  EXPECT_EQ(predicted->critical_path, replayed.critical_path);
  EXPECT_EQ(predicted->critical_path.back().end, predicted->slowest_span().end);
  EXPECT_EQ(ToMicroseconds(predicted->step), 50);
}

TEST(StepResultTest, AGraphWithoutRanksHasAnEmptyAccount) {
  const StepResult nothing;
  EXPECT_EQ(nothing.slowest_account().step, Duration{});
  EXPECT_EQ(nothing.slowest_span().end, Duration{});
}

}  // namespace
}  // namespace stepcast::engine

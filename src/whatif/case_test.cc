#include "whatif/case.h"

#include <string_view>

#include <gtest/gtest.h>

#include "whatif/whatif_testing.h"

namespace stepcast::whatif {
namespace {

constexpr std::string_view kStepWithWaits = R"(stepcast-graph 1
rank 0 "Tesla V100-SXM2-16GB" @0+200
  thread main
    op "a" @5+30
      call launch "launch" @10+4
        s7: gemm batch=1 m=1024 n=1024 k=512 dtype=fp32 "mm" @16+20 #m
      call launch "launch" @15+4
        s9: fill bytes=1024 "zero" @37+20 #z
      call launch "launch" @20+4
        s7: elementwise elements=1048576 read=4194304 written=4194304 dtype=fp32 "relu" @38+80 #w
    op "b" @35+10
    call stream_sync "sync" @50+78 #c
  wait #m -> #z
  wait #w -> #c
)";

// Edits that touch single tasks, and such that reach all, in turn: each leaves
// nothing after for the next.
TEST(StepBatchTest, EveryAnswerIsThatOfApply) {
  const Case before = TraceOf(kStepWithWaits);
  StepBatch batch(before);
  cost::ModelStore store;
  for (const std::string_view text :
       {"scale-op=relu=0.5", "drop-op=relu", "scale-op=mm=3", "remove-sync",
        "scale-overhead=2", "drop-op=b", "gpu=a100-sxm-80gb",
        "scale-overhead=launch=4", "drop-op=a", "scale-overhead=gap=9",
        "scale-op=relu=0.5", "remove-sync", "scale-op=relu=1"}) {
    const auto step = batch.StepWith(ChangesOf({text}), store);
    ASSERT_TRUE(step) << text << ": " << step.error().message;
    EXPECT_EQ(*step, After(before, {text}).after.result.step) << text;
  }
}

TEST(StepBatchTest, AnErrorLeavesTheBatchUsable) {
  const Case before = TraceOf(kStepWithWaits);
  StepBatch batch(before);
  cost::ModelStore store;
  EXPECT_FALSE(batch.StepWith(ChangesOf({"drop-op=none"}), store));
  EXPECT_FALSE(batch.StepWith(ChangesOf({"batch=4"}), store));
  const auto step = batch.StepWith(ChangesOf({"scale-op=relu=1"}), store);
  ASSERT_TRUE(step);
  EXPECT_EQ(*step, before.result.step);
}

// A step that was changed before is edited from there on.
TEST(StepBatchTest, ChangedStepsCanBeAskedToo) {
  const Case halved =
      After(TraceOf(kStepWithWaits), {"scale-op=relu=0.5"}).after;
  StepBatch batch(halved);
  cost::ModelStore store;
  const auto step = batch.StepWith(ChangesOf({"scale-op=relu=2"}), store);
  ASSERT_TRUE(step);
  EXPECT_EQ(*step, TraceOf(kStepWithWaits).result.step);
}

}  // namespace
}  // namespace stepcast::whatif

#include <gtest/gtest.h>

#include "cost/kernels/families.h"
#include "cost/machine_testing.h"

namespace stepcast::cost {
namespace {

ir::Interaction Criteo(ir::DType dtype) {
  return {.batch = 2048, .features = 27, .dim = 128, .dtype = dtype};
}

TEST(Interaction, LiesBetweenItsTrafficAndItsRoofline) {
  const Machine a100 = On("a100-sxm-80gb");
  const Base base = InteractionBase(Criteo(ir::DType::kFp16), a100);
  EXPECT_GT(base.time_us, base.memory_us);
  EXPECT_GE(base.time_us, base.roofline_us);
  // 15.6 MB through L2: tens of microseconds at most.
  EXPECT_LT(base.time_us, 40);
}

TEST(Interaction, BackwardTakesLonger) {
  const Machine a100 = On("a100-sxm-80gb");
  ir::Interaction backward = Criteo(ir::DType::kFp16);
  backward.pass = ir::Pass::kBackward;
  EXPECT_GT(InteractionBase(backward, a100).time_us,
            InteractionBase(Criteo(ir::DType::kFp16), a100).time_us);
}

TEST(Interaction, GrowsWithEveryDimension) {
  const Machine v100 = On("v100-sxm-16gb");
  const ir::Interaction small = Criteo(ir::DType::kFp32);
  const double time = InteractionBase(small, v100).time_us;
  for (int64_t ir::Interaction::*size :
       {&ir::Interaction::batch, &ir::Interaction::features,
        &ir::Interaction::dim}) {
    ir::Interaction large = small;
    large.*size *= 2;
    EXPECT_GT(InteractionBase(large, v100).time_us, time);
  }
}

// 26 samples per SM, 351 pairs of vectors of 32 loads; each load of the second
// takes a clock of its own, one of the first serves 8 threads: 328,536 clocks.
TEST(Interaction, OnVectorLanesThreadsTakeTurnsAtABank) {
  Machine v100 = On("v100-sxm-16gb");
  v100.device.clock_ghz = 1.5;
  v100.device.sm_count = 80;
  const Base base = InteractionBase(Criteo(ir::DType::kFp32), v100);
  EXPECT_NEAR(base.compute_us, 328536 / 1.5e3, 1e-6);
  EXPECT_GT(base.time_us, base.compute_us);
}

TEST(Interaction, VectorsThatBeginAtOtherBanksDoNotTakeTurns) {
  const Machine v100 = On("v100-sxm-16gb");
  ir::Interaction apart = Criteo(ir::DType::kFp32);
  apart.dim = 132;  // 528 bytes: every vector begins 16 bytes further on.
  // Loads of the second vector serve 8 threads, too: 2 / 8 instead of 9 / 8.
  EXPECT_NEAR(InteractionBase(apart, v100).compute_us,
              InteractionBase(Criteo(ir::DType::kFp32), v100).compute_us * 132 /
                  128 * 2 / 9,
              1e-6);
}

TEST(Attention, IsQuadraticInTheLengthWhenLong) {
  const Machine a100 = On("a100-sxm-80gb");
  ir::Attention op{.batch = 4,
                   .heads = 16,
                   .queries = 4096,
                   .keys = 4096,
                   .dim = 64,
                   .dtype = ir::DType::kBf16};
  const double time = AttentionBase(op, a100).time_us;
  op.queries *= 2;
  op.keys *= 2;
  EXPECT_NEAR(AttentionBase(op, a100).time_us / time, 4, 0.2);
  // 1.1e12 operations at 0.35 of 312 TFLOP/s.
  EXPECT_NEAR(AttentionBase(op, a100).time_us, 10070, 500);
}

ir::Attention ShortAttention() {
  return {.batch = 1,
          .heads = 8,
          .queries = 141,
          .keys = 141,
          .dim = 64,
          .dtype = ir::DType::kBf16};
}

// Two tiles of 128 keys. Each has two products, of 4.2 MFLOP in all at 0.35 of
// 1/132 of 989.4 TFLOP/s: 1.60 us; and two steps of 2,900 clocks at 1.98 GHz,
// 2.93 us. The smallest kernel takes 1.46 us. Profiled: 9.4.
TEST(Attention, AFewTokensTakeAsLongAsTheirTilesOneAfterTheOther) {
  EXPECT_NEAR(AttentionBase(ShortAttention(), On("h100-sxm-80gb")).time_us,
              1.46 + 2 * (1.60 + 2.93), 0.05);
}

// 16 blocks or 128, on 132 SMs.
TEST(Attention, HeadsThatFindAnIdleSmTakeNoLonger) {
  const Machine h100 = On("h100-sxm-80gb");
  ir::Attention more = ShortAttention();
  more.heads *= 8;
  EXPECT_NEAR(AttentionBase(more, h100).time_us,
              AttentionBase(ShortAttention(), h100).time_us, 0.05);
  more.heads *= 8;
  EXPECT_GT(AttentionBase(more, h100).time_us,
            2 * AttentionBase(ShortAttention(), h100).time_us);
}

// Three tiles of 64 keys, and twice the clocks for each step.
TEST(Attention, StepsOfCdnaAreLonger) {
  EXPECT_GT(AttentionBase(ShortAttention(), On("mi300x")).time_us,
            2 * AttentionBase(ShortAttention(), On("h100-sxm-80gb")).time_us);
}

}  // namespace
}  // namespace stepcast::cost

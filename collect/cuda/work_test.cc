#include "collect/cuda/work.h"

#include <gtest/gtest.h>

namespace stepcast::collect {
namespace {

Point Gemm(int64_t size, const std::string& dtype) {
  Point point;
  point.op = "nn";
  point.dtype = dtype;
  point.m = point.n = point.k = size;
  return point;
}

TEST(WorkTest, AProductCountsItsFlopAndAllThreeMatrices) {
  const Work work = WorkOf(Gemm(100, "fp16"));
  EXPECT_DOUBLE_EQ(work.flop, 2e6);
  EXPECT_DOUBLE_EQ(work.moved_bytes, 2 * 3 * 1e4);
}

TEST(WorkTest, ABagHoldsItsTableAndMovesWhatItLooksUp) {
  Point bag;
  bag.kind = Kind::kEmbeddingBag;
  bag.op = "fwd";
  bag.dtype = "fp32";
  bag.pooling = "sum";
  bag.rows = 1000;
  bag.dim = 32;
  bag.batch = 10;
  bag.lookups = 4;
  // 40 rows and 10 sums of 128 bytes, 40 ids of 8.
  EXPECT_DOUBLE_EQ(WorkOf(bag).moved_bytes, 128 * 50 + 8 * 40);
  EXPECT_DOUBLE_EQ(WorkOf(bag).held_bytes, 128 * 1050 + 8 * 40);
  bag.op = "bwd";
  EXPECT_DOUBLE_EQ(WorkOf(bag).moved_bytes, 128 * 90 + 8 * 40);
}

TEST(CopiesTest, SmallOperandsTakeTurnsAndLargeOnesDoNot) {
  EXPECT_EQ(CopiesOf(Gemm(32, "fp32"), 12e6), 8);
  EXPECT_EQ(CopiesOf(Gemm(4096, "fp32"), 12e6), 1);
  Point cached;
  cached.kind = Kind::kBandwidth;
  cached.op = "read";
  cached.bytes = 1 << 14;
  EXPECT_EQ(CopiesOf(cached, 12e6), 1);
}

TEST(LimitsTest, WhatDoesNotFitIsLeftOut) {
  const Limits limits(60e3, 1e6);
  EXPECT_EQ(limits.ReasonToSkip(Gemm(4096, "fp32")), "does not fit");
  EXPECT_EQ(limits.ReasonToSkip(Gemm(64, "fp32")), "");
}

TEST(LimitsTest, SpeedsAreLearnedFromLongCallsOnly) {
  Limits limits(1000, 1e12);
  const Point large = Gemm(2048, "fp32");  // 17 GFLOP: 17 ms at 1 TFLOP/s.
  EXPECT_EQ(limits.ReasonToSkip(large), "takes too long");
  limits.Learn(Gemm(64, "fp32"), 10);
  EXPECT_EQ(limits.ReasonToSkip(large), "takes too long");
  limits.Learn(Gemm(1024, "fp32"), 100);  // 21 TFLOP/s.
  EXPECT_EQ(limits.ReasonToSkip(large), "");
  EXPECT_EQ(limits.ReasonToSkip(Gemm(8192, "fp32")), "takes too long");
}

}  // namespace
}  // namespace stepcast::collect

#include "learn/measured/kernel_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::learn {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kGemmHeader =
    "gpu,dtype,batch,m,n,k,layout,bias,time_us,timing\n";

KernelRows ReadKernels(std::string text, std::string source = "gemm/x.csv") {
  KernelRows rows;
  const auto status = AddKernelRows(std::move(text), std::move(source), rows);
  EXPECT_TRUE(status.has_value()) << status.error().message;
  return rows;
}

TEST(KernelRows, ReadsAProductWithItsLayout) {
  const KernelRows rows =
      ReadKernels(std::string(kGemmHeader) +
                  "v100-pcie-32gb,fp32,1,64,128,256,tn,1,10.5,event_op\n"
                  "v100-pcie-32gb,fp32,8,64,128,256,nt,0,20,graph\n");
  ASSERT_EQ(rows.rows.size(), 2u);
  EXPECT_EQ(ir::ShapeText(rows.rows[0].shape),
            "gemm batch=1 m=64 n=128 k=256 transpose_b=true dtype=fp32");
  EXPECT_EQ(rows.rows[0].time_us, 10.5);
  EXPECT_EQ(rows.ops[rows.rows[0].op], "linear");
  EXPECT_EQ(ir::ShapeText(rows.rows[1].shape),
            "gemm batch=8 m=64 n=128 k=256 transpose_a=true dtype=fp32");
  EXPECT_EQ(rows.rows[1].timing, Timing::kGraph);
}

TEST(KernelRows, SkipsRowsThatMakeNoSenseAndSaysWhy) {
  const KernelRows rows =
      ReadKernels(std::string(kGemmHeader) +
                  "g,fp32,1,64,128,256,tn,1,10.5,event_op\n"
                  "g,fp32,1,64,128,256,tn,1,10.5,event_op\n"
                  "g,fp32,1,-3,128,256,tn,1,10.5,event_op\n"
                  "g,fp32,1,64,128,256,tn,1,0,event_op\n"
                  "g,fp33,1,64,128,256,tn,1,10.5,event_op\n"
                  "g,fp32,1,64,128,256,tn,1,10.5,stopwatch\n");
  EXPECT_EQ(rows.rows.size(), 1u);
  ASSERT_EQ(rows.skipped.size(), 5u);
  EXPECT_EQ(rows.skipped[0].line, 3u);
  EXPECT_EQ(rows.skipped[0].why, "the same line as an earlier one");
  EXPECT_THAT(rows.skipped[1].why, HasSubstr("m is '-3'"));
  EXPECT_THAT(rows.skipped[2].why, HasSubstr("time_us is '0'"));
  EXPECT_THAT(rows.skipped[3].why, HasSubstr("dtype is 'fp33'"));
  EXPECT_THAT(rows.skipped[4].why, HasSubstr("timing is 'stopwatch'"));
}

TEST(KernelRows, RefusesATableWithoutItsColumns) {
  KernelRows rows;
  const auto missing = AddKernelRows("gpu,dtype,batch,m,n,k,layout,time_us\n",
                                     "gemm/x.csv", rows);
  ASSERT_FALSE(missing.has_value());
  EXPECT_THAT(missing.error().message,
              HasSubstr("gemm/x.csv:1: no column timing"));
  const auto unknown = AddKernelRows("a,b\n1,2\n", "x.csv", rows);
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(unknown.error().message, HasSubstr("no kernel we know"));
}

TEST(KernelRows, WantsTheNameWhereColumnsAreAlike) {
  constexpr std::string_view kText =
      "gpu,dtype,direction,rows,cols,time_us,timing\n"
      "g,fp32,fwd,8,16,3.5,profiler\n";
  KernelRows rows;
  const auto status = AddKernelRows(std::string(kText), "mine.csv", rows);
  ASSERT_FALSE(status.has_value());
  EXPECT_THAT(status.error().message, HasSubstr("softmax and of layernorm"));
  EXPECT_EQ(
      ir::FamilyName(
          ReadKernels(std::string(kText), "a/layernorm/g.csv").rows[0].shape),
      "normalization");
}

TEST(PartOf, PutsAShapeOnOneSide) {
  int parts[3] = {};
  for (int64_t m = 1; m <= 10000; ++m) {
    const ir::KernelShape shape =
        ir::Gemm{.batch = 1, .m = m, .n = 3, .k = 5, .dtype = ir::DType::kFp32};
    ++parts[static_cast<int>(PartOf(shape))];
    EXPECT_EQ(PartOf(shape), PartOf(shape));
  }
  EXPECT_NEAR(parts[1], 1000, 150);
  EXPECT_NEAR(parts[2], 1000, 150);
}

}  // namespace
}  // namespace stepcast::learn

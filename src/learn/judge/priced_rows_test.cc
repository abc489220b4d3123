#include "learn/judge/priced_rows.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::learn {
namespace {

using ::testing::HasSubstr;

TEST(PricedRow, AClockShowsTheLaunchAndNeverLessThanItsFloor) {
  const PricedRow row{.lead_us = 4, .floor_us = 9};
  EXPECT_EQ(row.Observed(20), 24);
  EXPECT_EQ(row.Observed(3), 9);
  EXPECT_EQ(PricedRow().Observed(3), 3);
}

TEST(PricedRow, IsJudgedIfItsTimeIsThatOfTheKernel) {
  EXPECT_TRUE((PricedRow{.priced = true}.judged()));
  EXPECT_FALSE(PricedRow().judged());
  EXPECT_FALSE((PricedRow{.priced = true, .too_fast = true}.judged()));
  EXPECT_FALSE((PricedRow{.priced = true, .below_floor = true}.judged()));
}

TEST(PricedRowsJson, ShowsOfEveryRowWhatOtherModelsNeed) {
  KernelRows rows;
  ASSERT_TRUE(
      AddKernelRows("gpu,dtype,batch,m,n,k,layout,time_us,timing\n"
                    "t4,fp32,1,2048,1024,512,tn,500,profiler\n",
                    "gemm/t4.csv", rows));
  const auto priced = PriceRows(rows, cost::ProfileStore(), {});
  ASSERT_TRUE(priced) << priced.error().message;
  const std::string json = PricedRowsJson(rows, *priced, std::nullopt);
  EXPECT_THAT(json, HasSubstr(R"({"gpus":[{"name":"t4",)"));
  EXPECT_THAT(json, HasSubstr(R"("shapes":["gemm batch=1 m=2048 n=1024 k=512 )"
                              R"(transpose_b=true dtype=fp32"])"));
  EXPECT_THAT(json, HasSubstr(R"("time_us":500,"judged":true,"lead_us":0,)"));
}

TEST(PricedRowsJson, HasTheRowsOfThePartAskedFor) {
  KernelRows rows;
  ASSERT_TRUE(
      AddKernelRows("gpu,dtype,batch,m,n,k,layout,time_us,timing\n"
                    "t4,fp32,1,2048,1024,512,tn,500,profiler\n",
                    "gemm/t4.csv", rows));
  const Part part = PartOf(rows.rows[0].shape);
  const Part other = part == Part::kFit ? Part::kTest : Part::kFit;
  const auto priced = PriceRows(rows, cost::ProfileStore(), {.part = other});
  ASSERT_TRUE(priced) << priced.error().message;
  EXPECT_THAT(PricedRowsJson(rows, *priced, other), HasSubstr(R"("rows":[])"));
}

}  // namespace
}  // namespace stepcast::learn

#include "learn/fit/overheads/authors_overheads.h"

#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::learn {
namespace {

using cost::OverheadPart;
using ::testing::DoubleNear;
using ::testing::HasSubstr;

CsvTable TableOf(std::string text) {
  auto table = CsvTable::Parse(std::move(text), "a.csv");
  EXPECT_TRUE(table) << table.error().message;
  return *std::move(table);
}

Result<cost::OverheadData> Read(std::vector<std::string> texts) {
  std::vector<CsvTable> tables;
  for (std::string& text : texts) {
    tables.push_back(TableOf(std::move(text)));
  }
  return ReadAuthorsOverheads(tables);
}

constexpr std::string_view kComplete =
    "overhead_type,op_or_runtime_call,mean_us,std_us,"
    "num_launches_in_first_occurrence\n"
    "t1,,14.5,13.25,\n"
    "t2,aten::linear,71.8,10.3,2\n"
    "t3,aten::linear,14.6167,2.7,2\n"
    "t5,aten::linear,37.7333,9.7,2\n"
    "t5,aten::relu,0.0,0.0,1\n"
    "t5,aten::view,5.0,0.0,0\n"
    "t4,cudaLaunchKernel,10.9,3.6,\n"
    "t4,cudaStreamSynchronize,190.0,193.0,\n";

TEST(AuthorsOverheadsTest, ReadsACompleteSet) {
  const auto data = Read({std::string(kComplete)});
  ASSERT_TRUE(data) << data.error().message;
  const cost::OverheadRow& t1 = (*data)[OverheadPart::kBetweenOps].at("*");
  EXPECT_EQ(t1.mean_us, 14.5);
  EXPECT_THAT(t1.p90_us, DoubleNear(14.5 + 1.2816 * 13.25, 1e-9));
  EXPECT_EQ(t1.p10_us, 0);
  // Printed 37.7333: 566 / 15.
  EXPECT_THAT(
      (*data)[OverheadPart::kBetweenLaunches].at("aten::linear").mean_us,
      DoubleNear(566.0 / 15, 1e-12));
  EXPECT_EQ((*data)[OverheadPart::kNoLaunch].at("aten::view").mean_us, 5);
  EXPECT_EQ((*data)[OverheadPart::kBetweenLaunches].count("aten::relu"), 0);
  // Waiting is not an overhead.
  EXPECT_EQ((*data)[OverheadPart::kCall].size(), 1);
}

TEST(AuthorsOverheadsTest, OfManyWorkloadsDlrmCounts) {
  const auto data =
      Read({"overhead_type,op_or_runtime_call,model,batch_size,"
            "mean_us,std_us,count\n"
            "t2,aten::relu,DLRM_default,512,20,1,30\n"
            "t2,aten::relu,DLRM_MLPerf,512,24,1,10\n"
            "t2,aten::relu,resnet50,512,80,1,100000\n"});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ((*data)[OverheadPart::kBeforeLaunch].at("aten::relu").mean_us, 21);
}

TEST(AuthorsOverheadsTest, FiguresWinAndSetT4) {
  const auto data = Read({std::string(kComplete),
                          "overhead_type,op,model,batch_size,mean_us,note\n"
                          "t2,aten::linear,DLRM_default,512,30,x\n"
                          "t2,aten::linear,DLRM_default,1024,40,x\n"
                          "t5,aten::linear,DLRM_default,512,29,x\n"
                          "t5,aten::zeros,DLRM_default,512,1.5,x\n",
                          "gpu,model,batch_size,t1_mean_us,t1_std_us,note\n"
                          "V100,DLRM_default,512,7.5,5,x\n"});
  ASSERT_TRUE(data) << data.error().message;
  EXPECT_EQ((*data)[OverheadPart::kBeforeLaunch].at("aten::linear").mean_us,
            35);
  EXPECT_EQ((*data)[OverheadPart::kBetweenOps].at("*").mean_us, 7.5);
  EXPECT_EQ((*data)[OverheadPart::kCall].at("launch cudaLaunchKernel").mean_us,
            4);
  // An op with a T2 launches; one without does not.
  EXPECT_EQ((*data)[OverheadPart::kBetweenLaunches].at("aten::linear").mean_us,
            29);
  EXPECT_EQ((*data)[OverheadPart::kNoLaunch].at("aten::zeros").mean_us, 1.5);
}

TEST(AuthorsOverheadsTest, SaysWhatIsWrong) {
  const auto unknown = Read({"a,b\n1,2\n"});
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message,
              HasSubstr("a.csv:1: no table of overheads; expected"));
  const auto wrong =
      Read({"overhead_type,op_or_runtime_call,mean_us,std_us,"
            "num_launches_in_first_occurrence\nt1,,fast,1,\n"});
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message,
              HasSubstr("a.csv:2: the mean is not a time"));
}

TEST(UnroundedMeanTest, FindsTheFractionThatWasPrinted) {
  EXPECT_EQ(UnroundedMean(12.5), 12.5);
  EXPECT_EQ(UnroundedMean(27.5714), 193.0 / 7);
  EXPECT_EQ(UnroundedMean(14.592929292929293), 14.592929292929293);
}

}  // namespace
}  // namespace stepcast::learn

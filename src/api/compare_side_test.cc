#include "api/compare_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::api {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ReadSideTest, EveryWordOfTheOptionsIsOneOfASide) {
  scenario::Scenario scenario;
  ASSERT_TRUE(ReadSide(
      "rm1@server=2s-epyc-7742,runtime=caffe2,pageable,profile=p", scenario));
  EXPECT_THAT(scenario.workload, ElementsAre("rm1"));
  EXPECT_EQ(scenario.server, "2s-epyc-7742");
  EXPECT_EQ(scenario.runtime, "caffe2");
  EXPECT_TRUE(scenario.pageable);
  EXPECT_THAT(scenario.profile, ElementsAre("p"));
}

TEST(ReadSideTest, AProfileOfTheSideIsAskedFirst) {
  scenario::Scenario scenario;
  scenario.profile = {"shared"};
  ASSERT_TRUE(ReadSide("rm1@profile=own", scenario));
  EXPECT_THAT(scenario.profile, ElementsAre("own", "shared"));
}

TEST(ReadSideTest, AServerLeavesTheGpuToTheOtherSide) {
  scenario::Scenario scenario;
  scenario.gpu = "a100-sxm-80gb";
  scenario.gpus = "8";
  ASSERT_TRUE(ReadSide("rm1@server=2s-skylake", scenario));
  EXPECT_EQ(scenario.gpu, "");
  EXPECT_EQ(scenario.gpus, "");
}

TEST(ReadSideTest, AGpuLeavesTheServerToTheOtherSide) {
  scenario::Scenario scenario;
  scenario.server = "2s-skylake";
  ASSERT_TRUE(ReadSide("rm1@gpu=t4", scenario));
  EXPECT_EQ(scenario.server, "");
}

TEST(ReadSideTest, AFlagTakesNoValue) {
  scenario::Scenario scenario;
  const Status status = ReadSide("rm1@pageable=yes", scenario);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("expected true or false"));
}

}  // namespace
}  // namespace stepcast::api

#include "cli/compare_side.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ReadSideTest, EveryWordOfTheOptionsIsOneOfASide) {
  PredictCommand command;
  ASSERT_TRUE(ReadSide(
      "rm1@server=2s-epyc-7742,runtime=caffe2,pageable,profile=p", command));
  EXPECT_THAT(command.scenario.workload, ElementsAre("rm1"));
  EXPECT_EQ(command.scenario.server, "2s-epyc-7742");
  EXPECT_EQ(command.scenario.runtime, "caffe2");
  EXPECT_TRUE(command.scenario.pageable);
  EXPECT_THAT(command.scenario.profile, ElementsAre("p"));
}

TEST(ReadSideTest, AProfileOfTheSideIsAskedFirst) {
  PredictCommand command;
  command.scenario.profile = {"shared"};
  ASSERT_TRUE(ReadSide("rm1@profile=own", command));
  EXPECT_THAT(command.scenario.profile, ElementsAre("own", "shared"));
}

TEST(ReadSideTest, AServerLeavesTheGpuToTheOtherSide) {
  PredictCommand command;
  command.scenario.gpu = "a100-sxm-80gb";
  command.scenario.gpus = "8";
  ASSERT_TRUE(ReadSide("rm1@server=2s-skylake", command));
  EXPECT_EQ(command.scenario.gpu, "");
  EXPECT_EQ(command.scenario.gpus, "");
}

TEST(ReadSideTest, AGpuLeavesTheServerToTheOtherSide) {
  PredictCommand command;
  command.scenario.server = "2s-skylake";
  ASSERT_TRUE(ReadSide("rm1@gpu=t4", command));
  EXPECT_EQ(command.scenario.server, "");
}

TEST(ReadSideTest, AFlagTakesNoValue) {
  PredictCommand command;
  const Status status = ReadSide("rm1@pageable=yes", command);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("expected true or false"));
}

}  // namespace
}  // namespace stepcast::cli

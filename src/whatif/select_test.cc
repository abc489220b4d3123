#include "whatif/select.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "whatif/whatif_testing.h"

namespace stepcast::whatif {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kStepWithCollectives = R"(stepcast-graph 1
rank 0 "Tesla V100-SXM2-16GB" @0+200
  thread main
    op "aten::linear" @5+30
      call launch "launch" @10+4
        s7: gemm batch=1 m=1024 n=1024 k=512 dtype=fp32 "sgemm" @16+20
      call launch "launch" @20+4
        s9: collective kind=all_reduce bytes=4096 group=2 dtype=fp32 "nccl1" @40+20
      call launch "launch" @25+4
        s9: collective kind=all_to_all bytes=4096 group=2 dtype=fp32 "nccl2" @61+20
)";

size_t ActivitiesCalled(std::string_view name) {
  const Case step = TraceOf(kStepWithCollectives);
  const auto found = Select(*step.result.graph, step.result.plan, name);
  return found ? found->activities.size() : 0;
}

TEST(SelectTest, ACollectiveGoesByItsKindItsFamilyAndItsName) {
  EXPECT_EQ(ActivitiesCalled("all_reduce"), 1u);
  EXPECT_EQ(ActivitiesCalled("all_to_all"), 1u);
  EXPECT_EQ(ActivitiesCalled("all_*"), 2u);
  EXPECT_EQ(ActivitiesCalled("collective"), 2u);
  EXPECT_EQ(ActivitiesCalled("nccl1"), 1u);
}

TEST(SelectTest, WhatIsNotThereIsAnsweredWithWhatIs) {
  const Case step = TraceOf(kStepWithCollectives);
  EXPECT_THAT(ErrorOf(step, "drop-op=convolution"),
              HasSubstr("as in aten::linear, collective, gemm"));
  EXPECT_THAT(ErrorOf(step, "drop-op=all_redduce"),
              HasSubstr("did you mean all_reduce?"));
}

}  // namespace
}  // namespace stepcast::whatif

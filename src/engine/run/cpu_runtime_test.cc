#include "engine/run/cpu_runtime.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/overheads/overhead_table.h"
#include "hw/node.h"

namespace stepcast::engine {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(CpuRuntimeTest, SharesAreSharesAndOverheadsExist) {
  for (const CpuRuntime& runtime : CpuRuntimes()) {
    SCOPED_TRACE(runtime.name);
    for (const double share :
         {runtime.gemm_share, runtime.batched_share, runtime.matrix_share}) {
      EXPECT_GT(share, 0);
      EXPECT_LE(share, 1);
    }
    EXPECT_THAT(cost::OverheadNames(),
                Contains(std::string(runtime.overheads)));
  }
}

TEST(CpuRuntimeTest, AnImplementationHasAUsualOne) {
  EXPECT_EQ((*FindCpuRuntime("onnx"))->name, "onnx");
  const auto unknown = FindCpuRuntime("onyx");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_THAT(unknown.error().message, HasSubstr("onnx"));
}

TEST(CpuRuntimeTest, OneThreadHasOneCore) {
  const hw::Node host = hw::FindServer("2s-epyc-7742").value();
  const hw::Device one = RuntimeDevice(**FindCpuRuntime("onnx"), host, false);
  EXPECT_EQ(one.sm_count, 1);
  EXPECT_EQ(one.team_us, 0);
  const hw::Device socket = RuntimeDevice(**FindCpuRuntime("ipex"), host, true);
  EXPECT_EQ(socket.sm_count, 60);  // Four exchange.
}

}  // namespace
}  // namespace stepcast::engine

// Tables that a host looks up, in plans.
#include <gtest/gtest.h>

#include "cost/model_store.h"
#include "hw/device.h"
#include "model/frameworks/implementations.h"
#include "model/model_testing.h"
#include "plan/make_problem.h"

namespace stepcast::plan {
namespace {

using model::Placement;

class FarTablesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    model_ = model::MadeModel(
        4096, {64, 64}, {64, 1},
        {{.count = 2, .rows = 1'000'000, .dim = 64, .pooling = 10},
         {.rows = 1'000'000, .dim = 64, .pooling = 10}});
    const auto kernels =
        store_.Kernels(MakeNamed("gpu", *hw::FindDevice("a100-sxm-80gb")));
    ASSERT_TRUE(kernels) << kernels.error().message;
    job_ = {.model = &model_,
            .kernels = *kernels,
            .ranks = {.count = 4},
            .device_bytes = 80e9,
            .host = {.memory_gbs = 100, .nic_gbs = 10}};
    job_.settings.batch = model_.batch;
    job_.settings.impl = *model::FindImplementation("torchrec");
  }

  Problem ProblemWith(Placement last) {
    model_.tables.back().placement = last;
    auto problem = MakeProblem(job_, {});
    EXPECT_TRUE(problem) << problem.error().message;
    return problem ? *std::move(problem) : Problem{};
  }

  cost::ModelStore store_;
  model::Model model_;
  Job job_;
};

TEST_F(FarTablesTest, TheyAreUnshardedAndTakeTheHostsMemory) {
  const Problem problem = ProblemWith(Placement::kHost);
  ASSERT_EQ(problem.tables.size(), 3u);
  const Table& near = problem.tables[0];
  const Table& far = problem.tables[2];
  EXPECT_GT(near.options.size(), 1u);
  ASSERT_EQ(far.options.size(), 1u);
  EXPECT_EQ(far.options[0].sharding, Sharding::kTableWise);
  EXPECT_EQ(near.host_bytes, 0);
  // 1,000,000 rows of 64 numbers.
  EXPECT_EQ(far.host_bytes, 256e6);
  EXPECT_GT(near.options[0].load.bytes, 256e6);
  EXPECT_LT(far.options[0].load.bytes, near.options[0].load.bytes - 250e6);
}

// 4 x 4096 samples of 10 rows of 256 bytes are 42 MB to read, 0.84 ms at half
// of 100 GB/s.
TEST_F(FarTablesTest, TheyCostWhatTheHostTakes) {
  const double near =
      ProblemWith(Placement::kHbm).tables[2].options[0].load.forward_us;
  const double host =
      ProblemWith(Placement::kHost).tables[2].options[0].load.forward_us;
  const double remote =
      ProblemWith(Placement::kRemote).tables[2].options[0].load.forward_us;
  EXPECT_LT(near, 200);
  EXPECT_GT(host, 840);
  EXPECT_LT(host, 2000);
  EXPECT_GT(remote, host);
}

TEST_F(FarTablesTest, RemoteTablesTakeNobodysMemory) {
  EXPECT_EQ(ProblemWith(Placement::kRemote).tables[2].host_bytes, 0);
}

}  // namespace
}  // namespace stepcast::plan

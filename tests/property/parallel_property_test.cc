// Laws that predictions for several GPUs keep, whatever the implementation.
#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "model/frameworks/implementations.h"
#include "model/model.h"
#include "model/model_testing.h"
#include "model/settings.h"
#include "model/tables/placement.h"
#include "scenario/job_testing.h"

namespace stepcast::engine {
namespace {

// Prices of kernels that follow learned corrections may fall a little where
// sizes grow.
constexpr double kTolerance = 0.01;

model::Model Dlrm(int64_t rows = 1'000'000) {
  return model::MadeModel(
      2048, {512, 256, 64}, {512, 256, 1},
      {{.count = 32, .rows = rows, .dim = 64, .pooling = 1}});
}

class ParallelLawsTest : public ::testing::TestWithParam<const char*> {
 protected:
  ModelPrediction PredictOn(const model::Model& model, int gpus, int nodes,
                            int64_t batch = 2048,
                            std::string platform = "dgx-a100") {
    scenario::Job job;
    job.options.samples = 0;
    Request& request = job.request;
    request.model = model;
    request.settings.batch = batch;
    request.settings.impl = *model::FindImplementation(GetParam());
    job.names.machine.platform = std::move(platform);
    job.names.machine.gpus = gpus;
    job.names.machine.nodes = nodes;
    auto predicted = scenario::PredictJob(job, resolver_);
    EXPECT_TRUE(predicted) << predicted.error().message;
    return *std::move(predicted);
  }

  static double Part(const ModelPrediction& predicted, std::string_view name) {
    for (const model::MemoryPart& part : predicted.memory.parts) {
      if (part.name == name) {
        return part.bytes;
      }
    }
    return 0;
  }

  static double StepUs(const ModelPrediction& predicted) {
    return ToMicroseconds(predicted.result.step);
  }

  // The time of all collectives of the first rank.
  static double CollectiveUs(const ModelPrediction& predicted) {
    double us = 0;
    const ir::GraphData& data = predicted.result.graph->data();
    for (const ir::ActivityId id : data.activities.ids()) {
      if (data.activities[id].kind == ir::ActivityKind::kCollective &&
          data.streams[data.activities[id].stream].rank == ir::RankId{0}) {
        us += predicted.result.activities.prices[id].p50_us;
      }
    }
    return us;
  }

  scenario::Resolver resolver_;
};

TEST_P(ParallelLawsTest, MoreRanksNeverHoldMoreOfTheTables) {
  double before = std::numeric_limits<double>::infinity();
  for (const int gpus : {2, 4, 8, 16, 32, 64, 256, 1024}) {
    const double bytes =
        Part(PredictOn(Dlrm(), gpus, std::max(gpus / 8, 1)), "tables");
    EXPECT_LE(bytes, before) << gpus << " GPUs";
    before = bytes;
  }
}

TEST_P(ParallelLawsTest, LargerBatchesNeverTakeLess) {
  for (const int nodes : {1, 4}) {
    double step = 0;
    double collectives = 0;
    for (const int64_t batch : {256, 1024, 4096, 16384}) {
      const ModelPrediction predicted =
          PredictOn(Dlrm(), 8 * nodes, nodes, batch);
      EXPECT_GE(StepUs(predicted), step * (1 - kTolerance))
          << batch << " on " << nodes << " nodes";
      EXPECT_GE(CollectiveUs(predicted), collectives)
          << batch << " on " << nodes << " nodes";
      step = StepUs(predicted);
      collectives = CollectiveUs(predicted);
    }
  }
}

// Ranks that are all alike are simulated as one, which still waits for links.
TEST_P(ParallelLawsTest, RanksThatAreAllAlikeStillExchange) {
  for (const int gpus : {8, 16, 32}) {
    EXPECT_GT(CollectiveUs(PredictOn(Dlrm(), gpus, gpus / 8)), 10)
        << gpus << " GPUs";
  }
}

// The same work by slower links takes no less.
TEST_P(ParallelLawsTest, SlowerNetworksNeverHelp) {
  const double fast = StepUs(PredictOn(Dlrm(), 32, 4));
  const double slow = StepUs(PredictOn(Dlrm(), 32, 4, 2048, "hgx-a100-cloud"));
  EXPECT_GE(slow, fast * (1 - kTolerance));
}

// All wait for the slowest: no rank's step is shorter than its own work.
TEST_P(ParallelLawsTest, NoRankIsDoneBeforeItsWork) {
  const ModelPrediction predicted = PredictOn(Dlrm(), 16, 2);
  for (const RankAccount& account : predicted.result.accounts) {
    EXPECT_LE(account.gpu_active, account.step);
    EXPECT_LE(account.communication_exposed, account.step);
  }
}

INSTANTIATE_TEST_SUITE_P(Implementations, ParallelLawsTest,
                         ::testing::Values("torchrec", "hugectr", "nvidia",
                                           "pytorch"));

// Farther away is slower: of one model on one GPU.
TEST(PlacementLawsTest, FartherAwayIsNeverFaster) {
  scenario::Resolver resolver;
  const auto step_us = [&](const char* placement, const char* impl) {
    scenario::Job job;
    job.options.samples = 0;
    Request& request = job.request;
    request.model = Dlrm(4'000'000);
    for (model::TableGroup& table : request.model.tables) {
      table.ids = {.kind = model::IdKind::kZipf, .alpha = 1.05};
    }
    EXPECT_TRUE(model::PlaceTables(placement, request.model));
    request.settings.batch = 8192;
    request.settings.impl = *model::FindImplementation(impl);
    job.names.machine.platform = "dgx-a100";
    const auto predicted = scenario::PredictJob(job, resolver);
    EXPECT_TRUE(predicted) << predicted.error().message;
    return ToMicroseconds(predicted->result.step);
  };
  for (const char* const impl : {"torchrec", "pytorch"}) {
    SCOPED_TRACE(impl);
    EXPECT_LT(step_us("hbm", impl), step_us("uvm-cache", impl));
    EXPECT_LE(step_us("uvm-cache:0.2", impl), step_us("uvm-cache:0.01", impl));
    EXPECT_LT(step_us("uvm-cache:0.2", impl), step_us("uvm", impl));
    EXPECT_LT(step_us("host", impl), step_us("remote", impl));
    EXPECT_LT(step_us("hbm", impl), step_us("host", impl));
  }
}

}  // namespace
}  // namespace stepcast::engine

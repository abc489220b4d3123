// Steps on servers without GPUs.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/units.h"
#include "hw/node.h"
#include "model/frameworks/implementations.h"
#include "model/read_model.h"
#include "scenario/job_testing.h"

namespace stepcast::scenario {
namespace {

using ::testing::HasSubstr;

Job OnServer(std::string server) {
  Job job;
  job.request.model = model::FindModel("dlrm_mlperf").value();
  job.names.machine.server = std::move(server);
  job.options.samples = 0;
  return job;
}

engine::ModelPrediction Predict(Job& job) {
  Resolver resolver;
  auto prediction = PredictJob(job, resolver);
  EXPECT_TRUE(prediction) << prediction.error().message;
  return *std::move(prediction);
}

double StepUs(Job& job) {
  return ToMicroseconds(Predict(job).result.step);
}

std::string ErrorOf(Job& job) {
  Resolver resolver;
  const auto prediction = PredictJob(job, resolver);
  return prediction ? std::string() : prediction.error().message;
}

TEST(PredictServersTest, LargerBatchesTakeLongerOnEveryServer) {
  const auto servers = hw::LoadServers().value();
  for (const hw::Node& server : servers) {
    Job job = OnServer(server.name);
    double last = 0;
    for (const int64_t batch : {64, 512, 4096, 32768}) {
      job.request.settings.batch = batch;
      const double us = StepUs(job);
      EXPECT_GT(us, last) << server.name << " " << batch;
      last = us;
    }
  }
}

// Products take part of the rate over sockets, one thread has one core.
TEST(PredictServersTest, OneThreadIsSlowerThanAll) {
  Job job = OnServer("2s-e5-2698v4");
  job.request.settings.impl = *model::FindImplementation("triton");
  job.request.settings.mode = model::Mode::kInfer;
  job.request.settings.batch = 32768;
  job.names.machine.runtime = "torchscript";
  const double all = StepUs(job);
  job.names.machine.runtime = "onnx";
  EXPECT_GT(StepUs(job), 3 * all);
}

TEST(PredictServersTest, NodesShareABatch) {
  Job job = OnServer("4s-xeon-8380h");
  job.request.model = model::FindModel("mlperf_dlrm").value();
  job.request.settings.impl = *model::FindImplementation("hugectr-localized");
  job.request.settings.precision = model::Precision::kBf16;
  job.request.settings.batch = 32768;
  const engine::ModelPrediction one = Predict(job);
  EXPECT_EQ(job.request.machine.ranks, 4);
  EXPECT_EQ(one.batch, 8192);
  job.names.machine.nodes = 2;
  const engine::ModelPrediction two = Predict(job);
  EXPECT_EQ(job.request.machine.ranks, 8);
  EXPECT_EQ(two.batch, 4096);
  EXPECT_LT(two.result.step, one.result.step);
  EXPECT_GT(2 * two.result.step, one.result.step);
  EXPECT_DOUBLE_EQ(two.power_w, 2 * one.power_w);
}

TEST(PredictServersTest, SaysWhatProcessorsDoNotHave) {
  Job job = OnServer("2s-skylake");
  job.request.settings.cuda_graphs = model::CudaGraphs::kAll;
  EXPECT_THAT(ErrorOf(job), HasSubstr("CUDA graphs"));
  job = OnServer("2s-skylake");
  job.request.model.tables.front().placement = model::Placement::kUvm;
  EXPECT_THAT(ErrorOf(job), HasSubstr("tables in uvm"));
  job = OnServer("2s-skylake");
  job.names.machine.gpus = 2;
  EXPECT_THAT(ErrorOf(job), HasSubstr("has no GPUs"));
  job = OnServer("2s-skylake");
  job.names.machine.nodes = 3;
  EXPECT_THAT(ErrorOf(job), HasSubstr("over 3 processes"));
}

}  // namespace
}  // namespace stepcast::scenario

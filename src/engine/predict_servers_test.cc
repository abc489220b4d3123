// Steps on servers without GPUs.
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/units.h"
#include "engine/predictor.h"
#include "hw/node.h"
#include "workload/model_files.h"

namespace stepcast::engine {
namespace {

using ::testing::HasSubstr;

Request OnServer(std::string server) {
  Request request;
  request.model = workload::FindModel("dlrm_mlperf").value();
  request.server = std::move(server);
  return request;
}

ModelPrediction Predict(const Request& request) {
  Predictor predictor;
  auto prediction = predictor.Predict(request, {});
  EXPECT_TRUE(prediction) << prediction.error().message;
  return *std::move(prediction);
}

double StepUs(const Request& request) {
  return ToMicroseconds(Predict(request).result.step);
}

std::string ErrorOf(const Request& request) {
  Predictor predictor;
  const auto prediction = predictor.Predict(request, {});
  return prediction ? std::string() : prediction.error().message;
}

TEST(PredictServersTest, LargerBatchesTakeLongerOnEveryServer) {
  const auto servers = hw::LoadServers().value();
  for (const hw::Node& server : servers) {
    Request request = OnServer(server.name);
    double last = 0;
    for (const int64_t batch : {64, 512, 4096, 32768}) {
      request.settings.batch = batch;
      const double us = StepUs(request);
      EXPECT_GT(us, last) << server.name << " " << batch;
      last = us;
    }
  }
}

// Products take part of the rate over sockets, one thread has one core.
TEST(PredictServersTest, OneThreadIsSlowerThanAll) {
  Request request = OnServer("2s-e5-2698v4");
  request.settings.impl = "triton";
  request.settings.mode = workload::Mode::kInfer;
  request.settings.batch = 32768;
  request.runtime = "torchscript";
  const double all = StepUs(request);
  request.runtime = "onnx";
  EXPECT_GT(StepUs(request), 3 * all);
}

TEST(PredictServersTest, NodesShareABatch) {
  Request request = OnServer("4s-xeon-8380h");
  request.model = workload::FindModel("mlperf_dlrm").value();
  request.settings.impl = "hugectr-localized";
  request.settings.precision = workload::Precision::kBf16;
  request.settings.batch = 32768;
  const ModelPrediction one = Predict(request);
  EXPECT_EQ(one.ranks, 4);
  EXPECT_EQ(one.batch, 8192);
  request.nodes = 2;
  const ModelPrediction two = Predict(request);
  EXPECT_EQ(two.ranks, 8);
  EXPECT_EQ(two.batch, 4096);
  EXPECT_LT(two.result.step, one.result.step);
  EXPECT_GT(2 * two.result.step, one.result.step);
  EXPECT_DOUBLE_EQ(two.power_w, 2 * one.power_w);
}

TEST(PredictServersTest, SaysWhatProcessorsDoNotHave) {
  Request request = OnServer("2s-skylake");
  request.settings.cuda_graphs = workload::CudaGraphs::kAll;
  EXPECT_THAT(ErrorOf(request), HasSubstr("CUDA graphs"));
  request = OnServer("2s-skylake");
  request.model.tables.front().placement = workload::Placement::kUvm;
  EXPECT_THAT(ErrorOf(request), HasSubstr("tables in uvm"));
  request = OnServer("2s-skylake");
  request.gpus = 2;
  EXPECT_THAT(ErrorOf(request), HasSubstr("has no GPUs"));
  request = OnServer("2s-skylake");
  request.nodes = 3;
  EXPECT_THAT(ErrorOf(request), HasSubstr("over 3 processes"));
}

}  // namespace
}  // namespace stepcast::engine

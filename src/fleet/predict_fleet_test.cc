#include "fleet/predict_fleet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/read_model.h"

namespace stepcast::fleet {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

FleetRequest Request() {
  FleetRequest request;
  request.model = model::FindModel("rm1").value();
  request.trainer =
      std::make_shared<const hw::Node>(*hw::FindServer("2s-skylake"));
  request.trainers = 8;
  request.sparse_servers = 4;
  request.dense_servers = 1;
  return request;
}

FleetPrediction Predict(const FleetRequest& request) {
  const auto prediction = PredictFleet(request);
  EXPECT_TRUE(prediction) << prediction.error().message;
  return *prediction;
}

std::string ErrorOf(const FleetRequest& request) {
  const auto prediction = PredictFleet(request);
  return prediction ? std::string() : prediction.error().message;
}

TEST(PredictFleetTest, TrainersAddUpUntilASparseServerIsFull) {
  FleetRequest request = Request();
  request.sparse_servers = 2;
  request.trainers = 1;
  const FleetPrediction one = Predict(request);
  request.trainers = 2;
  EXPECT_NEAR(Predict(request).samples_per_s / one.samples_per_s, 2, 0.3);
  request.trainers = 1000;
  const FleetPrediction many = Predict(request);
  EXPECT_THAT(many.bound_by, StartsWith("sparse"));
  request.trainers = 2000;
  EXPECT_NEAR(Predict(request).samples_per_s / many.samples_per_s, 1, 0.01);
}

TEST(PredictFleetTest, UtilisationIsAShare) {
  FleetRequest request = Request();
  for (const int trainers : {1, 10, 100, 1000}) {
    request.trainers = trainers;
    const FleetPrediction prediction = Predict(request);
    for (const TierUse* tier :
         {&prediction.trainers, &prediction.sparse, &prediction.dense}) {
      for (const double use :
           {tier->cpu, tier->memory_bandwidth, tier->network}) {
        EXPECT_GE(use, 0) << trainers;
        EXPECT_LE(use, 1 + 1e-9) << trainers;
      }
    }
  }
}

TEST(PredictFleetTest, PartsAddUpToAnIteration) {
  const FleetPrediction prediction = Predict(Request());
  double sum = 0;
  for (const RoundPart& part : prediction.parts) {
    sum += part.us;
  }
  EXPECT_NEAR(sum, prediction.iteration_us, 1e-6 * sum);
  EXPECT_LE(prediction.samples_per_s_p10, prediction.samples_per_s);
  EXPECT_GE(prediction.samples_per_s_p90, prediction.samples_per_s);
}

// What a thread takes for a sample hardly depends on how many it has at once.
TEST(PredictFleetTest, LargerBatchesGainLittle) {
  FleetRequest request = Request();
  request.model = model::FindModel("fleet_sweep").value();
  request.settings.batch = 200;
  const double small = Predict(request).samples_per_s;
  request.settings.batch = 1600;
  const double large = Predict(request).samples_per_s;
  EXPECT_GT(large, small);
  EXPECT_LT(large, 1.3 * small);
}

TEST(PredictFleetTest, WiderMlpsBindTrainers) {
  FleetRequest request = Request();
  request.model = model::FindModel("fleet_sweep").value();
  const double usual = Predict(request).samples_per_s;
  request.model.bottom_mlp = {2048, 2048, 2048, 64};
  request.model.top_mlp = {2048, 2048, 2048, 1};
  const FleetPrediction wide = Predict(request);
  EXPECT_EQ(wide.bound_by, "trainer cpu");
  EXPECT_LT(wide.samples_per_s, usual / 3);
}

TEST(PredictFleetTest, PowerIsThatOfAllServers) {
  const FleetPrediction prediction = Predict(Request());
  EXPECT_DOUBLE_EQ(prediction.power_w, 13 * 480);
  EXPECT_DOUBLE_EQ(prediction.samples_per_joule,
                   prediction.samples_per_s / prediction.power_w);
  EXPECT_FALSE(prediction.samples_per_usd.has_value());
}

TEST(PredictFleetTest, TablesThatDoNotFitAreSaid) {
  FleetRequest request = Request();
  request.model = model::FindModel("nvidia_dlrm_t0").value();
  request.sparse_servers = 1;
  const FleetPrediction prediction = Predict(request);
  EXPECT_FALSE(prediction.fits());
  ASSERT_EQ(prediction.notes.size(), 1u);
  EXPECT_THAT(prediction.notes.front(), HasSubstr("expected at least 2"));
}

TEST(PredictFleetTest, SaysWhatIsWrong) {
  FleetRequest request = Request();
  request.trainers = 0;
  EXPECT_THAT(ErrorOf(request), HasSubstr("0 trainers; expected 1 to"));
  request = Request();
  request.model = model::FindModel("resnet50").value();
  EXPECT_THAT(ErrorOf(request), HasSubstr("expected a dlrm model"));
}

}  // namespace
}  // namespace stepcast::fleet

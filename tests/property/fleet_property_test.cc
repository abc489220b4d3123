// Laws that hold for every fleet of CPU servers, on seeded random ones.
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/rng.h"
#include "fleet/predict_fleet.h"
#include "hw/node.h"

namespace stepcast::fleet {
namespace {

constexpr uint64_t kSeeds = 40;

model::Model RandomModel(Rng& rng) {
  model::Model model;
  model.name = "random";
  model.batch = 200;
  model.dense_features = rng.Between(1, 1000);
  const int64_t dim = 8 * rng.Between(1, 16);
  for (int64_t i = rng.Between(0, 3); i > 0; --i) {
    model.bottom_mlp.push_back(rng.Between(8, 1024));
  }
  model.bottom_mlp.push_back(dim);
  for (int64_t i = rng.Between(0, 3); i > 0; --i) {
    model.top_mlp.push_back(rng.Between(8, 1024));
  }
  model.top_mlp.push_back(1);
  for (int64_t i = rng.Between(1, 4); i > 0; --i) {
    model.tables.push_back({.count = rng.Between(1, 30),
                            .rows = rng.Between(100, 10'000'000),
                            .dim = dim,
                            .pooling = static_cast<double>(rng.Between(1, 60)),
                            .ids = {.kind = model::IdKind::kUniform}});
  }
  return model;
}

FleetRequest RandomRequest(Rng& rng) {
  const std::vector<hw::Node> servers = hw::LoadServers().value();
  FleetRequest request;
  request.model = RandomModel(rng);
  const auto pick = [&] {
    return std::make_shared<const hw::Node>(rng.Pick(servers));
  };
  request.trainer = pick();
  request.sparse = rng.OneIn(2) ? pick() : nullptr;
  request.dense = rng.OneIn(2) ? pick() : nullptr;
  request.trainers = static_cast<int>(rng.Between(1, 60));
  request.threads = static_cast<int>(rng.Between(0, 80));
  request.sparse_servers = static_cast<int>(rng.Between(1, 40));
  request.dense_servers = static_cast<int>(rng.Between(1, 8));
  request.sync_every = static_cast<int>(rng.Between(1, 64));
  request.settings.batch = rng.Between(1, 1000);
  request.samples = 0;
  return request;
}

FleetPrediction Predict(const FleetRequest& request) {
  const auto prediction = PredictFleet(request);
  EXPECT_TRUE(prediction) << prediction.error().message;
  return *prediction;
}

template <typename Check>
void ForEachFleet(const Check& check) {
  for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    Rng rng(seed);
    const FleetRequest request = RandomRequest(rng);
    check(request, Predict(request));
  }
}

constexpr double kRounding = 1e-6;

TEST(FleetPropertyTest, NothingIsBusierThanAllTheTime) {
  ForEachFleet([](const FleetRequest&, const FleetPrediction& prediction) {
    for (const TierUse* tier :
         {&prediction.trainers, &prediction.sparse, &prediction.dense}) {
      for (const double use :
           {tier->cpu, tier->memory_bandwidth, tier->network}) {
        EXPECT_GE(use, 0);
        EXPECT_LE(use, 1 + kRounding);
      }
    }
    EXPECT_GT(prediction.samples_per_s, 0);
  });
}

TEST(FleetPropertyTest, MoreServersAreNeverSlower) {
  ForEachFleet(
      [](const FleetRequest& request, const FleetPrediction& prediction) {
        const double least = prediction.samples_per_s * (1 - kRounding);
        FleetRequest more = request;
        more.sparse_servers *= 2;
        EXPECT_GE(Predict(more).samples_per_s, least);
        more = request;
        more.dense_servers += 1;
        EXPECT_GE(Predict(more).samples_per_s, least);
        more = request;
        more.trainers += 1;
        EXPECT_GE(Predict(more).samples_per_s, least);
      });
}

TEST(FleetPropertyTest, AveragingLessOftenIsNeverSlower) {
  ForEachFleet(
      [](const FleetRequest& request, const FleetPrediction& prediction) {
        FleetRequest less = request;
        less.sync_every *= 4;
        EXPECT_GE(Predict(less).samples_per_s,
                  prediction.samples_per_s * (1 - kRounding));
      });
}

TEST(FleetPropertyTest, TrainersGainNoMoreThanTheirNumber) {
  ForEachFleet(
      [](const FleetRequest& request, const FleetPrediction& prediction) {
        FleetRequest twice = request;
        twice.trainers *= 2;
        EXPECT_LE(Predict(twice).samples_per_s,
                  2 * prediction.samples_per_s * (1 + kRounding));
      });
}

TEST(FleetPropertyTest, PartsAddUpAndTablesAreSomewhere) {
  ForEachFleet(
      [](const FleetRequest& request, const FleetPrediction& prediction) {
        double sum = 0;
        for (const RoundPart& part : prediction.parts) {
          sum += part.us;
        }
        EXPECT_NEAR(sum, prediction.iteration_us, kRounding * sum);
        double rows = 0;
        for (const model::TableGroup& group : request.model.tables) {
          rows += static_cast<double>(group.count * group.rows * group.dim);
        }
        EXPECT_GE(prediction.sparse.memory_bytes * request.sparse_servers,
                  4 * rows * (1 - kRounding));
      });
}

}  // namespace
}  // namespace stepcast::fleet

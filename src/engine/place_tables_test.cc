#include "engine/place_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "workload/model_files.h"
#include "workload/table_deal.h"

namespace stepcast::engine {
namespace {

using ::testing::HasSubstr;
using workload::Placement;

// DLRM of MLPerf with tables so many times as large, by TorchRec.
Request Job(double rows, int gpus) {
  Request request;
  request.model = *workload::FindModel("dlrm_mlperf");
  for (workload::TableGroup& table : request.model.tables) {
    table.rows = std::max<int64_t>(
        1, static_cast<int64_t>(static_cast<double>(table.rows) * rows));
  }
  request.settings.impl = "torchrec";
  request.gpu = "v100-sxm-16gb";
  request.gpus = gpus;
  return request;
}

Duration StepOf(Request request, std::string_view placement,
                Predictor& predictor) {
  EXPECT_TRUE(SetPlacement(placement, request));
  const auto predicted = predictor.Predict(request, {});
  EXPECT_TRUE(predicted) << predicted.error().message;
  return predicted->result.step;
}

TEST(PlaceTablesTest, HybridIsAllNearWhereAllFits) {
  Predictor predictor;
  const Request request = Job(0.01, 1);
  EXPECT_EQ(StepOf(request, "hybrid", predictor),
            StepOf(request, "hbm", predictor));
}

TEST(PlaceTablesTest, HybridIsNeverSlowerThanAllFar) {
  Predictor predictor;
  for (const int gpus : {1, 4}) {
    for (const double rows : {0.3, 1.0, 3.0, 30.0}) {
      const Request request = Job(rows, gpus);
      EXPECT_LE(StepOf(request, "hybrid", predictor),
                StepOf(request, "host", predictor))
          << rows << " " << gpus;
      EXPECT_LE(StepOf(request, "hybrid-remote", predictor),
                StepOf(request, "remote", predictor))
          << rows << " " << gpus;
    }
  }
}

TEST(PlaceTablesTest, HybridFitsAndSaysWhatItDid) {
  Predictor predictor;
  for (const int gpus : {1, 4}) {
    Request request = Job(3.0, gpus);
    ASSERT_TRUE(SetPlacement("hybrid", request));
    const auto predicted = predictor.Predict(request, {});
    ASSERT_TRUE(predicted) << predicted.error().message;
    EXPECT_LE(predicted->memory.total(), predicted->memory_capacity);
    EXPECT_GT(predicted->host_bytes, 0);
    ASSERT_EQ(predicted->notes.size(), 1u);
    EXPECT_THAT(predicted->notes[0], HasSubstr("of 26 tables"));
  }
}

TEST(PlaceTablesTest, AnotherWordTakesHybridBack) {
  Request request = Job(1, 1);
  ASSERT_TRUE(SetPlacement("hybrid", request));
  ASSERT_TRUE(SetPlacement("host", request));
  EXPECT_FALSE(request.hybrid);
  EXPECT_EQ(request.model.tables.front().placement, Placement::kHost);
}

TEST(PlaceTablesTest, APlanAndHybridExcludeEachOther) {
  Predictor predictor;
  Request request = Job(1, 4);
  request.deal = workload::TableDeal{};
  ASSERT_TRUE(SetPlacement("hybrid", request));
  const auto predicted = predictor.Predict(request, {});
  ASSERT_FALSE(predicted);
  EXPECT_THAT(predicted.error().message, HasSubstr("expected"));
}

}  // namespace
}  // namespace stepcast::engine

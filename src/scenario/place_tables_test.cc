#include "engine/run/place_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/frameworks/implementations.h"
#include "model/read_model.h"
#include "model/tables/table_assignment.h"
#include "scenario/job_testing.h"

namespace stepcast::scenario {
namespace {

using model::Placement;
using ::testing::HasSubstr;

// MLPerf DLRM, run by TorchRec; its tables have `rows` times as many rows.
Job MlperfJob(double rows, int gpus) {
  Job job;
  job.options.samples = 0;
  engine::Request& request = job.request;
  request.model = *model::FindModel("dlrm_mlperf");
  for (model::TableGroup& table : request.model.tables) {
    table.rows = std::max<int64_t>(
        1, static_cast<int64_t>(static_cast<double>(table.rows) * rows));
  }
  request.settings.impl = *model::FindImplementation("torchrec");
  job.names.machine.gpu = "v100-sxm-16gb";
  job.names.machine.gpus = gpus;
  return job;
}

Duration StepOf(Job job, std::string_view placement, Resolver& resolver) {
  EXPECT_TRUE(engine::SetPlacement(placement, job.request));
  const auto predicted = PredictJob(job, resolver);
  EXPECT_TRUE(predicted) << predicted.error().message;
  return predicted->result.step;
}

TEST(PlaceTablesTest, HybridIsAllNearWhereAllFits) {
  Resolver resolver;
  const Job job = MlperfJob(0.01, 1);
  EXPECT_EQ(StepOf(job, "hybrid", resolver), StepOf(job, "hbm", resolver));
}

TEST(PlaceTablesTest, HybridIsNeverSlowerThanAllFar) {
  Resolver resolver;
  for (const int gpus : {1, 4}) {
    for (const double rows : {0.3, 1.0, 3.0, 30.0}) {
      const Job job = MlperfJob(rows, gpus);
      EXPECT_LE(StepOf(job, "hybrid", resolver), StepOf(job, "host", resolver))
          << rows << " " << gpus;
      EXPECT_LE(StepOf(job, "hybrid-remote", resolver),
                StepOf(job, "remote", resolver))
          << rows << " " << gpus;
    }
  }
}

TEST(PlaceTablesTest, HybridFitsAndSaysWhatItDid) {
  Resolver resolver;
  for (const int gpus : {1, 4}) {
    Job job = MlperfJob(3.0, gpus);
    ASSERT_TRUE(engine::SetPlacement("hybrid", job.request));
    const auto predicted = PredictJob(job, resolver);
    ASSERT_TRUE(predicted) << predicted.error().message;
    EXPECT_LE(predicted->memory.total(), predicted->memory_capacity);
    EXPECT_GT(predicted->host_bytes, 0);
    ASSERT_EQ(predicted->notes.size(), 1u);
    EXPECT_THAT(predicted->notes[0], HasSubstr("of 26 tables"));
  }
}

TEST(PlaceTablesTest, AnotherWordTakesHybridBack) {
  Job job = MlperfJob(1, 1);
  ASSERT_TRUE(engine::SetPlacement("hybrid", job.request));
  ASSERT_TRUE(engine::SetPlacement("host", job.request));
  EXPECT_FALSE(job.request.hybrid);
  EXPECT_EQ(job.request.model.tables.front().placement, Placement::kHost);
}

TEST(PlaceTablesTest, APlanAndHybridExcludeEachOther) {
  Resolver resolver;
  Job job = MlperfJob(1, 4);
  job.request.assignment = model::TableAssignment{};
  ASSERT_TRUE(engine::SetPlacement("hybrid", job.request));
  const auto predicted = PredictJob(job, resolver);
  ASSERT_FALSE(predicted);
  EXPECT_THAT(predicted.error().message, HasSubstr("expected"));
}

}  // namespace
}  // namespace stepcast::scenario

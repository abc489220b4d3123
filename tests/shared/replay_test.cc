// Recorded steps come out of the simulator as they were measured.
#include "engine/run/replay.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/machine_testing.h"
#include "engine/explain/account_testing.h"
#include "engine/explain/attribution.h"
#include "engine/explain/kernel_rates.h"
#include "engine/explain/path_parts.h"
#include "tests/shared/shared_traces.h"
#include "view/reports/path_summary.h"

namespace stepcast::engine {
namespace {

using ::testing::HasSubstr;
using view::BuiltInRules;
using view::LoadTraces;
using view::SkipWithoutTraces;

// The goal, of the measured step.
constexpr double kLargestError = 0.01;

Result<ReplayedJob> TryReplay(const std::vector<std::string>& names) {
  return ReplayJob(LoadTraces(names).ranks, BuiltInRules(), {});
}

ReplayedJob ReplayOf(const std::vector<std::string>& names) {
  auto job = TryReplay(names);
  EXPECT_TRUE(job) << job.error().message;
  return *std::move(job);
}

// A trace with full steps. First steps that allocate memory are among them.
struct ReplayedTrace {
  std::string path{};
  size_t steps = 0;
  size_t ranks = 1;
  /// Steps that are none: the last marker of a ROCm trace holds no op.
  size_t skipped = 0;
};

void PrintTo(const ReplayedTrace& trace, std::ostream* out) {
  *out << trace.path;
}

// Left out: small/hta_dlrm_sampled_rank0of128, whose events were sampled away,
// and files without a profiler trace.
const ReplayedTrace kReplayedTraces[] = {
    {.path = "dlrm_param_8xV100/kineto", .steps = 1, .ranks = 8},
    {.path = "dlrm_torchrec_4xV100/run3", .steps = 3, .ranks = 4},
    {.path = "dlrm_torchrec_4xV100/straggler_1s", .steps = 3, .ranks = 4},
    {.path = "dlrm_hta_V100_rank1of2", .steps = 6},
    {.path = "linear_param_2080Ti/kineto.json.gz", .steps = 40},
    {.path = "resnet18_param_2080Ti/kineto.json.gz", .steps = 30},
    {.path = "resnet50_kineto_V100", .steps = 6},
    {.path = "resnet50_hta_ddp_A100", .steps = 3},
    {.path = "small/hta_cuda_event_sync.json.gz", .steps = 1},
    {.path = "small/hta_cuda_event_sync_multi_stream.json.gz", .steps = 1},
    {.path = "small/hta_mi250_minitoy_train.json.gz", .steps = 1, .skipped = 1},
    {.path = "small/hta_simple_add_kineto.json.gz", .steps = 1},
    {.path = "small/hta_triton_example.json.gz", .steps = 1},
    {.path = "small/tracelens_h100_bert_small_inference.json.gz", .steps = 1},
    {.path = "small/tracelens_mi210_gpu_only.json.gz", .steps = 1},
    {.path = "small/tracelens_mi300_bert_small_inference.json.gz", .steps = 1},
};

class SharedReplayTest : public ::testing::TestWithParam<ReplayedTrace> {
 protected:
  void SetUp() override { SkipWithoutTraces(); }
};

TEST_P(SharedReplayTest, EveryStepOfEveryRankIsWithinOnePercent) {
  const ReplayedJob job = ReplayOf({GetParam().path});
  EXPECT_EQ(job.steps.size(), GetParam().steps);
  EXPECT_EQ(job.skipped.size(), GetParam().skipped);
  for (const ReplayedStep& step : job.steps) {
    EXPECT_EQ(step.ranks.size(), GetParam().ranks);
    for (const ReplayedRank& rank : step.ranks) {
      EXPECT_LE(std::abs(rank.error()), kLargestError)
          << "step " << step.step.value_or(0) << ", rank " << rank.rank;
    }
  }
}

TEST_P(SharedReplayTest, TheAccountOfEveryRankSumsToItsStep) {
  const ReplayedJob job = ReplayOf({GetParam().path});
  for (const RankAccount& account : job.replay.result.accounts) {
    EXPECT_EQ(SumOf(account), account.step) << "rank " << account.rank;
  }
}

// Nothing of a step is left out of the tree, and nothing is counted twice.
TEST_P(SharedReplayTest, TheTreeSumsToAllActivitiesAndSegments) {
  const ReplayedJob job = ReplayOf({GetParam().path});
  const StepResult& result = job.replay.result;
  const ir::GraphData& data = result.graph->data();
  for (const ir::RankId rank : data.ranks.ids()) {
    Duration gpu{};
    for (const ir::ActivityId id : data.activities.ids()) {
      if (data.streams[data.activities[id].stream].rank == rank) {
        const auto& placement =
            result.schedule.placements[result.lowered.activity_tasks[id]];
        gpu += placement.end - placement.run;
      }
    }
    Duration host{};
    for (const ir::ThreadId thread : data.threads.ids()) {
      if (data.threads[thread].rank == rank) {
        for (const auto& segment : result.plan.threads[thread]) {
          host += segment.duration + segment.tail;
        }
      }
    }
    const Attribution found = Attribute(result, rank);
    EXPECT_EQ(found.total.gpu, gpu) << "rank " << rank.value;
    EXPECT_EQ(found.total.host, host) << "rank " << rank.value;
    PlaceTimes own;
    PlaceTimes roots;
    for (const Place& place : found.places) {
      own += place.own;
      if (place.parent == Place::kNoPlace) {
        roots += place.total;
      }
    }
    for (const PlaceTimes& sum : {own, roots}) {
      EXPECT_EQ(sum.gpu, gpu) << "rank " << rank.value;
      EXPECT_EQ(sum.host, host) << "rank " << rank.value;
    }
    EXPECT_LE(found.total.exposed, gpu);
  }
}

INSTANTIATE_TEST_SUITE_P(Traces, SharedReplayTest,
                         ::testing::ValuesIn(kReplayedTraces),
                         [](const auto& test) {
                           std::string name = test.param.path;
                           name = name.substr(0, name.find(".json"));
                           for (char& c : name) {
                             c = std::isalnum(c) != 0 ? c : '_';
                           }
                           return name;
                         });

class SharedWaitsTest : public ::testing::Test {
 protected:
  void SetUp() override { SkipWithoutTraces(); }
};

// The table of the eight collectives in the README next to the traces; the
// last ranks are those with the latest start in the files.
struct CollectiveFact {
  ir::CollectiveKind kind = ir::CollectiveKind::kAllToAll;
  double skew_us = 0;
  double own_us = 0;
  int64_t last_rank = 0;
};

constexpr double kWithinUs = 10;

TEST_F(SharedWaitsTest, TheWaitTableOfEightRanksIsReproduced) {
  using Kind = ir::CollectiveKind;
  const std::vector<CollectiveFact> facts = {
      {Kind::kAllToAll, 7624, 11, 7}, {Kind::kAllToAll, 1101, 8, 7},
      {Kind::kAllToAll, 168, 8, 7},   {Kind::kAllToAll, 125, 8, 7},
      {Kind::kAllReduce, 223, 87, 7}, {Kind::kAllToAll, 534, 11, 5},
      {Kind::kAllReduce, 584, 23, 5}, {Kind::kAllReduce, 885, 69, 4}};
  const auto job = ReplayOf({"dlrm_param_8xV100/kineto"});
  const auto& collectives = job.replay.collectives;
  ASSERT_EQ(collectives.size(), facts.size());
  for (size_t i = 0; i < facts.size(); ++i) {
    EXPECT_EQ(collectives[i].kind, facts[i].kind) << i;
    EXPECT_NEAR(ToMicroseconds(collectives[i].start_skew), facts[i].skew_us,
                kWithinUs)
        << i;
    EXPECT_NEAR(ToMicroseconds(collectives[i].own), facts[i].own_us, kWithinUs)
        << i;
    EXPECT_EQ(collectives[i].last_rank, facts[i].last_rank) << i;
    EXPECT_EQ(collectives[i].waits.size(), 8U) << i;
  }
  // Rank 7 begins its step 7,513 us after rank 1 and is the last for that.
  EXPECT_EQ(collectives[0].blame,
            "rank 7 against rank 1: +7,513 us before its step began");
}

// Rank 2 sleeps for about a second before the forward exchange.
TEST_F(SharedWaitsTest, TheStragglerIsNamed) {
  const auto job = ReplayOf({"dlrm_torchrec_4xV100/straggler_1s"});
  const auto& collectives = job.replay.collectives;
  const auto longest = std::ranges::max_element(
      collectives, {}, [](const auto& item) { return item.start_skew; });
  ASSERT_NE(longest, collectives.end());
  EXPECT_EQ(longest->last_rank, 2);
  EXPECT_GT(longest->start_skew, std::chrono::milliseconds(900));
  EXPECT_THAT(longest->blame, HasSubstr("rank 2"));
  EXPECT_THAT(longest->blame, HasSubstr("before _AlltoAllSingle"));
  // The critical path goes through it, too.
  const StepResult& result = job.replay.result;
  EXPECT_EQ(
      view::SummarizePath(result, DescribePath(result)).longest.at(0).what,
      "before _AlltoAllSingle");
}

TEST_F(SharedWaitsTest, ThePathIsAsLongAsTheStepToItsEnd) {
  const auto job = ReplayOf({"dlrm_param_8xV100/kineto"});
  const StepResult& result = job.replay.result;
  const std::vector<PathPart> parts = DescribePath(result);
  const view::PathSummary path = view::SummarizePath(result, parts);
  Duration sum{};
  for (const Duration time : path.kinds) {
    sum += time;
  }
  EXPECT_EQ(sum, path.length);
  // Rank 4 starts at 2,844 us and takes 17,979 us: it ends last.
  EXPECT_EQ(result.graph->data().ranks[parts.back().rank].number, 4);
  EXPECT_NEAR(ToMicroseconds(path.length), 2844 + 17979, kWithinUs);
}

// An execution trace adds shapes; times stay as they are.
TEST_F(SharedWaitsTest, APairIsReplayedLikeItsProfilerTraceAlone) {
  for (const std::string folder :
       {"dlrm_param_8xV100", "linear_param_2080Ti"}) {
    const bool ranks = folder.starts_with("dlrm");
    const std::string kineto = folder + (ranks ? "/kineto" : "/kineto.json.gz");
    const std::string et = folder + (ranks ? "/et" : "/et.json.gz");
    const auto alone = ReplayOf({kineto});
    const auto pair = ReplayOf({kineto, et});
    ASSERT_EQ(alone.steps.size(), pair.steps.size()) << folder;
    for (size_t i = 0; i < alone.steps.size(); ++i) {
      ASSERT_EQ(alone.steps[i].ranks.size(), pair.steps[i].ranks.size());
      for (size_t rank = 0; rank < alone.steps[i].ranks.size(); ++rank) {
        EXPECT_EQ(alone.steps[i].ranks[rank].simulated,
                  pair.steps[i].ranks[rank].simulated)
            << folder << " step " << i << " rank " << rank;
      }
    }
  }
}

TEST_F(SharedWaitsTest, AnExecutionTraceAloneCannotBeReplayed) {
  const auto job = TryReplay({"small/hta_simple_add_et.json.gz"});
  ASSERT_FALSE(job);
  EXPECT_THAT(job.error().message, HasSubstr("has no measured step"));
}

class RecordedRatesTest : public ::testing::Test {
 protected:
  void SetUp() override { SkipWithoutTraces(); }
};

// torchvision gives ResNet-50 4.09 G multiplications per image forward;
// backward takes twice as many, but for the 0.118 G of the gradient that nobody
// asks for, of the images. 32 of them a step.
TEST_F(RecordedRatesTest, ResNetTakesTheFlopThatItIsKnownFor) {
  const ReplayedJob job = ReplayOf({"resnet50_kineto_V100"});
  const auto models = cost::KernelModels::Load(
      cost::On("v100-pcie-32gb").device, cost::ProfileStore());
  ASSERT_TRUE(models) << models.error().message;

  const KernelRates rates =
      RateKernels(job.replay.result, {.models = &*models});

  constexpr double kImages = 32;
  constexpr double kFlop = 2 * kImages * (3 * 4.09e9 - 0.118e9);
  ASSERT_EQ(rates.ranks.size(), 1U);
  EXPECT_NEAR(rates.ranks[0].flops / kFlop, 1, 0.01);
  // Nothing in sum is above what the GPU can do.
  for (const FamilyRates& family : rates.families) {
    EXPECT_EQ(family.mark, RateMark::kNone) << family.family;
  }
}

}  // namespace
}  // namespace stepcast::engine

// Changes of the request: where tables are, how ranks talk, types, sizes.
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/frameworks/implementations.h"
#include "model/model_testing.h"
#include "plan/load_assignment.h"
#include "plan/plan.h"
#include "whatif/whatif_testing.h"

namespace stepcast::whatif {
namespace {

using ::testing::HasSubstr;

scenario::Job Job(int gpus) {
  scenario::Job job;
  job.options.samples = 0;
  engine::Request& request = job.request;
  request.model = model::MadeModel(
      4096, {512, 64}, {4096, 4096, 1},
      {{.count = 8, .rows = 1'000'000, .dim = 64, .pooling = 20}});
  request.settings.impl = *model::FindImplementation("torchrec");
  job.names.machine.gpu = "v100-sxm-16gb";
  job.names.machine.gpus = gpus;
  return job;
}

Case CaseOf(scenario::Job job) {
  scenario::Resolver resolver;
  const Status bound = resolver.Bind(job);
  CHECK(bound.has_value()) << bound.error().message;
  auto made = CaseOfModel(std::move(job), resolver);
  CHECK(made.has_value()) << made.error().message;
  return *std::move(made);
}

// A plan with table i on rank `rank_of(i)`, in a file that goes away with it.
class PlanFile {
 public:
  template <typename RankOf>
  PlanFile(const scenario::Job& job, std::string_view name, RankOf rank_of)
      : path_(std::filesystem::temp_directory_path() / name) {
    plan::Plan plan;
    const auto tables = plan::NamedTablesOf(job.request.model);
    for (size_t i = 0; i < tables.size(); ++i) {
      plan.tables.push_back(
          {.sharding = plan::Sharding::kTableWise,
           .shards = {{.rows = tables[i].group.rows,
                       .columns = tables[i].group.dim,
                       .rank = rank_of(static_cast<int>(i))}}});
    }
    std::ofstream(path_) << plan::WritePlanJson(
        plan, tables, {.count = job.names.machine.gpus});
  }
  ~PlanFile() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  PlanFile(const PlanFile&) = delete;
  PlanFile& operator=(const PlanFile&) = delete;

  std::string path() const { return path_.string(); }
  std::string change() const { return "reshard=" + path(); }

 private:
  std::filesystem::path path_;
};

TEST(PlanOfTheBaseTest, IsReadAgainForWhatAChangeMakes) {
  scenario::Job job = Job(4);
  const PlanFile file(job, "stepcast_base_plan.json",
                      [](int table) { return table % 4; });
  job.names.plan = file.path();
  const Case before = CaseOf(job);
  // As predicted for tables there to begin with.
  scenario::Job farther = Job(4);
  farther.request.model.tables.front().placement = model::Placement::kHost;
  farther.names.plan = file.path();
  const Case there = CaseOf(farther);
  EXPECT_EQ(DeltaUs(before, {"placement=host"}),
            ToMicroseconds(there.result.step - before.result.step));
  EXPECT_GT(there.result.step, before.result.step);
  // GPUs that do not match the plan are an error, as with reshard.
  EXPECT_THAT(ErrorOf(before, "gpus=2"), HasSubstr("is on rank 2; expected"));
  EXPECT_THAT(ErrorOf(before, "gpus=1"), HasSubstr("expected --gpus 2"));
  EXPECT_THAT(ErrorOf(before, "impl=pytorch"),
              HasSubstr("does not follow a plan"));
  EXPECT_NE(ErrorOf(before, "resize-tables=dim=2"), "");
}

TEST(PlacementChangeTest, TablesThatStayChangeNothing) {
  const Case before = CaseOf(Job(1));
  EXPECT_EQ(DeltaUs(before, {"placement=hbm"}), 0);
  // All fits: hybrid is all in the GPU's memory.
  EXPECT_EQ(DeltaUs(before, {"placement=hybrid"}), 0);
}

TEST(PlacementChangeTest, FartherAwayIsSlowerAndBackIsTheSame) {
  const Case before = CaseOf(Job(1));
  const double uvm = DeltaUs(before, {"placement=uvm"});
  const double host = DeltaUs(before, {"placement=host"});
  EXPECT_GT(uvm, 0);
  EXPECT_GT(host, 0);
  EXPECT_GT(DeltaUs(before, {"placement=remote"}), host);
  EXPECT_EQ(DeltaUs(before, {"placement=host", "placement=hbm"}), 0);
  EXPECT_EQ(DeltaUs(before, {"placement=hybrid", "placement=host"}), host);
}

TEST(PlacementChangeTest, HybridSaysWhatItPlaced) {
  scenario::Job job = Job(1);
  job.request.model.tables.push_back(
      {.count = 1, .rows = 100'000'000, .dim = 64, .pooling = 1});
  const Changed changed = After(CaseOf(job), {"placement=hybrid"});
  ASSERT_EQ(changed.after.model->notes.size(), 1u);
  EXPECT_THAT(changed.after.model->notes[0],
              HasSubstr("8 of 9 tables (2.05 GB) in GPU memory"));
}

TEST(PlacementChangeTest, WordsThatMeanNothingAreErrors) {
  const Case before = CaseOf(Job(1));
  EXPECT_THAT(ErrorOf(before, "placement=hbn"), HasSubstr("did you mean hbm"));
  EXPECT_THAT(ErrorOf(before, "placement=none.toml"), HasSubstr("none.toml"));
  EXPECT_THAT(ErrorOf(before, "placement=elsewhere"),
              HasSubstr("hybrid, hybrid-remote or a .toml file"));
}

TEST(PrecisionChangeTest, Tf32WithoutUnitsIsFp32) {
  scenario::Job job = Job(1);
  const Case fp32 = CaseOf(job);
  EXPECT_THAT(ErrorOf(fp32, "precision=tf32"),
              HasSubstr("v100-sxm-16gb has no TF32 units"));
  for (const std::string gpu : {"v100-sxm-16gb", "p100-pcie-16gb", "mi100"}) {
    job.names.machine.gpu = gpu;
    job.request.settings.precision = model::Precision::kFp32;
    const Duration plain = CaseOf(job).result.step;
    job.request.settings.precision = model::Precision::kTf32;
    EXPECT_EQ(CaseOf(job).result.step, plain) << gpu;
  }
  // In either order: a precision is for the GPU that there is in the end.
  EXPECT_LT(DeltaUs(fp32, {"precision=tf32", "gpu=a100-sxm-80gb"}),
            DeltaUs(fp32, {"gpu=a100-sxm-80gb"}));
}

TEST(PrecisionChangeTest, Bf16WithoutUnitsIsReported) {
  const Changed changed = After(CaseOf(Job(1)), {"precision=bf16"});
  EXPECT_THAT(changed.after.model->notes,
              ::testing::Contains(HasSubstr("has no BF16 units")));
}

// What the request makes nothing of.
TEST(RequestChangeTest, WhatChangesNothingSaysWhy) {
  scenario::Job job = Job(1);
  EXPECT_THAT(ErrorOf(CaseOf(job), "cuda-graphs=all"),
              HasSubstr("expected off, or pytorch, nvidia or hugectr"));
  EXPECT_THAT(ErrorOf(CaseOf(job), "nodes=4"),
              HasSubstr("4 nodes with 1 GPU over all of them"));
  job.request.settings.mode = model::Mode::kInfer;
  EXPECT_THAT(ErrorOf(CaseOf(job), "fuse-optimizer"),
              HasSubstr("inference has no optimizer"));
}

TEST(ResizeTest, NothingHasASizeOfZero) {
  const Case before = CaseOf(Job(1));
  for (const std::string_view text :
       {"resize-mlp=0", "resize-tables=rows=0", "resize-tables=pooling=0"}) {
    EXPECT_THAT(ErrorOf(before, text), HasSubstr("expected a number from"));
  }
}

TEST(ReshardTest, OneRankWithAllTablesIsSlower) {
  scenario::Job job = Job(4);
  // So many lookups that the device is what a step waits for.
  job.request.model.tables.front().pooling = 200;
  job.request.settings.batch = 16'384;
  const Case before = CaseOf(job);
  const PlanFile even(job, "stepcast_even.json", [](int i) { return i % 4; });
  const PlanFile uneven(job, "stepcast_uneven.json", [](int) { return 1; });
  const double gained = DeltaUs(before, {even.change()});
  EXPECT_GT(DeltaUs(before, {uneven.change()}), gained);
  // The last one counts.
  EXPECT_EQ(DeltaUs(before, {uneven.change(), even.change()}), gained);
}

// A plan is for the ranks that there are in the end.
TEST(ReshardTest, PlansComeAfterOtherChanges) {
  scenario::Job job = Job(4);
  const PlanFile plan(job, "stepcast_four.json", [](int i) { return i % 4; });
  job.names.machine.gpus = 2;
  const Case before = CaseOf(job);
  EXPECT_EQ(DeltaUs(before, {plan.change(), "gpus=4"}),
            DeltaUs(before, {"gpus=4", plan.change()}));
  EXPECT_THAT(ErrorOf(before, plan.change()), HasSubstr("expected"));
}

TEST(ReshardTest, WhatCannotFollowAPlanSaysSo) {
  scenario::Job job = Job(4);
  const PlanFile plan(job, "stepcast_cannot.json", [](int) { return 0; });
  EXPECT_THAT(ErrorOf(CaseOf(Job(1)), plan.change()), HasSubstr("--gpus 2"));
  EXPECT_THAT(ErrorOf(CaseOf(job), "reshard"),
              HasSubstr("has no value; expected reshard=FILE"));
  EXPECT_THAT(ErrorOf(CaseOf(job), "reshard=none.json"),
              HasSubstr("none.json"));
  job.request.settings.impl = *model::FindImplementation("pytorch");
  EXPECT_THAT(ErrorOf(CaseOf(job), plan.change()),
              HasSubstr("expected --impl torchrec"));
}

TEST(OverlapCommTest, IdsAreDistributedAheadAlready) {
  const Case before = CaseOf(Job(4));
  EXPECT_EQ(DeltaUs(before, {"overlap-comm=prefetch"}), 0);
  EXPECT_GT(DeltaUs(before, {"overlap-comm=prefetch=off"}), 0);
  EXPECT_EQ(
      DeltaUs(before, {"overlap-comm=prefetch=off", "overlap-comm=prefetch"}),
      0);
}

// 16.8 million numbers of one layer are a gradient of 64 MiB: buckets cannot be
// smaller, and one for all waits for the last gradient.
TEST(OverlapCommTest, OneBucketForAllHidesLess) {
  scenario::Job job = Job(4);
  job.request.settings.impl = *model::FindImplementation("pytorch");
  const Case before = CaseOf(job);
  EXPECT_GT(DeltaUs(before, {"overlap-comm=bucket=1000"}), 0);
  EXPECT_EQ(DeltaUs(before, {"overlap-comm bucket 1000"}),
            DeltaUs(before, {"overlap-comm=bucket=1000"}));
  EXPECT_EQ(
      DeltaUs(before, {"overlap-comm=bucket=1000", "overlap-comm=bucket=30"}),
      DeltaUs(before, {"overlap-comm=bucket=30"}));
}

TEST(OverlapCommTest, WhatDoesNotApplySaysWhy) {
  const Case four = CaseOf(Job(4));
  EXPECT_THAT(ErrorOf(four, "overlap-comm=bucket=0"), HasSubstr("MiB"));
  EXPECT_THAT(ErrorOf(four, "overlap-comm=prefetch=on"),
              HasSubstr("expected prefetch or prefetch=off"));
  EXPECT_THAT(ErrorOf(CaseOf(Job(1)), "overlap-comm=bucket=10"),
              HasSubstr("gpus=2"));
  scenario::Job job = Job(4);
  job.request.settings.impl = *model::FindImplementation("hugectr");
  EXPECT_THAT(ErrorOf(CaseOf(job), "overlap-comm=bucket=10"), HasSubstr("DDP"));
  EXPECT_THAT(ErrorOf(CaseOf(job), "overlap-comm=prefetch"),
              HasSubstr("expected torchrec"));
}

// Two ranks sum 64 MiB on a stream of its own; the host waits for it.
TEST(OverlapCommTest, OfATraceTheLastBucketIsLeft) {
  std::string text = "stepcast-graph 1\n";
  for (const char* const rank : {"0", "1"}) {
    text += std::string("rank ") + rank +
            " \"Tesla V100-SXM2-16GB\" @0+5000\n"
            "  thread main\n"
            "    op \"reduce\" @100+20\n"
            "      call launch \"launch\" @105+5\n"
            "        s9: collective kind=all_reduce bytes=67108864 group=2 "
            "dtype=fp32 \"ar\" @120+4000 #w" +
            rank +
            "\n"
            "    call stream_sync \"sync\" @130+4000 #c" +
            rank + "\n  wait #w" + rank + " -> #c" + rank + "\n";
  }
  const Case before = TraceOf(text + "collective all_reduce #w0 #w1\n");
  const Changed cut = After(before, {"overlap-comm=bucket=16"});
  // A quarter of the bytes: less than half of 4 ms is left.
  EXPECT_LT(ToMicroseconds(cut.delta.step), -2000);
  EXPECT_GT(ToMicroseconds(cut.delta.step), -4000);
  EXPECT_TRUE(cut.bound);
  EXPECT_THAT(ErrorOf(before, "overlap-comm=bucket=64"),
              HasSubstr("no all-reduce moves more than 64 MiB"));
  EXPECT_THAT(ErrorOf(before, "overlap-comm=prefetch"),
              HasSubstr("nothing waits for the distribution of ids"));
}

}  // namespace
}  // namespace stepcast::whatif

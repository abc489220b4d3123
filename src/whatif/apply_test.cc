#include "whatif/apply.h"

#include <cmath>
#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/constants.h"
#include "model/frameworks/implementations.h"
#include "model/model_testing.h"
#include "whatif/step_editor.h"
#include "whatif/suggest.h"
#include "whatif/whatif_testing.h"

namespace stepcast::whatif {
namespace {

using ::testing::HasSubstr;

// host  |5|a: 10-14, 20-24 |35 b 45|  [sync 50 -------------128]      | 200
// s7        [16-36 gemm ][38------------ 118 elementwise]
// s9         [22-42 fill]
constexpr std::string_view kStep = R"(stepcast-graph 1
rank 0 "Tesla V100-SXM2-16GB" @0+200
  thread main
    op "a" @5+30
      call launch "launch" @10+4
        s7: gemm batch=1 m=1024 n=1024 k=512 dtype=fp32 "mm" @16+20
      call launch "launch" @15+4
        s9: fill bytes=1024 "zero" @22+20
      call launch "launch" @20+4
        s7: elementwise elements=1048576 read=4194304 written=4194304 dtype=fp32 "relu" @38+80 #w
    op "b" @35+10
    call stream_sync "sync" @50+78 #c
  wait #w -> #c
)";

TEST(ApplyTest, TheStepBeforeIsTheMeasuredOne) {
  EXPECT_EQ(ToMicroseconds(TraceOf(kStep).result.step), 200);
}

TEST(ApplyTest, AChangeThatDoesNothingGivesADeltaOfExactlyZero) {
  const Case before = TraceOf(kStep);
  for (const std::string_view text :
       {"scale-op=relu=1", "scale-op=*=1", "scale-overhead=1",
        "gpu=v100-sxm-16gb", "precision=fp32", "cuda-graphs=off"}) {
    const Changed changed = After(before, {text});
    EXPECT_EQ(changed.delta.step, Duration{}) << text;
    EXPECT_EQ(changed.delta.p10, Duration{}) << text;
    EXPECT_EQ(changed.delta.p90, Duration{}) << text;
    EXPECT_EQ(changed.after.result.schedule, before.result.schedule) << text;
  }
}

// The sync waits for relu: 80 us less of it are 80 us less of the step, up to
// where the host itself comes to the sync.
TEST(ApplyTest, AKernelOnTheCriticalPathIsWorthItsTime) {
  const Case before = TraceOf(kStep);
  EXPECT_EQ(DeltaUs(before, {"scale-op=relu=0.5"}), -40);
  EXPECT_EQ(DeltaUs(before, {"scale-op=relu=2"}), 80);
  EXPECT_EQ(DeltaUs(before, {"scale-op=elementwise=0.5"}), -40);
}

TEST(ApplyTest, DroppingWhatIsOffTheCriticalPathSavesNothing) {
  // The call of "zero" goes, too; relu is held up by mm and not by its launch.
  EXPECT_EQ(DeltaUs(TraceOf(kStep), {"drop-op=zero"}), 0);
}

// With "b" go its 10 us and the 5 us between b and the sync; the sync then
// waits so much longer for the device.
TEST(ApplyTest, DroppingHostWorkBeforeASyncSavesNothing) {
  EXPECT_EQ(DeltaUs(TraceOf(kStep), {"drop-op=b"}), 0);
}

// Without kernels the sync has nothing to wait for: of its 78 us only the entry
// of 2 and the return of 10 remain. The 30 us of "a" and the 5 us before it go,
// too.
TEST(ApplyTest, DroppingAnOpTakesItsActivitiesAlong) {
  const Changed changed = After(TraceOf(kStep), {"drop-op=a"});
  EXPECT_EQ(changed.after.result.accounts[0].gpu_active, Duration{});
  EXPECT_EQ(ToMicroseconds(changed.delta.step), -101);
}

TEST(ApplyTest, ARemovedSyncLeavesTheHostAlone) {
  // The sync keeps its entry of 2 us and loses 76 us: until relu's end at 118
  // and the tail of 10.
  const Changed changed = After(TraceOf(kStep), {"remove-sync"});
  EXPECT_EQ(ToMicroseconds(changed.delta.step), -76);
  EXPECT_TRUE(changed.bound);
  EXPECT_EQ(DeltaUs(TraceOf(kStep), {"remove-sync=sync"}), -76);
  EXPECT_THAT(ErrorOf(TraceOf(kStep), "remove-sync=x"),
              HasSubstr("no call that waits is called 'x'"));
}

TEST(ApplyTest, ScaledOverheadsLeaveTheDeviceAlone) {
  const Case before = TraceOf(kStep);
  // After the sync come 72 us of the host.
  EXPECT_EQ(DeltaUs(before, {"scale-overhead=t1=2"}), 72 + 5);
  EXPECT_THAT(ErrorOf(before, "scale-overhead=t9=2"),
              HasSubstr("unknown overhead 't9'"));
}

TEST(ApplyTest, ChangesGoOnTopOfEachOther) {
  const Case before = TraceOf(kStep);
  EXPECT_EQ(DeltaUs(before, {"scale-op=relu=0.5", "scale-op=relu=0.5"}),
            DeltaUs(before, {"scale-op=relu=0.25"}));
  EXPECT_EQ(DeltaUs(before, {"scale-op=relu=0.3", "scale-op=mm=2"}),
            DeltaUs(before, {"scale-op=mm=2", "scale-op=relu=0.3"}));
}

TEST(ApplyTest, AnotherGpuAndBackIsTheSameStep) {
  const Case before = TraceOf(kStep);
  const Changed there = After(before, {"gpu=a100-sxm-80gb"});
  EXPECT_LT(there.delta.step, Duration{});
  EXPECT_LE(there.delta.p10, there.delta.step);
  EXPECT_GE(there.delta.p90, there.delta.step);
  const Changed back =
      After(before, {"gpu=a100-sxm-80gb", "gpu=v100-sxm-16gb"});
  EXPECT_EQ(back.delta.step, Duration{});
  EXPECT_EQ(back.delta.p10, Duration{});
  EXPECT_EQ(back.delta.p90, Duration{});
}

// The kernels' times after changes, by work.
std::vector<double> TimesAfter(std::initializer_list<std::string_view> texts) {
  std::vector<double> times;
  for (const EditedActivity& activity :
       After(TraceOf(kStep), texts).after.times.activities) {
    times.push_back(activity.duration);
  }
  return times;
}

TEST(ApplyTest, PricesAreOfTheTypeAndTheGpuThatAreThereInTheEnd) {
  using ::testing::Pointwise;
  constexpr std::string_view kGpu = "gpu=a100-sxm-80gb";
  constexpr std::string_view kType = "precision=amp-fp16";
  EXPECT_THAT(TimesAfter({kGpu, kType}),
              Pointwise(::testing::DoubleEq(), TimesAfter({kType, kGpu})));
  EXPECT_THAT(TimesAfter({kGpu, kType, kGpu, kType}),
              Pointwise(::testing::DoubleEq(), TimesAfter({kType, kGpu})));
  EXPECT_THAT(TimesAfter({kType, "precision=fp32"}),
              Pointwise(::testing::DoubleEq(), TimesAfter({})));
}

// Two products of one shape, one of which took twice as long.
constexpr std::string_view kTwice = R"(stepcast-graph 1
rank 0 "Tesla V100-SXM2-16GB" @0+200
  thread main
    op "a" @5+30
      call launch "launch" @10+4
        s7: gemm batch=1 m=1024 n=1024 k=512 dtype=fp32 "mm" @16+90
      call launch "launch" @20+4
        s7: gemm batch=1 m=1024 n=1024 k=512 dtype=fp32 "mm" @110+180
)";

// How many times as long the second takes after changes.
double SecondOverFirst(std::initializer_list<std::string_view> texts) {
  const Changed changed = After(TraceOf(kTwice), texts);
  const auto& activities = changed.after.times.activities;
  return activities[ir::ActivityId{1}].duration /
         activities[ir::ActivityId{0}].duration;
}

TEST(ApplyTest, OnAnotherChipAShareOfTheDifferenceIsLeft) {
  const double share = cost::CarryOf("gemm").share;
  EXPECT_NEAR(SecondOverFirst({"gpu=a100-sxm-80gb"}), std::exp2(share), 1e-6);
  // A factor that the user gives stays as it is.
  EXPECT_NEAR(SecondOverFirst({"scale-op=mm=3", "gpu=a100-sxm-80gb"}),
              std::exp2(share), 1e-6);
}

TEST(ApplyTest, OnTheSameChipAllOfTheDifferenceIsLeft) {
  EXPECT_NEAR(SecondOverFirst({"gpu=v100-pcie-32gb"}), 2, 1e-6);
  EXPECT_NEAR(SecondOverFirst({"precision=amp-fp16"}), 2, 1e-6);
  EXPECT_EQ(SecondOverFirst({"gpu=v100-sxm-16gb"}), 2);
}

// host  |10-14|              [sync 50 --------------------128]       | 200
// s7         [16-36 gemm][38------------- 118 elementwise or unknown]
std::string StepEndingIn(std::string_view shape) {
  return fmt::format(R"(stepcast-graph 1
rank 0 "Tesla V100-SXM2-16GB" @0+200
  thread main
    op "a" @5+30
      call launch "launch" @10+4
        s7: gemm batch=1 m=1024 n=1024 k=512 dtype=fp32 "mm" @16+20
      call launch "launch" @20+4
        s7: {} "last" @38+80 #w
    call stream_sync "sync" @50+78 #c
  wait #w -> #c
)",
                     shape);
}

TEST(ApplyTest, KernelsWithoutSizesMakeAnotherGpuUnsure) {
  const Change change = ChangesOf({"gpu=h100-sxm-80gb"}).front();
  const Case sized =
      TraceOf(StepEndingIn("elementwise elements=1048576 read=4194304 "
                           "written=4194304 dtype=fp32"));
  const Changed known = After(sized, {"gpu=h100-sxm-80gb"});
  EXPECT_THAT(known.notes, ::testing::IsEmpty());
  EXPECT_NE(ConfidenceOf(sized, change, known), Confidence::kLow);
  const Case opaque = TraceOf(StepEndingIn("opaque"));
  const Changed unknown = After(opaque, {"gpu=h100-sxm-80gb"});
  EXPECT_THAT(unknown.notes,
              ::testing::Contains(
                  HasSubstr("of the GPU time are known; the rest is scaled")));
  EXPECT_EQ(ConfidenceOf(opaque, change, unknown), Confidence::kLow);
  // Of the 100 us of kernels, 80 are scaled by 900 / 3350 GB/s or about 4.
  const double rough =
      RoughShare(unknown.after.result.graph->data(), unknown.after.times);
  EXPECT_GT(rough, 0.5);
  EXPECT_LT(rough, 1);
  EXPECT_EQ(RoughShare(known.after.result.graph->data(), known.after.times), 0);
}

// The V100 that it ran on has no TF32 units, an A100 has.
TEST(ApplyTest, Tf32ReachesNothingButProductsWhereThereAreUnits) {
  const Case before = TraceOf(kStep);
  EXPECT_THAT(ErrorOf(before, "precision=tf32"),
              HasSubstr("v100-sxm-16gb has no TF32 units"));
  const std::vector<double> plain = TimesAfter({"gpu=a100-sxm-80gb"});
  const std::vector<double> tf32 =
      TimesAfter({"precision=tf32", "gpu=a100-sxm-80gb"});
  const ir::Graph& graph = *before.result.graph;
  for (const ir::ActivityId id : graph.data().activities.ids()) {
    const bool product = std::holds_alternative<ir::Gemm>(graph.shape(id));
    EXPECT_EQ(tf32[id.value] < plain[id.value], product);
    EXPECT_EQ(tf32[id.value] == plain[id.value], !product);
  }
}

TEST(ApplyTest, Bf16WithoutUnitsIsReported) {
  const Changed changed = After(TraceOf(kStep), {"precision=bf16"});
  EXPECT_THAT(changed.notes, ::testing::Contains(
                                 HasSubstr("v100-sxm-16gb has no BF16 units")));
}

TEST(ApplyTest, OtherTypesReachOnlyWhatWasFp32) {
  const Changed changed = After(TraceOf(kStep), {"precision=amp-fp16"});
  const StepTimes before = TraceOf(kStep).times;
  const StepTimes& after = changed.after.times;
  for (const ir::ActivityId id : before.activities.ids()) {
    const bool fill =
        std::holds_alternative<ir::Fill>(changed.after.result.graph->shape(id));
    EXPECT_EQ(after.activities[id].duration == before.activities[id].duration,
              fill);
  }
}

// "a" launches three activities, of which two calls cost nothing any more; "b"
// launches nothing. The step ends with the host: 72 us after the sync, which
// returns at 128 less what the device is done earlier.
TEST(ApplyTest, GraphsOfAllOpsNeedNoPhaseAndLeaveTheDevicesTimeAlone) {
  const Case before = TraceOf(kStep);
  const Changed changed = After(before, {"cuda-graphs=all"});
  EXPECT_LT(changed.delta.step, Duration{});
  EXPECT_THAT(
      changed.notes,
      ::testing::Contains(HasSubstr("3 activities in 1 captured graph")));
  for (const ir::ActivityId id : before.times.activities.ids()) {
    EXPECT_EQ(changed.after.times.activities[id].duration,
              before.times.activities[id].duration);
  }
}

TEST(ApplyTest, WhatDoesNotApplySaysWhy) {
  const Case before = TraceOf(kStep);
  EXPECT_THAT(ErrorOf(before, "batch=1"),
              HasSubstr("does not apply to a recorded step: its shapes are"));
  EXPECT_THAT(ErrorOf(before, "drop-op=rellu"), HasSubstr("did you mean relu"));
  EXPECT_THAT(ErrorOf(before, "remove-straggler"), HasSubstr("one rank"));
  EXPECT_THAT(ErrorOf(before, "fp16-comm"), HasSubstr("no collective"));
  EXPECT_THAT(ErrorOf(before, "overlap-comm"), HasSubstr("nothing waits"));
  EXPECT_THAT(ErrorOf(before, "fuse-embeddings"), HasSubstr("no two lookups"));
  EXPECT_THAT(ErrorOf(before, "fuse-elementwise"), HasSubstr("no two"));
  EXPECT_THAT(ErrorOf(before, "fuse-optimizer"), HasSubstr("no two"));
  EXPECT_THAT(ErrorOf(before, "pin-copies"), HasSubstr("no copy"));
  EXPECT_THAT(ErrorOf(before, "cuda-graphs=fwd"),
              HasSubstr("no work of these phases"));
  EXPECT_THAT(ErrorOf(before, "overlap-comm=prefetch=off"),
              HasSubstr("does not apply to a recorded step"));
  EXPECT_THAT(ErrorOf(before, "overlap-comm=x"),
              HasSubstr("bucket=MIB, prefetch or prefetch=off"));
}

// Four lookups of 20 us each with a gap of 20 us between them.
TEST(ApplyTest, FusedLookupsTakeOneLaunch) {
  const Case before = TraceOf(R"(stepcast-graph 1
rank 0 "Tesla V100-SXM2-16GB" @0+200
  thread main
    op "aten::embedding_bag" @5+20
      call launch "launch" @10+4
        s7: embedding_bag tables=1 rows=100000 dim=64 batch=2048 lookups=20480 dtype=fp32 kernel=per_table "bag" @20+20
    op "aten::embedding_bag" @45+20
      call launch "launch" @50+4
        s7: embedding_bag tables=1 rows=100000 dim=64 batch=2048 lookups=20480 dtype=fp32 kernel=per_table "bag" @60+20 #w
    call stream_sync "sync" @70+20 #c
  wait #w -> #c
)");
  const Changed changed = After(before, {"fuse-embeddings"});
  EXPECT_LT(ToMicroseconds(changed.delta.step), -20);
  EXPECT_TRUE(changed.after.times.activities[ir::ActivityId{1}].dropped);
  EXPECT_GT(changed.after.times.activities[ir::ActivityId{0}].duration,
            before.times.activities[ir::ActivityId{0}].duration);
}

TEST(ApplyTest, ModelsArePredictedAnew) {
  scenario::Job job;
  engine::Request& request = job.request;
  request.model = model::MadeModel(2048, {512, 64}, {512, 1},
                                   {{.count = 4, .rows = 100000, .dim = 64}});
  request.settings.impl = *model::FindImplementation("pytorch-bags");
  job.names.machine.gpu = "v100-sxm-16gb";
  job.options.samples = 20;
  scenario::Resolver resolver;
  ASSERT_TRUE(resolver.Bind(job));
  const auto before = CaseOfModel(job, resolver);
  ASSERT_TRUE(before) << before.error().message;
  for (const std::string_view same :
       {"gpu=v100-sxm-16gb", "batch=2048", "precision=fp32", "resize-mlp=1",
        "resize-tables=1", "impl=pytorch-bags", "host=v100-hipc-2022",
        "scale-op=gemm=1", "pin-copies"}) {
    const Changed changed = After(*before, {same});
    EXPECT_EQ(changed.delta.step, Duration{}) << same;
    EXPECT_EQ(changed.delta.p10, Duration{}) << same;
    EXPECT_EQ(changed.delta.p90, Duration{}) << same;
  }
  EXPECT_GT(DeltaUs(*before, {"batch=65536"}), 0);
  EXPECT_GT(DeltaUs(*before, {"resize-mlp=8"}), 0);
  EXPECT_GT(DeltaUs(*before, {"resize-tables=dim=8"}), 0);
  EXPECT_LT(DeltaUs(*before, {"fuse-embeddings"}), 0);
  EXPECT_LT(DeltaUs(*before, {"batch=65536", "gpu=h100-sxm-80gb"}),
            DeltaUs(*before, {"batch=65536"}));
  // Halving all products of a request that was changed before.
  EXPECT_LT(DeltaUs(*before, {"scale-op=gemm=0.5", "batch=65536"}),
            DeltaUs(*before, {"batch=65536"}));
  EXPECT_THAT(ErrorOf(*before, "impl=x"), HasSubstr("unknown implementation"));
}

}  // namespace
}  // namespace stepcast::whatif

#include "learn/fit/overheads/fit_overheads.h"

#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph_testing.h"

namespace stepcast::learn {
namespace {

using cost::OverheadPart;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::Field;

OverheadSamples SamplesOf(std::string_view text) {
  OverheadSamples samples;
  AddSamples(ir::GraphOf(text).data(), 0, samples);
  return samples;
}

std::vector<double> TimesOf(const OverheadSamples& samples, OverheadPart part,
                            std::string_view name) {
  std::vector<double> times;
  const auto found = samples[part].find(name);
  if (found != samples[part].end()) {
    for (const OverheadSample& sample : found->second) {
      times.push_back(sample.us);
    }
  }
  return times;
}

constexpr std::string_view kStep = R"(stepcast-graph 1
rank 0 @0+200
  thread main
    op "aten::mm" @10+60
      call launch "cudaLaunchKernel" @20+5
        s7: opaque "k" @27+20
      call launch "cudaLaunchKernel" @32+4
        s7: opaque "k" @48+10
    op "aten::view" @75+2
    op "aten::item" @80+100
      call stream_sync "cudaStreamSynchronize" @85+3 #idle
      call launch "cudaMemcpyAsync" @90+8
        s7: copy kind=device_to_host bytes=8 memcpy "Memcpy" @96+60 #w
      call stream_sync "cudaStreamSynchronize" @100+62 #waits
  wait #w -> #waits
)";

TEST(AddSamplesTest, CutsTheHostsTimeByKindAndName) {
  const OverheadSamples samples = SamplesOf(kStep);
  EXPECT_EQ(samples.steps, 1);
  EXPECT_THAT(TimesOf(samples, OverheadPart::kBetweenOps, "aten::mm"),
              ElementsAre(10));
  EXPECT_THAT(TimesOf(samples, OverheadPart::kBetweenOps, "(end)"),
              ElementsAre(20));
  EXPECT_THAT(TimesOf(samples, OverheadPart::kBeforeLaunch, "aten::mm"),
              ElementsAre(10));
  EXPECT_THAT(TimesOf(samples, OverheadPart::kAfterLaunch, "aten::mm"),
              ElementsAre(34));
  EXPECT_THAT(TimesOf(samples, OverheadPart::kBetweenLaunches, "aten::mm"),
              ElementsAre(7));
  EXPECT_THAT(TimesOf(samples, OverheadPart::kNoLaunch, "aten::view"),
              ElementsAre(2));
  EXPECT_THAT(TimesOf(samples, OverheadPart::kCall, "launch cudaLaunchKernel"),
              ElementsAre(5, 4));
}

TEST(AddSamplesTest, WhatASyncBlocksIsNotAnOverhead) {
  const OverheadSamples samples = SamplesOf(kStep);
  // The one that waits returns 162 - 156 us after the copy.
  EXPECT_THAT(TimesOf(samples, OverheadPart::kSyncTail,
                      "blocking cudaStreamSynchronize"),
              ElementsAre(6));
  EXPECT_THAT(
      TimesOf(samples, OverheadPart::kCall, "blocking cudaStreamSynchronize"),
      ElementsAre());
  EXPECT_THAT(TimesOf(samples, OverheadPart::kCall,
                      "stream_sync cudaStreamSynchronize"),
              ElementsAre(3));
}

TEST(AddSamplesTest, TakesTheDevicesDelaysWhereTheirCauseIsClear) {
  const OverheadSamples samples = SamplesOf(kStep);
  // The first kernel found its stream idle, as the copy did; what the second
  // waited for, the kernel before it or its launch, is not clear.
  EXPECT_THAT(TimesOf(samples, OverheadPart::kLaunchLatency, "kernel"),
              ElementsAre(7));
  EXPECT_THAT(TimesOf(samples, OverheadPart::kLaunchLatency, "memcpy"),
              ElementsAre(6));
  EXPECT_TRUE(samples[OverheadPart::kActivityGap].empty());
}

OverheadSamples SamplesOf(const std::vector<std::vector<double>>& workloads) {
  OverheadSamples samples;
  for (uint32_t i = 0; i < workloads.size(); ++i) {
    for (const double us : workloads[i]) {
      samples[OverheadPart::kNoLaunch]["aten::view"].push_back(
          {.us = us, .events = 2, .workload = i});
    }
  }
  return samples;
}

double MeanOf(const OverheadSamples& samples, Outliers outliers) {
  return FitOverheads(samples, {.outliers = outliers})[OverheadPart::kNoLaunch]
      .at("aten::view")
      .mean_us;
}

TEST(FitOverheadsTest, AMeanHasTheStallsThatEveryStepHas) {
  const OverheadSamples samples = SamplesOf({{2, 2, 3, 3, 2, 3, 2, 3, 100}});
  EXPECT_THAT(MeanOf(samples, Outliers::kKeep), DoubleNear(120.0 / 9, 1e-9));
  EXPECT_THAT(MeanOf(samples, Outliers::kTukey), DoubleNear(20.0 / 8, 1e-9));
}

TEST(FitOverheadsTest, OfSeveralWorkloadsTheMiddleHostCounts) {
  // However many samples each has.
  const OverheadSamples samples =
      SamplesOf({std::vector<double>(45, 10), std::vector<double>(5, 24),
                 std::vector<double>(2, 90)});
  EXPECT_THAT(MeanOf(samples, Outliers::kKeep), DoubleNear(24, 1e-9));
}

TEST(FitOverheadsTest, ARowShowsTheSpreadOfItsSamples) {
  std::vector<double> times;
  for (int i = 1; i <= 100; ++i) {
    times.push_back(i);
  }
  const cost::OverheadData data = FitOverheads(SamplesOf({times}), {});
  const cost::OverheadRow& row = data[OverheadPart::kNoLaunch].at("aten::view");
  EXPECT_EQ(row.count, 100);
  EXPECT_THAT(row.std_us, DoubleNear(28.866, 1e-3));  // sqrt((100^2 - 1) / 12)
  EXPECT_THAT(row.p10_us, DoubleNear(10.9, 1e-9));
  EXPECT_THAT(row.p50_us, DoubleNear(50.5, 1e-9));
  EXPECT_THAT(row.p90_us, DoubleNear(90.1, 1e-9));
  EXPECT_THAT(row, Field(&cost::OverheadRow::events, DoubleNear(2, 1e-9)));
  EXPECT_EQ(data[OverheadPart::kNoLaunch].at("*").count, 100);
}

TEST(FitOverheadsTest, ACallThatNeedNotWaitTakesItsReturnOnly) {
  OverheadSamples samples;
  samples[OverheadPart::kCall]["blocking cudaStreamSynchronize"] = {{.us = 9}};
  samples[OverheadPart::kSyncTail]["blocking cudaStreamSynchronize"] = {
      {.us = 6}};
  samples[OverheadPart::kSyncTail]["blocking cudaMemcpyAsync"] = {{.us = 5}};
  const cost::OverheadData data = FitOverheads(samples, {});
  const cost::OverheadRows& calls = data[OverheadPart::kCall];
  EXPECT_EQ(calls.at("blocking cudaStreamSynchronize").mean_us, 3);
  // Never seen to return at once: only what entering it costs.
  EXPECT_EQ(calls.at("blocking cudaMemcpyAsync").mean_us, 2);
}

TEST(EstimateProfilerCostTest, IsHalfOfWhatQuickOpsTakeAnEvent) {
  OverheadSamples samples;
  auto& list = samples[OverheadPart::kNoLaunch]["aten::view"];
  for (int i = 0; i <= 10; ++i) {  // 1, 1.1, ... 2 us per event.
    list.push_back({.us = 2 + 0.2 * i, .events = 2});
  }
  list.push_back({.us = 0.1, .events = 1});  // Nothing nested: not counted.
  EXPECT_THAT(EstimateProfilerCost(samples), DoubleNear(0.55, 1e-9));
  EXPECT_EQ(EstimateProfilerCost({}), 0);
}

}  // namespace
}  // namespace stepcast::learn

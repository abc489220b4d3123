#include "collect/cuda/bench.h"

#include <filesystem>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include "collect/cuda/fake_device.h"
#include "collect/cuda/sweep.h"

namespace stepcast::collect {
namespace {

std::vector<Point> SomePoints(size_t count) {
  std::vector<Point> sweep = MakeSweep(1, {}, {"fp32"});
  sweep.resize(count);
  return sweep;
}

class BenchTest : public testing::Test {
 protected:
  BenchTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    out_ = std::filesystem::path(testing::TempDir()) /
           (std::string("collect_cuda_bench_") + test->name());
    std::filesystem::remove_all(out_);
    reference_.op = "nn";
    reference_.dtype = "fp32";
    reference_.m = reference_.n = reference_.k = 1024;
  }

  // One process: opens the journal and runs.
  Bench::End Run(const std::vector<Point>& sweep, double seconds = 1e6) {
    std::string wrong;
    const auto journal = Journal::Open(out_.string(), wrong);
    const Clock clock = device_.clock();
    const Budget budget(seconds, journal->SpentSeconds(), clock);
    std::ostringstream quiet;
    Progress progress(static_cast<int64_t>(sweep.size()), quiet, false);
    BenchSettings settings;
    settings.context.gpu = "fake";
    settings.reference = reference_;
    Bench bench({device_, *journal, budget, progress, clock}, settings);
    const Bench::End end = bench.Run(sweep);
    throttled_ = bench.throttled();
    return end;
  }

  std::set<std::string> Done() {
    std::string wrong;
    return Journal::Open(out_.string(), wrong)->Done();
  }
  size_t RowCount() {
    std::string wrong;
    return Journal::Open(out_.string(), wrong)->Rows().size();
  }

  std::filesystem::path out_;
  Point reference_{};
  FakeDevice device_{};
  int64_t throttled_ = 0;
};

TEST_F(BenchTest, EveryPointIsMeasuredOnce) {
  const auto sweep = SomePoints(120);
  EXPECT_EQ(Run(sweep), Bench::End::kWhole);
  EXPECT_EQ(Done().size(), 120);
  for (const Point& point : sweep) {
    EXPECT_LE(device_.prepared[PointId(point)], 1) << PointId(point);
  }
}

// Killed at points all over the sweep: each run continues after the last.
TEST_F(BenchTest, AKilledSweepNeitherLosesNorRepeatsPoints) {
  const auto sweep = SomePoints(60);
  for (int kills = 0; kills < 20; ++kills) {
    int left = 4;
    device_.before = [&](const Point&) {
      if (--left == 0) {
        throw std::runtime_error("killed");
      }
    };
    const size_t before = Done().size();
    try {
      Run(sweep);
    } catch (const std::runtime_error&) {
      // Two to three points of four preparations: the reference comes first.
      EXPECT_GT(Done().size(), before);
    }
  }
  device_.before = nullptr;
  EXPECT_EQ(Run(sweep), Bench::End::kWhole);
  EXPECT_EQ(Done().size(), 60);
  for (const Point& point : sweep) {
    EXPECT_LE(device_.prepared[PointId(point)], 1) << PointId(point);
  }
}

TEST_F(BenchTest, TheBudgetHoldsOverAllRuns) {
  const auto sweep = SomePoints(2000);
  EXPECT_EQ(Run(sweep, 0.2), Bench::End::kBudget);
  const size_t first = Done().size();
  EXPECT_GT(first, 0);
  EXPECT_LT(first, 2000);
  EXPECT_EQ(Run(sweep, 0.2), Bench::End::kBudget);
  EXPECT_EQ(Done().size(), first);
  EXPECT_EQ(Run(sweep, 0.4), Bench::End::kBudget);
  EXPECT_GT(Done().size(), first);
}

// Looks come before points 100, 125 and 150: the second finds the GPU slow and
// doubts all since the first.
TEST_F(BenchTest, PointsOfASlowSpellAreMeasuredAgain) {
  const auto sweep = SomePoints(200);
  std::map<std::string, size_t> places;
  for (size_t i = 0; i < sweep.size(); ++i) {
    places[PointId(sweep[i])] = i;
  }
  bool is_slow = false;
  device_.before = [&](const Point& point) {
    if (const auto place = places.find(PointId(point)); place != places.end()) {
      is_slow = place->second >= 110 && place->second < 130 &&
                device_.prepared.count(PointId(point)) == 0;
    }
    device_.slowdown = is_slow ? 2 : 1;
  };
  EXPECT_EQ(Run(sweep), Bench::End::kWhole);
  EXPECT_EQ(throttled_, 1);
  EXPECT_EQ(Done().size(), 200);
  int again = 0;
  for (const auto& [id, place] : places) {
    again += device_.prepared[id] == 2 ? 1 : 0;
    EXPECT_LE(device_.prepared[id], place >= 100 && place < 125 ? 2 : 1) << id;
  }
  EXPECT_GT(again, 15);
}

TEST_F(BenchTest, AGpuThatStaysSlowLosesNoRow) {
  const auto sweep = SomePoints(200);
  int count = 0;
  device_.before = [&](const Point&) {
    device_.slowdown = ++count > 100 ? 2 : 1;
  };
  EXPECT_EQ(Run(sweep), Bench::End::kWhole);
  EXPECT_EQ(Done().size(), 200);
}

TEST_F(BenchTest, WhatCannotRunIsLeftOutWithoutARow) {
  auto sweep = SomePoints(3);
  sweep[1].op = "unsupported";
  EXPECT_EQ(Run(sweep), Bench::End::kWhole);
  EXPECT_EQ(Done().size(), 3);
  EXPECT_EQ(RowCount(), 2);
}

TEST_F(BenchTest, APointThatBreaksTheDeviceIsPassedByNextTime) {
  const auto sweep = SomePoints(10);
  device_.fails_after = 4;  // The reference and three points.
  EXPECT_EQ(Run(sweep), Bench::End::kDeviceFailed);
  EXPECT_EQ(RowCount(), 3);
  EXPECT_EQ(Done().size(), 4);
  device_.fails_after = -1;
  EXPECT_EQ(Run(sweep), Bench::End::kWhole);
  EXPECT_EQ(RowCount(), 9);
}

}  // namespace
}  // namespace stepcast::collect

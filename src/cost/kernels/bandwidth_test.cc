#include "cost/kernels/bandwidth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/machine_testing.h"
#include "hw/device.h"

namespace stepcast::cost {
namespace {

// 1 SM group of round numbers: DRAM 1000 GB/s of which 80 % are reached, 10 MB
// of L2, 100 SMs at 1.45 GHz.
Machine Round() {
  Machine machine;
  machine.device.generation = hw::Generation::kVolta;
  machine.device.sm_count = 100;
  machine.device.clock_ghz = 1.45;
  machine.device.dram_gbs = 1000;
  machine.device.copy_share = 0.8;
  machine.device.l2_mb = 10;
  return machine;
}

TEST(StreamUs, LargeStreamsRunAtTheSustainedRate) {
  // 8 GB / 800 GB/s = 10 ms.
  EXPECT_NEAR(StreamUs(8e9, Round()), 10000, 1);
}

TEST(StreamUs, SmallStreamsRunAtTheRateOfL2) {
  // 16.5 bytes x 100 SMs x 1.45 GHz = 2392 GB/s: 23.9 kB in 10 ns.
  EXPECT_NEAR(StreamUs(23925, Round()), 0.01, 1e-5);
}

TEST(StreamUs, GrowsEvenlyThroughTheSizeOfL2) {
  const auto names = hw::GpuNames();
  for (const std::string& gpu : names) {
    const Machine machine = On(gpu);
    double last = 0;
    for (double bytes = 1e4; bytes < 1e10; bytes *= 1.01) {
      const double time = StreamUs(bytes, machine);
      EXPECT_GT(time, last) << gpu << " " << bytes;
      // One per cent more bytes never cost five per cent more time.
      if (last > 0) {
        EXPECT_LT(time, 1.05 * last) << gpu << " " << bytes;
      }
      EXPECT_GE(time, StreamRooflineUs(bytes, bytes, machine)) << gpu;
      last = time;
    }
  }
}

TEST(StreamUs, AResidentFootprintIsFasterThanOneThatIsNot) {
  const Machine machine = Round();
  EXPECT_LT(StreamUs(1e6, 1e6, machine), 0.5 * StreamUs(1e6, 1e9, machine));
}

TEST(CachedShare, IsHalfAtTheUsableShareOfL2) {
  EXPECT_NEAR(CachedShare(0.65 * 10e6, Round()), 0.5, 1e-9);
}

TEST(CachedShare, FallsSoonerWhereTheSameTensorsAreSweptOver) {
  Machine machine = Round();
  machine.sweeps = true;
  // The chance that a set of 16 ways has no more lines than ways, at x times
  // the 10 MB of L2: P(Poisson(16 x) < 16).
  EXPECT_NEAR(CachedShare(0.8 * 10e6, machine), 0.78, 0.08);
  EXPECT_NEAR(CachedShare(1.0 * 10e6, machine), 0.47, 0.08);
  EXPECT_NEAR(CachedShare(1.2 * 10e6, machine), 0.20, 0.08);
  EXPECT_NEAR(CachedShare(1.5 * 10e6, machine), 0.03, 0.03);
  EXPECT_LT(CachedShare(1.5 * 10e6, machine), CachedShare(1.5 * 10e6, Round()));
}

TEST(LatencyUs, IsANumberOfClocks) {
  Machine machine = Round();
  EXPECT_NEAR(LatencyUs(machine), 2.0, 1e-9);
  machine.device.clock_ghz = 2.9;
  EXPECT_NEAR(LatencyUs(machine), 1.0, 1e-9);
}

TEST(LaneUs, CountsSixtyFourLanesPerSm) {
  // 100 SMs x 64 lanes x 1450 clocks/us = 9.28 M lane clocks per us.
  EXPECT_NEAR(LaneUs(9.28e6, 3, Round()), 3, 1e-9);
}

TEST(Overlap, LiesBetweenTheLongerAndTheSum) {
  EXPECT_DOUBLE_EQ(Overlap(3, 4, 1), 7);
  EXPECT_DOUBLE_EQ(Overlap(3, 4, 2), 5);
  EXPECT_NEAR(Overlap(3, 4, 64), 4, 1e-6);
  EXPECT_EQ(Overlap(0, 0, 4), 0);
  EXPECT_EQ(Overlap(0, 2, 4), 2);
}

TEST(StreamBase, NamesWhatBinds) {
  const Machine machine = Round();
  EXPECT_EQ(StreamBase({.bytes = 100}, machine).bound, Bound::kLatency);
  EXPECT_EQ(StreamBase({.bytes = 6e6}, machine).bound, Bound::kL2);
  EXPECT_EQ(StreamBase({.bytes = 1e9}, machine).bound, Bound::kDram);
  EXPECT_EQ(StreamBase({.bytes = 1e9, .compute_us = 1e4}, machine).bound,
            Bound::kCompute);
}

}  // namespace
}  // namespace stepcast::cost

#include "cost/kernels/copy.h"

#include "cost/kernels/memory_laws_testing.h"

namespace stepcast::cost {
namespace {

using ir::Copy;
using ir::CopyKind;

TEST(CopyBase, PinnedMemoryRunsAtTheRateOfPcie) {
  // 6.55 MB of ids: 528 us at 12.4 GB/s on the authors' V100.
  const Copy copy{CopyKind::kHostToDevice, {6'553'600}, true};
  const Base base = CopyBase(copy, AuthorsV100());
  EXPECT_NEAR(base.time_us, 528, 15);
  EXPECT_EQ(base.bound, Bound::kLink);
}

TEST(CopyBase, PageableMemoryIsNeverFaster) {
  const auto names = hw::GpuNames();
  for (const std::string& gpu : names) {
    const Machine machine{.device = hw::FindDevice(gpu).value()};
    for (int64_t bytes = 1; bytes < (1LL << 34); bytes *= 8) {
      const Copy pinned{CopyKind::kDeviceToHost, {bytes}, true};
      const Copy pageable{CopyKind::kDeviceToHost, {bytes}, false};
      EXPECT_LE(CopyBase(pinned, machine).time_us,
                CopyBase(pageable, machine).time_us)
          << gpu;
    }
  }
}

TEST(CopyBase, CopiesOnTheDeviceReadAndWrite) {
  // 98 MB on a V100: 255 us.
  const Machine v100{.device = hw::FindDevice("v100-sxm-32gb").value()};
  const Copy copy{CopyKind::kDeviceToDevice, {98'304'000}};
  EXPECT_NEAR(CopyBase(copy, v100).time_us, 255, 26);
}

TEST(CopyBase, PeersUseNvlinkWhereThereIsOne) {
  // 600 MB over half of 300 GB/s, a fifth of it lost: 5 ms.
  const Machine v100{.device = hw::FindDevice("v100-sxm-32gb").value()};
  const Machine t4{.device = hw::FindDevice("t4").value()};
  const Copy copy{CopyKind::kPeerToPeer, {600'000'000}};
  EXPECT_NEAR(CopyBase(copy, v100).time_us, 5000, 50);
  EXPECT_GT(CopyBase(copy, t4).time_us, 5 * CopyBase(copy, v100).time_us);
}

TEST(CopyBase, TinyCopiesAreLatency) {
  const Machine h100{.device = hw::FindDevice("h100-sxm-80gb").value()};
  const Copy copy{CopyKind::kHostToDevice, {8}};
  EXPECT_NEAR(CopyBase(copy, h100).time_us, 0.9, 0.1);
  EXPECT_EQ(CopyBase(copy, h100).bound, Bound::kLatency);
}

TEST(CopyBase, PageableMemoryBeyondTheHostsCachesIsHalfAsFast) {
  // Beside A100: 93 kB in 11.5 us, 151 MB in 24-30 ms.
  const Machine a100{.device = hw::FindDevice("a100-pg509-200").value()};
  EXPECT_NEAR(CopyBase(Copy{CopyKind::kHostToDevice, {92'928}}, a100).time_us,
              11.5, 2);
  EXPECT_NEAR(
      CopyBase(Copy{CopyKind::kHostToDevice, {150'994'944}}, a100).time_us,
      29'600, 3000);
}

TEST(CopyBase, ObeysTheLawsOfSize) {
  for (const CopyKind kind : {CopyKind::kHostToDevice, CopyKind::kDeviceToHost,
                              CopyKind::kDeviceToDevice, CopyKind::kPeerToPeer,
                              CopyKind::kHostToHost}) {
    ExpectLawsOfSize([kind](int64_t size) { return Copy{kind, {size}}; });
  }
}

}  // namespace
}  // namespace stepcast::cost

#include "cost/kernels/families.h"
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
  // On a host of A100: 93 kB in 11.5 us, 151 MB in 24-30 ms.
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

using ir::Concat;
using ir::DType;

TEST(ConcatBase, AnswersForTheAuthorsInteraction) {
  // 27 features of 128 for 2048 samples: 90-92 us.
  const Concat features{27, 2048 * 27 * 128, DType::kFp32};
  EXPECT_NEAR(ConcatBase(features, AuthorsV100()).time_us, 91, 9);
  // The products after the dense features: 13-15 us.
  const Concat top{2, 2048 * (128 + 351), DType::kFp32};
  EXPECT_NEAR(ConcatBase(top, AuthorsV100()).time_us, 14, 2);
}

TEST(ConcatBase, NarrowTensorsAreBoundByAddresses) {
  const Machine h100{.device = hw::FindDevice("h100-sxm-80gb").value()};
  const Concat concat{2, 100'000'000, DType::kBf16};
  EXPECT_EQ(ConcatBase(concat, h100).bound, Bound::kCompute);
}

TEST(ConcatBase, ObeysTheLawsOfSize) {
  ExpectLawsOfSize([](int64_t size) { return Concat{4, size, DType::kFp16}; });
}

using ir::Transpose;

TEST(TransposeBase, RowsThatStayTogetherMoveAtTheRateOfAddresses) {
  // [16, 16, 559, 64] in bf16 with the heads moved: 29 us on H100.
  const Machine h100{.device = hw::FindDevice("h100-sxm-80gb").value()};
  const Transpose op{9'158'656, 64, DType::kBf16};
  EXPECT_NEAR(TransposeBase(op, h100).time_us, 29, 4);
}

TEST(TransposeBase, LoneElementsCostASectorEach) {
  // [8, 12, 64, 3137] in bf16, fully transposed: 154 us on H100, where rows
  // of the same tensor take 59.
  const Machine h100{.device = hw::FindDevice("h100-sxm-80gb").value()};
  const Transpose lone{19'273'728, 1, DType::kBf16};
  const Transpose rows{19'273'728, 64, DType::kBf16};
  EXPECT_NEAR(TransposeBase(lone, h100).time_us, 154, 20);
  EXPECT_NEAR(TransposeBase(rows, h100).time_us, 59, 6);
  EXPECT_EQ(TransposeBase(lone, h100).bound, Bound::kL2);
}

TEST(TransposeBase, LongerRunsAreNeverSlower) {
  const Machine v100 = AuthorsV100();
  double last = 1e9;
  for (int64_t run = 1; run <= 1024; run *= 2) {
    const Transpose op{1 << 22, run, DType::kFp32};
    EXPECT_LE(TransposeBase(op, v100).time_us, last) << run;
    last = TransposeBase(op, v100).time_us;
  }
}

TEST(TransposeBase, ObeysTheLawsOfSize) {
  for (const int64_t run : {0, 1, 64}) {
    ExpectLawsOfSize([run](int64_t size) {
      return Transpose{size, run, DType::kFp32};
    });
  }
}

using ir::Fill;

TEST(MemsetBase, SmallOnesOfTheDriverBeatEveryKernel) {
  // 1.06-1.12 us for up to 576 bytes on A100, 2.9 for 1.5 MB.
  const Machine a100{.device = hw::FindDevice("a100-pg509-200").value()};
  EXPECT_NEAR(MemsetBase(Fill{{128}}, a100).time_us, 1.1, 0.05);
  EXPECT_NEAR(MemsetBase(Fill{{1'475'131}}, a100).time_us, 2.9, 0.6);
  EXPECT_EQ(MemsetBase(Fill{{1'475'131}}, a100).time_us,
            FillBase(Fill{{1'475'131}}, a100).time_us);
  const Machine mi300x{.device = hw::FindDevice("mi300x").value()};
  EXPECT_EQ(MemsetBase(Fill{{128}}, mi300x).time_us,
            FillBase(Fill{{128}}, mi300x).time_us);
}

TEST(FillBase, WritesAtTheSustainedRate) {
  // 76.7 MB: 24 us on H100.
  const Machine h100{.device = hw::FindDevice("h100-sxm-80gb").value()};
  EXPECT_NEAR(FillBase(Fill{{76'681'728}}, h100).time_us, 24.2, 4);
}

TEST(FillBase, SmallFillsAreLatency) {
  const Machine h100{.device = hw::FindDevice("h100-sxm-80gb").value()};
  EXPECT_NEAR(FillBase(Fill{{4}}, h100).time_us, 1.2, 0.3);
  EXPECT_EQ(FillBase(Fill{{4}}, h100).bound, Bound::kLatency);
}

TEST(FillBase, ObeysTheLawsOfSize) {
  ExpectLawsOfSize([](int64_t size) { return Fill{{size}}; });
}

}  // namespace
}  // namespace stepcast::cost

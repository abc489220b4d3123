#include "cost/kernels/families.h"
#include "cost/kernels/memory_laws_testing.h"

namespace stepcast::cost {
namespace {

using ir::DType;
using ir::Index;

// The lower triangle of the products of `features` vectors, 2048 samples.
Index Triangle(int64_t features, bool backward) {
  return {.elements = 2048 * features * (features - 1) / 2,
          .source = 2048 * features * features,
          .scatter = backward,
          .accumulate = backward,
          .slice = 1,
          .dtype = DType::kFp32};
}

TEST(IndexBase, AnswersForTheAuthorsTriangle) {
  // Forward 17-21 us, backward 320 us; of 9 features 36-41 us backward.
  EXPECT_NEAR(IndexBase(Triangle(27, false), AuthorsV100()).time_us, 18, 3);
  EXPECT_NEAR(IndexBase(Triangle(27, true), AuthorsV100()).time_us, 320, 16);
  EXPECT_NEAR(IndexBase(Triangle(9, true), AuthorsV100()).time_us, 38, 4);
}

TEST(IndexBase, WideSlicesAccumulateAtTheRateOfMemory) {
  // A warp for 128 elements instead of one: 1 GB is read, 2 GB updated.
  const Index rows{.elements = 256'000'000,
                   .source = 512'000'000,
                   .scatter = true,
                   .accumulate = true,
                   .slice = 128,
                   .dtype = DType::kFp32};
  const Machine v100 = AuthorsV100();
  const double memory = 3 * 1.024e9 / v100.copy_rate();
  EXPECT_NEAR(IndexBase(rows, v100).time_us, memory, 0.1 * memory);
}

TEST(IndexBase, ShortSlicesReadWholeSectors) {
  // 4 of every 32 bytes are used, from a source much larger than that.
  Index index{.elements = 400'000'000,
              .source = 100'000'000'000,
              .slice = 1,
              .dtype = DType::kFp32};
  const Machine a100{.device = hw::FindDevice("a100-sxm-80gb").value()};
  const double lone = IndexBase(index, a100).memory_us;
  index.slice = 8;
  EXPECT_NEAR(lone / IndexBase(index, a100).memory_us, (32.0 + 4) / (4 + 4),
              0.1);
}

TEST(IndexBase, ObeysTheLawsOfSize) {
  for (const bool accumulate : {false, true}) {
    ExpectLawsOfSize([accumulate](int64_t size) {
      return Index{.elements = size,
                   .source = size,
                   .scatter = accumulate,
                   .accumulate = accumulate,
                   .slice = 1,
                   .dtype = DType::kFp32};
    });
  }
}

using ir::Sort;
using ir::SortKind;

TEST(SortBase, APassReadsAndWritesKeysAndPositions) {
  // 15.4 M ids of 8 bytes with their positions: 571-801 us on V100.
  const Machine v100{.device = hw::FindDevice("v100-sxm-16gb").value()};
  const Sort sort{SortKind::kSort, 15'367'496, DType::kInt64};
  EXPECT_NEAR(SortBase(sort, v100).time_us, 640, 64);
}

TEST(SortBase, OneBlockSortsInItsOwnTime) {
  // 32 to 768 ids: 9-13 us on V100.
  const Sort sort{SortKind::kSort, 351, DType::kInt64};
  EXPECT_NEAR(SortBase(sort, AuthorsV100()).time_us, 11, 2);
}

TEST(SortBase, ScansAreFasterThanSorts) {
  const Machine v100 = AuthorsV100();
  for (int64_t elements = 1; elements < (1LL << 30); elements *= 8) {
    const Sort scan{SortKind::kScan, elements, DType::kInt64};
    const Sort sort{SortKind::kSort, elements, DType::kInt64};
    EXPECT_LT(SortBase(scan, v100).time_us, SortBase(sort, v100).time_us);
  }
}

TEST(SortBase, ObeysTheLawsOfSize) {
  for (const SortKind kind : {SortKind::kSort, SortKind::kUnique,
                              SortKind::kScan, SortKind::kSearch}) {
    ExpectLawsOfSize([kind](int64_t size) {
      return Sort{kind, size, DType::kInt32};
    });
  }
}

}  // namespace
}  // namespace stepcast::cost

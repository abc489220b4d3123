#include "cost/kernels/sort.h"

#include "cost/kernels/memory_laws_testing.h"

namespace stepcast::cost {
namespace {

using ir::DType;
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

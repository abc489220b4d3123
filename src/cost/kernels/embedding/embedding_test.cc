#include "cost/kernels/embedding/embedding.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "cost/kernels/embedding/embedding_testing.h"
#include "cost/machine_testing.h"

namespace stepcast::cost {
namespace {

using ir::BagKernel;
using ir::BagPart;
using ir::BagPlace;
using ir::EmbeddingBag;
using ir::Update;

Machine V100() {
  return On("v100-sxm-16gb");
}

// What one rank of the 8-GPU DLRM trace looks up: pooling factors a table.
EmbeddingBag Rank(std::vector<int64_t> rows, std::vector<int64_t> ids) {
  EmbeddingBag bag{.tables = 3,
                   .dim = 16,
                   .batch = 128,
                   .dtype = ir::DType::kFp32,
                   .index_alpha = -1};
  for (size_t i = 0; i < rows.size(); ++i) {
    bag.rows += rows[i];
    bag.lookups += 128 * ids[i];
    bag.table_lookups.push_back(128 * ids[i]);
  }
  bag.table_rows = std::move(rows);
  return bag;
}

TEST(Embedding, IsWithinATenthOfTheV100KernelsOfLinEtAl) {
  const Machine v100 = V100();
  EXPECT_NEAR(TimeUs(RandomDlrm(), v100) / 521.8, 1, 0.1);
  EXPECT_NEAR(TimeUs(Backward(RandomDlrm(), Update::kSgd), v100) / 1276.7, 1,
              0.1);
  EXPECT_NEAR(TimeUs(CriteoDlrm(), v100) / 53, 1, 0.1);
  EXPECT_NEAR(TimeUs(Backward(CriteoDlrm(), Update::kSgd), v100) / 109, 1, 0.1);
}

TEST(Embedding, IsWithinATenthOfPublishedLookupsOnAnH100) {
  const Machine h100 = On("h100-sxm-80gb");
  const EmbeddingBag lookup = PublishedLookup();
  EXPECT_NEAR(TimeUs(lookup, h100) / 346.2, 1, 0.1);
  EXPECT_NEAR(TimeUs(Backward(lookup, Update::kSgd), h100) / 613.7, 1, 0.1);
  EXPECT_NEAR(TimeUs(Backward(lookup, Update::kAdam), h100) / 1004.8, 1, 0.1);
  // The number of distinct rows says as much as the exponent.
  EmbeddingBag counted = lookup;
  counted.index_alpha = 0;
  counted.unique_rows = 350'280;
  EXPECT_NEAR(TimeUs(counted, h100) / TimeUs(lookup, h100), 1, 0.01);
}

TEST(Embedding, ReadsRowsOfHostMemoryOverTheLink) {
  const Machine h100 = On("h100-sxm-80gb");
  EmbeddingBag bag = PublishedLookup();
  bag.rows = 268'435'450;
  bag.place = BagPlace::kManaged;
  EXPECT_NEAR(TimeUs(bag, h100) / 7933, 1, 0.1);
  EXPECT_EQ(EmbeddingBase(bag, h100).bound, Bound::kLink);
  EXPECT_NEAR(TimeUs(Backward(bag, Update::kSgd), h100) / 5630, 1, 0.1);
  EXPECT_NEAR(TimeUs(Backward(bag, Update::kAdam), h100) / 16130, 1, 0.1);
  // With a cache of as many rows as a call touches: weights near, state far.
  bag.place = BagPlace::kManagedCache;
  bag.cache_rows = 433'723;
  EXPECT_NEAR(TimeUs(bag, h100) / 3361, 1, 0.2);
  EXPECT_NEAR(TimeUs(Backward(bag, Update::kSgd), h100) / 788, 1, 0.2);
  EXPECT_NEAR(TimeUs(Backward(bag, Update::kAdam), h100) / 11007, 1, 0.1);
}

TEST(Embedding, TakesAsLongAsTheLongestBagWhenThereAreFew) {
  // 8 ranks of a DLRM trace on V100s: one load in flight a warp, so a bag of
  // 100 ids takes 100 times DRAM's latency however few bags there are.
  const Machine v100 = On("v100-sxm-32gb");
  const int64_t big = 40'000'000;
  EXPECT_NEAR(TimeUs(Rank({big, 39060, 1543}, {3, 2, 1}), v100), 7, 1);
  EXPECT_NEAR(TimeUs(Rank({big, 17295, 155}, {12, 1, 5}), v100), 12, 1);
  EXPECT_NEAR(TimeUs(Rank({big, 12973, 108}, {100, 3, 1}), v100), 66, 3);
  EXPECT_NEAR(TimeUs(Rank({big, 11938, 63}, {27, 9, 1}), v100), 22, 2);
  EXPECT_NEAR(TimeUs(Rank({590152, 7122, 14}, {10, 1, 1}), v100), 11, 1);
}

TEST(Embedding, SplitsASortedBackwardIntoItsKernels) {
  // The production model of the HTA trace: 485 tables, bags of many lengths.
  const Machine v100 = On("v100-sxm-32gb");
  EmbeddingBag bag{.tables = 485,
                   .rows = 361'797,
                   .dim = 70,
                   .batch = 2048,
                   .lookups = 15'367'496,
                   .dtype = ir::DType::kFp32,
                   .index_alpha = -1,
                   .max_dim = 640};
  EXPECT_NEAR(TimeUs(bag, v100) / 4489, 1, 0.2);
  bag = Backward(bag, Update::kRowwiseAdagrad);
  const double whole = TimeUs(bag, v100);
  bag.part = BagPart::kLongRuns;
  const double long_runs = TimeUs(bag, v100);
  bag.part = BagPart::kShortRuns;
  const double short_runs = TimeUs(bag, v100);
  EXPECT_NEAR((long_runs + short_runs) / (8568 + 3104), 1, 0.2);
  // Sorting, scanning and so on: 3663 us in the trace.
  EXPECT_NEAR((whole - long_runs - short_runs) / 3663, 1, 0.1);
}

TEST(Embedding, FindsRowsInL2WhenACallIsRepeated) {
  // Microbenchmarks of Lin et al.: 32 tables of 1000 rows, 128 bags of 8.
  EmbeddingBag bag{.tables = 32,
                   .rows = 32'000,
                   .dim = 32,
                   .batch = 128,
                   .lookups = 32 * 128 * 8,
                   .dtype = ir::DType::kFp32,
                   .index_alpha = 0,
                   .kernel = BagKernel::kAtomic,
                   .longest_bag = 8};
  const Machine v100 = V100();
  EmbeddingBag warm = bag;
  warm.warm = true;
  EXPECT_NEAR(TimeUs(warm, v100), 5.04, 1);
  EXPECT_LT(TimeUs(warm, v100), TimeUs(bag, v100));
  bag.dim = 256;  // Rows of 21 MB: nothing stays.
  warm.dim = 256;
  EXPECT_NEAR(TimeUs(warm, v100), 40.2, 6);
  EXPECT_NEAR(TimeUs(warm, v100), TimeUs(bag, v100), 0.01);
}

TEST(Embedding, ComputesEveryAddressWhenOneOpLooksUpOneTable) {
  // 4096 rows of 8192 halves: A100 448 us, H100 246 us, A40 401 us.
  const EmbeddingBag bag{.tables = 1,
                         .rows = 152'064,
                         .dim = 8192,
                         .batch = 4096,
                         .lookups = 4096,
                         .dtype = ir::DType::kFp16,
                         .pooled = false,
                         .kernel = BagKernel::kPerTable};
  EXPECT_NEAR(TimeUs(bag, On("a100-80gb")) / 448, 1, 0.15);
  EXPECT_NEAR(TimeUs(bag, On("h100-80gb")) / 246, 1, 0.15);
  EXPECT_NEAR(TimeUs(bag, On("a40")) / 401, 1, 0.15);
}

TEST(RadixSort, HasAPassForEveryEightBits) {
  const Machine v100 = V100();
  // 15.4 million ids of 19 bits in the HTA trace: 238 + 11 + 798 + 646 + 571
  // us.
  EXPECT_NEAR(RadixSortUs(15'367'496, 19, v100) / 2264, 1, 0.1);
  // 768 ids of 26 bits: 12 us; 13312: 7 + 3 + 17 + 9 + 9 + 9.
  EXPECT_NEAR(RadixSortUs(768, 26, v100), 12, 3);
  EXPECT_NEAR(RadixSortUs(13'312, 26, v100), 54, 15);
  EXPECT_LT(RadixSortUs(1e6, 16, v100), RadixSortUs(1e6, 17, v100));
}

}  // namespace
}  // namespace stepcast::cost

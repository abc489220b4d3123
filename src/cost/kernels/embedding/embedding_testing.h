// Embedding bags of the seed papers' models and what they take, for tests.
#ifndef STEPCAST_COST_KERNELS_EMBEDDING_EMBEDDING_TESTING_H_
#define STEPCAST_COST_KERNELS_EMBEDDING_EMBEDDING_TESTING_H_

#include "cost/kernels/embedding/embedding.h"
#include "cost/machine.h"
#include "ir/shape.h"

namespace stepcast::cost {

/// DLRM_default of Lin et al.: 8 tables of a million rows, random ids.
inline ir::EmbeddingBag RandomDlrm() {
  return {.tables = 8,
          .rows = 8'000'000,
          .dim = 64,
          .batch = 2048,
          .lookups = 8 * 2048 * 100,
          .dtype = ir::DType::kFp32,
          .index_alpha = 0,
          .kernel = ir::BagKernel::kAtomic,
          .longest_bag = 100};
}

/// DLRM_MLPerf: the 26 tables of Criteo Terabyte, one id per sample.
inline ir::EmbeddingBag CriteoDlrm() {
  return {.tables = 26,
          .rows = 60'557'626,
          .dim = 128,
          .batch = 2048,
          .lookups = 26 * 2048,
          .dtype = ir::DType::kFp32,
          .index_alpha = -1,
          .kernel = ir::BagKernel::kAtomic,
          .longest_bag = 1,
          .table_rows = {14885288, 29419,    15123,   7291,     19899,  3,
                         6463,     1310,     61,      10155909, 618195, 218994,
                         10,       2208,     9779,    71,       4,      963,
                         14,       16967044, 4154705, 13180313, 289595, 10828,
                         95,       34}};
}

/// FBGEMM without pooling, as a published benchmark on an H100 runs it.
inline ir::EmbeddingBag PublishedLookup() {
  return {.tables = 10,
          .rows = 16'777'210,
          .dim = 128,
          .batch = 104'857,
          .lookups = 1'048'570,
          .dtype = ir::DType::kFp32,
          .pooled = false,
          .index_alpha = 1.05};
}

inline ir::EmbeddingBag Backward(ir::EmbeddingBag bag,
                                 ir::Update update = ir::Update::kSgd) {
  bag.pass = ir::Pass::kBackward;
  bag.update = update;
  return bag;
}

inline double TimeUs(const ir::EmbeddingBag& bag, const Machine& machine) {
  return EmbeddingBase(bag, machine).time_us;
}

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_EMBEDDING_EMBEDDING_TESTING_H_

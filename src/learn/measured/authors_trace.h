// Kernel traces of DLRM by the authors of the seed papers.
#ifndef STEPCAST_LEARN_MEASURED_AUTHORS_TRACE_H_
#define STEPCAST_LEARN_MEASURED_AUTHORS_TRACE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "learn/measured/csv.h"

namespace stepcast::learn {

/// A row of a trace: the kernels of one name that an op launched.
struct AuthorsRow {
  int64_t iteration = 0;
  std::string path;         // "DLRM forward > ... > aten::linear"
  std::string op;           // "aten::linear"
  int64_t op_instance = 0;  // Counts ops through the trace.
  std::string kernel;       // "volta_sgemm_128x64_tn"
  int64_t kernel_count = 0;
  double time_us = 0;  // Of all of them.
};

/// The rows of a trace, in order. Errors name the line.
Result<std::vector<AuthorsRow>> ReadAuthorsTrace(const CsvTable& table);

/// The model that ran: everything FP32, ids 32 bits wide, plain SGD fused into
/// the backward of the embeddings.
struct AuthorsModel {
  int64_t batch = 0;
  std::vector<int64_t> bottom{};      // Widths, from the dense features on.
  std::vector<int64_t> top{};         // From the interaction's result on.
  std::vector<int64_t> table_rows{};  // One a table.
  int64_t dim = 0;
  int64_t lookups = 0;      // A table and sample.
  double index_alpha = -1;  // As ir::EmbeddingBag::index_alpha.
};
/// DLRM_default and DLRM_MLPerf as the authors configured them, batch 2048.
AuthorsModel AuthorsDefault();
AuthorsModel AuthorsMlPerf();

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_MEASURED_AUTHORS_TRACE_H_

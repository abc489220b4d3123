// Embedding operators as others published their times: which of them are
// kernels that we know, as shapes.
#ifndef STEPCAST_LEARN_MEASURED_PUBLISHED_EMBEDDING_H_
#define STEPCAST_LEARN_MEASURED_PUBLISHED_EMBEDDING_H_

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/shape.h"
#include "learn/measured/csv.h"

namespace stepcast::learn {

struct PublishedLookup {
  std::string id;
  std::string gpu;  // "h100-sxm-80gb", as GPUs are called here.
  ir::EmbeddingBag bag{};
  bool inference = false;  // A forward that keeps nothing for a backward.
  double time_us = 0;
};

struct PublishedLookups {
  std::vector<PublishedLookup> rows;
  /// Why other rows are not among our kernels, and how many there are.
  std::map<std::string, size_t> left_out;
};

/// Reads a table with the columns of kernels/embedding/published.csv. A row
/// that should be a kernel of ours but makes no sense is an error.
Result<PublishedLookups> ReadPublishedLookups(const CsvTable& table);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_MEASURED_PUBLISHED_EMBEDDING_H_

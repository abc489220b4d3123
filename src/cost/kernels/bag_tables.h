// The tables of an embedding bag, as its formulas see them: grouped by size,
// each with the distribution of its ids.
#ifndef STEPCAST_COST_KERNELS_BAG_TABLES_H_
#define STEPCAST_COST_KERNELS_BAG_TABLES_H_

#include <vector>

#include "cost/kernels/index_reuse.h"
#include "ir/shape.h"

namespace stepcast::cost {

/// Tables of one size.
struct TableGroup {
  double tables = 0;
  double rows = 0;          // Of each.
  double dim = 0;           // Of each.
  double lookups = 0;       // Of each.
  double row_bytes = 0;     // In memory, whole sectors.
  double outputs = 0;       // Rows of the output, of each.
  double output_bytes = 0;  // Of one of them, or of its gradient.
  IndexDistribution ids{1, 0};
};

struct BagTables {
  std::vector<TableGroup> groups{};
  double tables = 0;
  double rows = 0;
  double batch = 0;
  double lookups = 0;
  double outputs = 0;      // Rows: one a bag, or one a lookup if not pooled.
  double largest_dim = 0;  // Over the tables.
  double longest_bag = 0;  // Ids in it.
  // By how much the longest of the bags that share a thread block exceeds the
  // mean: a block's place on its SM is free when its last bag is done.
  double spread = 1;
  // Bytes of all ids and of where the bags begin.
  double index_bytes = 0;

  double unique_bytes() const;  // Distinct rows touched.
  double output_bytes() const;
  double additions() const;  // Of a row's elements to a sum.
};

/// The tables of a sized bag. What is not known of them is assumed:
///  - equal tables where they are not listed one by one;
///  - a negative alpha: ids as skewed as those of click logs;
///  - bags as long as each other in a table if the batch divides its lookups,
///    and exponentially distributed if not. Lookups of unlisted tables are
///    spread likewise over the tables.
BagTables TablesOf(const ir::EmbeddingBag& bag);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_KERNELS_BAG_TABLES_H_

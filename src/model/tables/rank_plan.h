// What one rank of a job has of the model.
#ifndef STEPCAST_MODEL_TABLES_RANK_PLAN_H_
#define STEPCAST_MODEL_TABLES_RANK_PLAN_H_

#include <cstdint>
#include <vector>

#include "model/model.h"

namespace stepcast::model {

/// What a rank looks up for others, which all of them know.
struct RankLoad {
  int64_t tables = 0;       // Of `local`.
  int64_t columns = 0;      // Of the vectors that it makes for a sample.
  int64_t ids = 0;          // In `local`, of the samples of one rank.
  int64_t node_tables = 0;  // Of `node_split`.
  int64_t node_ids = 0;     // Likewise, of the samples of one rank.
  friend bool operator==(const RankLoad&, const RankLoad&) = default;
};

/// Which tables a rank looks up. A table is in one of four lists:
///   local       whole, or some of its columns; the rank looks it up for the
///               samples of all;
///   replicated  on every rank, each for its own samples;
///   split       its rows sharded to all ranks: `rows` and `pooling` are this
///               rank's part, looked up for the samples of all;
///   node_split  likewise, but sharded to the ranks of this rank's node, alone
///               or with those of other nodes.
struct RankPlan {
  int64_t rank = 0;
  int64_t world = 1;
  int64_t nodes = 1;
  std::vector<TableGroup> local{};  // With one rank: all of the model's.
  std::vector<TableGroup> replicated{};
  std::vector<TableGroup> split{};
  std::vector<TableGroup> node_split{};
  int64_t ranks_per_node = 0;  // Known if any node has tables split over it.
  /// Columns of the vectors that each node makes of such tables for a sample;
  /// empty: there are none.
  std::vector<int64_t> node_columns{};
  /// Tables are cut by how often rows are used: `replicated` has the rows used
  /// most, `split` the others.
  bool hot_rows = false;
  /// Of implementations that run the bottom MLP on one rank, for the samples
  /// of all: this one does.
  bool bottom_mlp = true;
  std::vector<RankLoad> loads{};  // Rank by rank; empty: not known.
  int64_t makers = 0;             // Ranks with vectors for others; 0: all.
};

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_TABLES_RANK_PLAN_H_

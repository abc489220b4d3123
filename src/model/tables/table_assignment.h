// The assignment of tables to ranks, and the ways to make it.
#ifndef STEPCAST_MODEL_TABLES_TABLE_ASSIGNMENT_H_
#define STEPCAST_MODEL_TABLES_TABLE_ASSIGNMENT_H_

#include <cstdint>
#include <span>
#include <vector>

#include "model/model.h"

namespace stepcast::model {

/// What goes to whom. Ranks after those in `local` have no table of their own.
struct TableAssignment {
  std::vector<std::vector<TableGroup>> local{};  // Rank by rank.
  std::vector<TableGroup> replicated{};
  std::vector<TableGroup> split{};  // Whole, to be split by rows.
  /// Node by node: whole, or some of a table's rows, to be split by rows over
  /// the ranks of the node.
  std::vector<std::vector<TableGroup>> node_split{};
  int64_t ranks_per_node = 0;    // Of node_split.
  bool hot_rows = false;         // See RankPlan.
  bool bottom_on_first = false;  // Only the first rank has the bottom MLP.
};

/// Tables one by one, in the model's order.
std::vector<TableGroup> SingleTables(std::span<const TableGroup> groups);

/// Single tables with neighbours that are alike together.
std::vector<TableGroup> GroupTables(std::span<const TableGroup> tables);

/// The cost by which a table is assigned.
using TableCost = double (*)(const TableGroup& table);
double ElementsOf(const TableGroup& table);
/// Numbers of a vector.
double DimOf(const TableGroup& table);
/// Numbers that a sample moves: rows read, and the vector made of them.
double TrafficOf(const TableGroup& table);

/// The heaviest first, of equal ones the largest, each to the rank with least
/// so far and fewer than `most` tables. Ranks that have `most` come first, in
/// the order they filled up.
std::vector<std::vector<TableGroup>> AssignGreedily(
    std::vector<TableGroup> tables, int64_t ranks, TableCost cost,
    int64_t most);

/// The largest first, to the ranks in turn, back and forth.
std::vector<std::vector<TableGroup>> AssignInSnakeOrder(
    std::vector<TableGroup> tables, int64_t ranks);

/// Neighbours stay together; the first ranks have one more if it does not come
/// out even.
std::vector<std::vector<TableGroup>> AssignChunks(
    const std::vector<TableGroup>& tables, int64_t ranks);

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_TABLES_TABLE_ASSIGNMENT_H_

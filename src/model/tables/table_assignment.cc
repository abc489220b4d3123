#include "model/tables/table_assignment.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace stepcast::model {
namespace {

struct Hand {
  std::vector<TableGroup> tables{};
  double cost = 0;
};

void SortByCost(std::vector<TableGroup>& tables, TableCost cost) {
  const auto key = [&](const TableGroup& table) {
    return std::pair(cost(table), ElementsOf(table));
  };
  std::ranges::stable_sort(tables, std::ranges::greater{}, key);
}

// No more hands than tables: others stay empty.
size_t HandsFor(const std::vector<TableGroup>& tables, int64_t ranks) {
  return static_cast<size_t>(std::min<int64_t>(ranks, std::ssize(tables)));
}

}  // namespace

std::vector<TableGroup> SingleTables(std::span<const TableGroup> groups) {
  std::vector<TableGroup> tables;
  for (const TableGroup& group : groups) {
    TableGroup single = group;
    single.count = 1;
    tables.insert(tables.end(), static_cast<size_t>(group.count), single);
  }
  return tables;
}

std::vector<TableGroup> GroupTables(std::span<const TableGroup> tables) {
  std::vector<TableGroup> groups;
  for (const TableGroup& table : tables) {
    TableGroup like = table;
    like.count = groups.empty() ? 0 : groups.back().count;
    if (!groups.empty() && like == groups.back()) {
      groups.back().count += table.count;
    } else {
      groups.push_back(table);
    }
  }
  return groups;
}

double ElementsOf(const TableGroup& table) {
  return static_cast<double>(table.rows) * static_cast<double>(table.dim);
}

double DimOf(const TableGroup& table) {
  return static_cast<double>(table.dim);
}

double TrafficOf(const TableGroup& table) {
  return static_cast<double>(table.dim) * (table.pooling + 1);
}

std::vector<std::vector<TableGroup>> AssignGreedily(
    std::vector<TableGroup> tables, int64_t ranks, TableCost cost,
    int64_t most) {
  SortByCost(tables, cost);
  std::vector<Hand> open(HandsFor(tables, ranks));
  std::vector<std::vector<TableGroup>> sharded;
  for (TableGroup& table : tables) {
    const auto least = std::ranges::min_element(open, {}, &Hand::cost);
    least->cost += cost(table);
    least->tables.push_back(std::move(table));
    if (std::ssize(least->tables) == most) {
      sharded.push_back(std::move(least->tables));
      open.erase(least);
    }
  }
  for (Hand& hand : open) {
    sharded.push_back(std::move(hand.tables));
  }
  return sharded;
}

std::vector<std::vector<TableGroup>> AssignInSnakeOrder(
    std::vector<TableGroup> tables, int64_t ranks) {
  SortByCost(tables, ElementsOf);
  const auto size = static_cast<size_t>(ranks);
  std::vector<std::vector<TableGroup>> sharded(HandsFor(tables, ranks));
  for (size_t i = 0; i < tables.size(); ++i) {
    const size_t turn = i % (2 * size);
    sharded[turn < size ? turn : 2 * size - 1 - turn].push_back(
        std::move(tables[i]));
  }
  return sharded;
}

std::vector<std::vector<TableGroup>> AssignChunks(
    const std::vector<TableGroup>& tables, int64_t ranks) {
  std::vector<std::vector<TableGroup>> sharded(HandsFor(tables, ranks));
  auto next = tables.begin();
  for (size_t i = 0; i < sharded.size(); ++i) {
    const size_t chunk = tables.size() / sharded.size() +
                         (i < tables.size() % sharded.size() ? 1 : 0);
    const auto end = std::next(next, static_cast<std::ptrdiff_t>(chunk));
    sharded[i].assign(next, end);
    next = end;
  }
  return sharded;
}

}  // namespace stepcast::model

#include "model/tables/hybrid_placement.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "model/memory.h"
#include "model/tables/table_assignment.h"

namespace stepcast::model {
namespace {

// The room is counted in so many units: what rounding wastes is below a
// percent of it for a hundred tables.
constexpr size_t kUnits = 16'384;
// Tables up to which the best choice is looked for: 8 MB of notes. Above, the
// best for their size are taken.
constexpr size_t kMostExact = 4096;

struct Item {
  double bytes = 0;
  double worth = 0;
  double density() const { return worth / std::max(bytes, 1.0); }
};

std::vector<Item> ItemsOf(const std::vector<TableGroup>& tables,
                          const Settings& settings, const Model& model) {
  Model alone;
  alone.table_optimizer = model.table_optimizer;
  std::vector<Item> items;
  for (const TableGroup& table : tables) {
    alone.tables = {table};
    alone.tables.front().placement = Placement::kHbm;
    items.push_back(
        {.bytes = TableBytes(alone, settings), .worth = TrafficOf(table)});
  }
  return items;
}

// The usual table over items and units of room; sizes are rounded up.
std::vector<char> TakeBest(const std::vector<Item>& items, double room) {
  std::vector<char> taken(items.size());
  const double unit = room / static_cast<double>(kUnits);
  std::vector<double> best(kUnits + 1);
  std::vector<std::vector<bool>> takes(items.size());
  const auto units_of = [&](const Item& item) {
    return static_cast<size_t>(std::ceil(item.bytes / unit));
  };
  for (size_t i = 0; i < items.size(); ++i) {
    if (items[i].bytes > room) {
      continue;
    }
    takes[i].resize(kUnits + 1);
    const size_t weight = units_of(items[i]);
    for (size_t units = kUnits + 1; units-- > weight;) {
      const double with = best[units - weight] + items[i].worth;
      if (with > best[units]) {
        best[units] = with;
        takes[i][units] = true;
      }
    }
  }
  size_t units = kUnits;
  for (size_t i = items.size(); i-- > 0;) {
    if (!takes[i].empty() && takes[i][units]) {
      taken[i] = 1;
      units -= units_of(items[i]);
    }
  }
  return taken;
}

// What still fits, the best for its size first.
void FillUp(const std::vector<Item>& items, double room,
            std::vector<char>& taken) {
  std::vector<size_t> order(items.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{},
                           [&](size_t i) { return items[i].density(); });
  for (size_t i = 0; i < items.size(); ++i) {
    room -= taken[i] != 0 ? items[i].bytes : 0;
  }
  for (const size_t i : order) {
    if (taken[i] == 0 && items[i].bytes <= room) {
      taken[i] = 1;
      room -= items[i].bytes;
    }
  }
}

}  // namespace

HybridTables PlaceHybrid(double room, Placement far, const Settings& settings,
                         Model& model) {
  std::vector<TableGroup> tables = SingleTables(model.tables);
  const std::vector<Item> items = ItemsOf(tables, settings, model);
  std::vector<char> taken(items.size());
  if (room > 0 && items.size() <= kMostExact) {
    taken = TakeBest(items, room);
  }
  FillUp(items, room, taken);
  HybridTables placed;
  for (size_t i = 0; i < tables.size(); ++i) {
    const bool near = taken[i] != 0;
    tables[i].placement = near ? Placement::kHbm : far;
    tables[i].cache = 0;
    ++(near ? placed.near : placed.far);
    (near ? placed.near_bytes : placed.far_bytes) += items[i].bytes;
  }
  model.tables = GroupTables(tables);
  return placed;
}

}  // namespace stepcast::model

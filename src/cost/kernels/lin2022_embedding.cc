#include "cost/kernels/lin2022_embedding.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "cost/kernels/bag_tables.h"
#include "cost/kernels/bandwidth.h"
#include "cost/kernels/lin2022_peaks.h"

namespace stepcast::cost {
namespace {

// Bytes a bag needs whatever hits: its table's offset, its own offsets.
constexpr double kOffsetBytes = 32 + 64;

double Sectors(double bytes) {
  return RoundUp(bytes, kSectorBytes);
}

// One table of E rows of D floats; L ids a bag, B bags.
struct Table {
  double rows = 0;
  double dim = 0;
  double ids = 0;
  double bags = 0;
  double weight_bytes = 0;  // Of a bag; twice as many if they are written back.
  double index_bytes = 0;   // Of a bag.
  double output_bytes = 0;  // Of a bag.
};

template <typename Function>
double SumOverTables(const ir::EmbeddingBag& bag, const Function& of_table) {
  double sum = 0;
  const double passes = bag.pass == ir::Pass::kForward ? 1 : 2;
  for (const TableGroup& group : TablesOf(bag).groups) {
    const double ids = group.lookups / group.outputs;
    sum += group.tables *
           of_table(Table{.rows = group.rows,
                          .dim = group.dim,
                          .ids = ids,
                          .bags = group.outputs,
                          .weight_bytes = passes * ids * Sectors(4 * group.dim),
                          .index_bytes = Sectors(4 * ids),
                          .output_bytes = Sectors(4 * group.dim)});
  }
  return sum;
}

// Of a whole bag, `resident` of a table's rows being in L2.
double BagHitRate(const Table& table, double resident) {
  double rate = 1;
  const auto ids = static_cast<int64_t>(std::ceil(table.ids));
  for (int64_t i = 0; i < ids; ++i) {
    const auto before = static_cast<double>(i);
    if (resident <= before) {
      return 0;
    }
    rate *=
        std::min(1.0, (resident - before) / std::max(table.rows - before, 1.0));
  }
  return rate;
}

// Of uniform ids.
double UniqueRows(double rows, double lookups) {
  return rows > 1 ? -rows * std::expm1(lookups * std::log1p(-1 / rows)) : 1;
}

double HitRateUs(const Table& table, bool backward, const Lin2022Peaks& peaks,
                 const Machine& machine) {
  const double rows_a_block = std::max(std::floor(256 / table.dim), 1.0);
  const double in_flight =
      std::ceil(machine.sm_count() * rows_a_block / table.bags);
  // The formula counts L2 in units of 2^20 bytes.
  const double l2_bytes = machine.device.l2_mb * 1024 * 1024;
  const double row_bytes = 4 * table.dim;
  const double resident_bytes =
      std::min(std::floor(l2_bytes / in_flight), row_bytes * table.rows);
  const double hits = BagHitRate(table, resident_bytes / row_bytes);
  const double rest = table.weight_bytes * table.bags - resident_bytes;
  const double l2 = table.bags * kOffsetBytes + hits * rest;
  const double dram = table.bags * (table.index_bytes + table.output_bytes) +
                      (1 - hits) * rest + resident_bytes;
  const double memory_us = std::max(dram / peaks.dram_rate, l2 / peaks.l2_rate);
  const double macs = table.bags * table.ids * table.dim;
  return backward ? std::max(memory_us, macs / peaks.flop_rate) : memory_us;
}

}  // namespace

double Lin2022EmbeddingSimpleUs(const ir::EmbeddingBag& bag,
                                const Machine& machine) {
  const Lin2022Peaks peaks = Lin2022PeaksOf(machine);
  return SumOverTables(bag, [&](const Table& table) {
    return table.bags *
           (kOffsetBytes + table.index_bytes + table.weight_bytes +
            table.output_bytes) /
           peaks.dram_rate;
  });
}

double Lin2022EmbeddingUs(const ir::EmbeddingBag& bag, const Machine& machine) {
  const Lin2022Peaks peaks = Lin2022PeaksOf(machine);
  const bool backward = bag.pass != ir::Pass::kForward;
  return SumOverTables(bag, [&](const Table& table) {
    return HitRateUs(table, backward, peaks, machine);
  });
}

double Lin2024EmbeddingUs(const ir::EmbeddingBag& bag, const Machine& machine) {
  if (bag.pass != ir::Pass::kForward) {
    return Lin2022EmbeddingUs(bag, machine);
  }
  constexpr double kWarpsAnSm = 45;  // 64 at an occupancy of 0.71.
  constexpr double kShareOfL2 = 0.9;
  const Lin2022Peaks peaks = Lin2022PeaksOf(machine);
  const double l2_bytes = machine.device.l2_mb * 1024 * 1024;
  const auto hit_bytes = [&](const Table& table) {
    const double lookups = table.bags * table.ids;
    const double in_flight =
        std::ceil(machine.sm_count() * kWarpsAnSm / table.bags);
    const double resident = std::min(
        {std::floor(kShareOfL2 * l2_bytes / in_flight / (4 * table.dim)),
         table.rows, lookups});
    const double unique = UniqueRows(table.rows, lookups);
    const double missed =
        unique > resident ? resident + (lookups - resident) *
                                           (table.rows - resident) / table.rows
                          : unique;
    return (1 - missed / lookups) * table.bags * table.weight_bytes;
  };
  const double l2 = SumOverTables(bag, hit_bytes);
  const double all = SumOverTables(bag, [](const Table& table) {
    return table.bags * (table.index_bytes + kOffsetBytes + table.output_bytes +
                         table.weight_bytes);
  });
  const double dram = all - l2;
  // Found empirically by the authors.
  const auto dim = static_cast<double>(bag.dim);
  const double narrow = dim > 64 ? 1 : dim > 32 ? 1.1 : 1.55;
  return narrow * std::max(dram / peaks.dram_rate, l2 / peaks.l2_rate);
}

}  // namespace stepcast::cost

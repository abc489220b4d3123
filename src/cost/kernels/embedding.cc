#include "cost/kernels/embedding.h"

#include <algorithm>
#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/embedding_backward.h"
#include "cost/kernels/gather.h"

namespace stepcast::cost {
namespace {

// Requests for rows in host memory that are in flight on an SM: only among
// these is a row fetched once for all. H100, tables in managed memory.
constexpr double kHostRowsInFlight = 2;

// Warps at work on an SM.
double WarpsOf(const BagTables& tables) {
  constexpr double kMostWarps = 64;
  return WarpsFor(kMostWarps, tables.largest_dim);
}

// Tables follow one another: those at work at a time share L2.
double TablesInFlight(const BagTables& tables, const Machine& machine) {
  const double warps = machine.sm_count() * WarpsOf(tables);
  return std::clamp(warps / tables.batch, 1.0, std::max(tables.tables, 1.0));
}

// What a lookup, or a pass of the same pattern, is made of; in microseconds.
struct Parts {
  double dram_us = 0;
  double l2_us = 0;
  double warps_us = 0;  // All rows, by the warps that run at a time.
  double chain_us = 0;  // The longest bag alone.
  double host_us = 0;
  double least_bytes = 0;  // That must come from or go to DRAM.
};

Base Assemble(const Parts& parts, double additions, const Machine& machine) {
  const double latency_us = std::max(parts.warps_us, parts.chain_us);
  const double device_us =
      Overlap(Overlap(parts.dram_us, parts.l2_us, kGatherOverlap), latency_us,
              kGatherOverlap);
  Base base{.time_us = kGatherStartUs + device_us + parts.host_us,
            .compute_us = 2 * additions / machine.vector_rate(),
            .memory_us = std::max(parts.dram_us, parts.l2_us) + parts.host_us,
            .roofline_us = parts.least_bytes / machine.peak_dram_rate()};
  if (parts.host_us > device_us) {
    base.bound = Bound::kLink;
  } else if (latency_us >= std::max(parts.dram_us, parts.l2_us)) {
    base.bound = Bound::kLatency;
  } else {
    base.bound = parts.dram_us >= parts.l2_us ? Bound::kDram : Bound::kL2;
  }
  return base;
}

// One op a table without pooling is ATen's index_select, which works out the
// address of every element: so many elements an SM and clock. Median of 4813
// lookups in FP16 on A100, A40 and H100.
double IndexSelectUs(const BagTables& tables, const Machine& machine) {
  constexpr double kElementsAClock = 0.53;
  return tables.additions() / (kElementsAClock * machine.sm_count() *
                               machine.device.clock_ghz * 1e3);
}

// `missed` is the share of rows that come from DRAM.
void SetLatencies(const ir::EmbeddingBag& bag, const BagTables& tables,
                  double missed, const Machine& machine, Parts& parts) {
  if (bag.kernel == ir::BagKernel::kPerTable && !bag.pooled) {
    parts.l2_us = 0;
    parts.warps_us = IndexSelectUs(tables, machine);
    return;
  }
  const double row_us = missed * kDramLoadUs + (1 - missed) * kL2LoadUs;
  const double loads = tables.outputs * kLoadsBeforeRows * kL2LoadUs +
                       tables.lookups * tables.spread * row_us;
  parts.warps_us = loads / (machine.sm_count() * WarpsOf(tables));
  parts.chain_us = (kLoadsBeforeRows + tables.longest_bag) * kDramLoadUs;
}

double MissedShare(const RowTraffic& rows) {
  return rows.all > 0 ? rows.dram / rows.all : 0;
}

Parts ForwardParts(const ir::EmbeddingBag& bag, const BagTables& tables,
                   const Machine& machine) {
  const GatherRates rates = RatesOf(machine);
  const RowTraffic rows = TrafficOf(bag, tables, machine);
  const double output = tables.output_bytes();
  const bool on_device = bag.place != ir::BagPlace::kManaged;
  Parts parts{.dram_us = ((on_device ? rows.dram : 0) + tables.index_bytes) /
                             rates.read +
                         output / rates.output,
              .l2_us = (rows.all + output + tables.index_bytes) / rates.l2,
              .host_us = HostReadUs(rows.host, machine),
              .least_bytes = (on_device ? tables.unique_bytes() : 0) + output +
                             tables.index_bytes};
  SetLatencies(bag, tables, MissedShare(rows), machine, parts);
  return parts;
}

// A repeated lookup finds in L2 what its last run left there: all if it fits,
// nothing if it is twice as large. Its roofline is L2's then.
Parts RepeatedParts(const ir::EmbeddingBag& bag, const BagTables& tables,
                    const Machine& machine) {
  Parts parts = ForwardParts(bag, tables, machine);
  const GatherRates rates = RatesOf(machine);
  const RowTraffic rows = TrafficOf(bag, tables, machine);
  const double cache = CacheBytes(machine);
  const double gone = std::clamp(
      (tables.unique_bytes() + tables.output_bytes() + tables.index_bytes) /
              cache -
          1,
      0.0, 1.0);
  const double missed = gone * MissedShare(rows);
  parts.dram_us -= (1 - gone) * rows.dram / rates.read;
  SetLatencies(bag, tables, missed, machine, parts);
  parts.chain_us *=
      (missed * kDramLoadUs + (1 - missed) * kL2LoadUs) / kDramLoadUs;
  parts.least_bytes *= gone;
  return parts;
}

// Reads every row, as the lookup did, and its bag's gradient; writes a number a
// lookup.
Parts IdWeightParts(const ir::EmbeddingBag& bag, const BagTables& tables,
                    const Machine& machine) {
  constexpr double kWeightBytes = 4;
  Parts parts = ForwardParts(bag, tables, machine);
  const GatherRates rates = RatesOf(machine);
  const double gradient = tables.output_bytes();
  const double weights = kWeightBytes * tables.lookups;
  parts.dram_us += gradient / rates.read + (weights - gradient) / rates.output;
  parts.least_bytes += weights;
  return parts;
}

// Adds a gradient to a row for every lookup, unsorted. The atomics of a thread
// are 4 floats side by side, so each of its 4 instructions finds 2 floats a
// sector: L2 does dim / 2 sector operations a row, so many a clock for each SM.
// From the DLRM steps of Lin et al. on V100 at 1297 MHz; one in each of its 32
// slices would be 0.4.
Parts AtomicBackwardParts(const ir::EmbeddingBag& bag, const BagTables& tables,
                          const Machine& machine) {
  constexpr double kFloatsASector = 2;
  constexpr double kOperationsAClock = 0.45;
  const GatherRates rates = RatesOf(machine);
  const RowTraffic rows = TrafficOf(bag, tables, machine);
  const double gradient = tables.output_bytes();
  const double operations = tables.additions() / kFloatsASector;
  return {
      .dram_us = (rows.dram + gradient + tables.index_bytes) / rates.read +
                 rows.dram / rates.update,
      .l2_us = operations / (machine.sm_count() * kOperationsAClock *
                             machine.device.clock_ghz * 1e3) +
               gradient / rates.read,
      .chain_us = (kLoadsBeforeRows + tables.longest_bag) * kDramLoadUs,
      .least_bytes = 2 * tables.unique_bytes() + gradient + tables.index_bytes};
}

}  // namespace

double HostReadUs(double bytes, const Machine& machine) {
  constexpr double kShareOfLink = 0.8;  // H100, PCIe generation 5.
  return bytes / (kShareOfLink * machine.device.pcie_gbs * 1e3);
}

double HostUpdateUs(double bytes, const Machine& machine) {
  constexpr double kShareOfLink = 0.7;  // Each way, both ways busy.
  return bytes / (kShareOfLink * machine.device.pcie_gbs * 1e3);
}

RowTraffic TrafficOf(const ir::EmbeddingBag& bag, const BagTables& tables,
                     const Machine& machine) {
  const double cache = CacheBytes(machine) / TablesInFlight(tables, machine);
  RowTraffic traffic;
  for (const TableGroup& group : tables.groups) {
    const double streamed = group.outputs * group.output_bytes / group.lookups +
                            tables.index_bytes / tables.lookups;
    const double missed = ExpectedMisses(group.ids, group.lookups,
                                         {.bytes = cache,
                                          .row_bytes = group.row_bytes,
                                          .stream_bytes = streamed});
    traffic.dram += group.tables * missed * group.row_bytes;
    traffic.all += group.tables * group.lookups * group.row_bytes;
    double from_host = 0;
    if (bag.place == ir::BagPlace::kManaged) {
      from_host = group.lookups *
                  group.ids.NextIsNew(kHostRowsInFlight * machine.sm_count());
    } else if (bag.place == ir::BagPlace::kManagedCache) {
      // Rows of this call that the calls before left no room for.
      const double kept = group.ids.LookupsFor(
          static_cast<double>(bag.cache_rows) / tables.tables);
      from_host = group.ids.ExpectedUnique(kept + group.lookups) -
                  group.ids.ExpectedUnique(kept);
    }
    traffic.host += group.tables * from_host * group.row_bytes;
  }
  return traffic;
}

Base EmbeddingBase(const ir::KernelShape& shape, const Machine& machine) {
  const auto& bag = std::get<ir::EmbeddingBag>(shape);
  const BagTables tables = TablesOf(bag);
  const double additions = tables.additions();
  if (bag.pass == ir::Pass::kForward) {
    const bool warm = bag.warm && bag.place != ir::BagPlace::kManaged;
    return Assemble(warm ? RepeatedParts(bag, tables, machine)
                         : ForwardParts(bag, tables, machine),
                    additions, machine);
  }
  if (bag.part == ir::BagPart::kIdWeights) {
    return Assemble(IdWeightParts(bag, tables, machine), additions, machine);
  }
  if (bag.kernel == ir::BagKernel::kAtomic) {
    return Assemble(AtomicBackwardParts(bag, tables, machine), additions,
                    machine);
  }
  return SortedBackwardBase(bag, tables, machine);
}

}  // namespace stepcast::cost

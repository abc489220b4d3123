#include "cost/kernels/embedding/embedding.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/embedding/gather.h"

namespace stepcast::cost {
namespace {

// Rows with more lookups than this get a thread block, the others a warp:
// FBGEMM's max_segment_length_per_warp.
constexpr int kLongestShortRun = 32;

// An id sorted and the number of the bag it belongs to.
constexpr double kSortedIdBytes = 12;

// Loads before a row's first gradient: its run's begin and end, its table, its
// offsets; then the row and its state.
constexpr double kLoadsBeforeGradients = 6;
constexpr double kRowLoads = 2;

// Warps active on an SM while rows are narrow.
constexpr double kBackwardWarps = 32;

// A block adds up its share of the sum in shared memory, with barriers. Fitted,
// with kRowsABlock, on the long-run kernels of the PARAM and HTA DLRM traces.
constexpr double kBlockReductionUs = 5.5;
constexpr double kWarpsABlock = 16;
// There is one block for 1024 lookups: long rows in one of them, as far as
// there are so few lookups that blocks are not all active.
constexpr double kRowsABlock = 2.5;

// The longest of the runs that share a block over their mean.
constexpr double kRunSpread = 2;

// Reading and writing rows by one warp each, as a share of the rates of a
// lookup. Fitted on the two H100 backwards in published benchmarks.
constexpr double kShareOfRates = 0.7;

// What a backward moves, in bytes.
struct Traffic {
  double gradient = 0;     // Missed L2.
  double read = 0;         // Rows and their optimizer state, on the device.
  double written = 0;      // The same, back.
  double host = 0;         // Each way.
  double least = 0;        // At least through DRAM.
  double gradient_us = 0;  // Loads of all gradients, one after the other.
};

double StateBytes(ir::Update update, const TableGroup& group) {
  constexpr double kFloatBytes = 4;
  switch (update) {
    case ir::Update::kNone:
    case ir::Update::kSgd:
      return 0;
    case ir::Update::kRowwiseAdagrad:
      return kSectorBytes;  // One number, but a sector moves.
    case ir::Update::kAdagrad:
      return group.dim * kFloatBytes;
    case ir::Update::kAdam:
    case ir::Update::kLamb:
    case ir::Update::kOther:
      return 2 * group.dim * kFloatBytes;
  }
  return 0;
}

Traffic TrafficOf(const ir::EmbeddingBag& bag, const TableGroup& group,
                  const Machine& machine) {
  Traffic traffic;
  const double unique = group.ids.ExpectedUnique(group.lookups);
  // Sorted by row, lookups come in any order of their bags.
  const double missed =
      bag.pooled
          ? ExpectedMisses(IndexDistribution(group.outputs, 0), group.lookups,
                           {.bytes = CacheBytes(machine),
                            .row_bytes = group.output_bytes,
                            .stream_bytes = kSortedIdBytes})
          : group.lookups;
  traffic.gradient = missed * group.output_bytes;
  traffic.gradient_us =
      missed * kDramLoadUs + (group.lookups - missed) * kL2LoadUs;
  const double rows = unique * group.row_bytes;
  const double state = unique * StateBytes(bag.update, group);
  // A gradient without an update is written over nothing.
  const double read_rows = bag.update == ir::Update::kNone ? 0 : rows;
  const bool rows_here = bag.place != ir::BagPlace::kManaged;
  const bool state_here = bag.place == ir::BagPlace::kDevice;
  traffic.read = (rows_here ? read_rows : 0) + (state_here ? state : 0) +
                 group.lookups * kSortedIdBytes;
  traffic.written = (rows_here ? rows : 0) + (state_here ? state : 0);
  traffic.host = (rows_here ? 0 : rows) + (state_here ? 0 : state);
  traffic.least = group.outputs * group.output_bytes *
                      std::min(1.0, missed / group.outputs) +
                  traffic.read + traffic.written;
  return traffic;
}

// Both kernels of the update.
struct Update {
  Base long_runs{};
  Base short_runs{};
};

double LongRunsUs(const Runs& runs, double gradient_us, double warps,
                  const Machine& machine) {
  if (runs.long_rows <= 0) {
    return 0;
  }
  const double first_us =
      kBlockReductionUs + (kLoadsBeforeGradients + kRowLoads) * kDramLoadUs;
  const double next_us = kBlockReductionUs + kLoadsBeforeGradients * kL2LoadUs +
                         kRowLoads * kDramLoadUs +
                         gradient_us / runs.long_rows / kWarpsABlock;
  const double blocks = machine.sm_count() * warps / kWarpsABlock;
  const double rows_a_block =
      std::max(std::min(runs.long_rows, kRowsABlock), runs.long_rows / blocks);
  return std::min(runs.long_rows, 1.0) * first_us +
         std::max(rows_a_block - 1, 0.0) * next_us;
}

double ShortRunsUs(const Runs& runs, double gradient_us, double longest,
                   double warps, const Machine& machine) {
  const double row_us =
      kLoadsBeforeGradients * kL2LoadUs + kRowLoads * kDramLoadUs;
  const double all_us = (runs.short_rows * row_us + kRunSpread * gradient_us) /
                        (machine.sm_count() * warps);
  // One warp alone, with as many lookups as it may get: nothing of its row is
  // near, but gradients were just made.
  const double chain_us =
      (kLoadsBeforeGradients + kRowLoads) * kDramLoadUs + longest * kL2LoadUs;
  return std::max(all_us, chain_us);
}

Base KernelBase(const Traffic& traffic, double latency_us,
                const Machine& machine) {
  const GatherRates rates = RatesOf(machine);
  const double dram_us = ((traffic.gradient + traffic.read) / rates.read +
                          traffic.written / rates.update) /
                         kShareOfRates;
  const double host_us = HostUpdateUs(traffic.host, machine);
  const double device_us = std::max(dram_us, latency_us);
  return {.time_us = kGatherStartUs + device_us + host_us,
          .memory_us = dram_us + host_us,
          .roofline_us = traffic.least / machine.peak_dram_rate(),
          .bound = host_us > device_us    ? Bound::kLink
                   : dram_us > latency_us ? Bound::kDram
                                          : Bound::kLatency,
          .bytes = traffic.least};
}

// Adds shares of a group's traffic: of the gradients by lookups, of the rest by
// rows.
void Add(const Traffic& all, double of_lookups, double of_rows,
         Traffic& traffic) {
  traffic.gradient += of_lookups * all.gradient;
  traffic.gradient_us += of_lookups * all.gradient_us;
  traffic.read += of_rows * all.read;
  traffic.written += of_rows * all.written;
  traffic.host += of_rows * all.host;
  traffic.least += std::min(of_lookups, of_rows) * all.least;
}

Update UpdateOf(const ir::EmbeddingBag& bag, const BagTables& tables,
                const Machine& machine) {
  Runs runs;
  Traffic in_long;
  Traffic in_short;
  double longest = 1;
  for (const TableGroup& group : tables.groups) {
    const Runs of_table = CountRuns(group.ids, group.lookups, kLongestShortRun);
    const Traffic traffic = TrafficOf(bag, group, machine);
    const double rows = of_table.long_rows + of_table.short_rows;
    const double lookups_share = of_table.long_lookups / group.lookups;
    const double rows_share = rows > 0 ? of_table.long_rows / rows : 0;
    Add(traffic, group.tables * lookups_share, group.tables * rows_share,
        in_long);
    Add(traffic, group.tables * (1 - lookups_share),
        group.tables * (1 - rows_share), in_short);
    runs.long_rows += group.tables * of_table.long_rows;
    runs.long_lookups += group.tables * of_table.long_lookups;
    runs.short_rows += group.tables * of_table.short_rows;
    runs.short_lookups += group.tables * of_table.short_lookups;
    longest = std::max(longest, group.lookups);
  }
  longest = std::min<double>(longest, kLongestShortRun);
  const double warps = WarpsFor(kBackwardWarps, tables.largest_dim);
  return {.long_runs = KernelBase(
              in_long, LongRunsUs(runs, in_long.gradient_us, warps, machine),
              machine),
          .short_runs = KernelBase(
              in_short,
              ShortRunsUs(runs, in_short.gradient_us, longest, warps, machine),
              machine)};
}

// Bytes per microsecond of passes over ids, as a share of the peak: three
// sweeps over 15.4 million keys in the HTA DLRM trace on a V100.
double PassRate(const Machine& machine) {
  constexpr double kOverCopy = 0.70;
  return kOverCopy * machine.copy_rate();
}

}  // namespace

double RadixSortUs(double keys, double bits, const Machine& machine) {
  constexpr double kBitsAPass = 8;
  // As many keys as one block sorts by itself, and what a pass of that takes;
  // V100 traces: 9 us for 3 bits, 12 to 14 for 26.
  constexpr double kOneTile = 4096;
  constexpr double kTileUs = 6;
  constexpr double kTilePassUs = 2;
  // Three kinds of kernels without any work: counting digits, summing them, and
  // a sweep.
  constexpr double kCountUs = 5;
  constexpr double kSumUs = 3.5;
  constexpr double kSweepUs = 8;
  constexpr double kKeyBytes = 8;
  const double passes = std::max(1.0, std::ceil(bits / kBitsAPass));
  if (keys <= kOneTile) {
    return kTileUs + passes * kTilePassUs;
  }
  const double rate = PassRate(machine);
  return kCountUs + kSumUs + keys * kKeyBytes / rate +
         passes * (kSweepUs + 2 * keys * kSortedIdBytes / rate);
}

double BagPreparationUs(const BagTables& tables, const Machine& machine) {
  // Bytes per lookup: an id read and written with its bag, and the place where
  // its bag begins; ids read to find equal ones; lengths read and summed; sums
  // read to find long ones. The four steps without any work take so long.
  constexpr double kBytesALookup = 28 + 8 + 8 + 4;
  constexpr double kStepsUs = 4 + 8.5 + 6.5 + 4;
  const double bits = std::log2(std::max(tables.rows, 2.0));
  return RadixSortUs(tables.lookups, std::ceil(bits), machine) + kStepsUs +
         tables.lookups * kBytesALookup / PassRate(machine);
}

Base SortedBackwardBase(const ir::EmbeddingBag& bag, const BagTables& tables,
                        const Machine& machine) {
  const Update update = UpdateOf(bag, tables, machine);
  if (bag.part == ir::BagPart::kLongRuns) {
    return update.long_runs;
  }
  if (bag.part == ir::BagPart::kShortRuns) {
    return update.short_runs;
  }
  const double preparation_us = BagPreparationUs(tables, machine);
  return {.time_us = update.long_runs.time_us + update.short_runs.time_us +
                     preparation_us,
          .compute_us = 2 * tables.additions() / machine.vector_rate(),
          .memory_us = update.long_runs.memory_us +
                       update.short_runs.memory_us + preparation_us,
          .roofline_us =
              update.long_runs.roofline_us + update.short_runs.roofline_us,
          .bound = update.short_runs.time_us > update.long_runs.time_us
                       ? update.short_runs.bound
                       : update.long_runs.bound,
          .flops = tables.additions(),
          .bytes = update.long_runs.bytes + update.short_runs.bytes};
}

namespace {

// Requests for rows in host memory that are in flight on an SM: only among
// these is a row fetched once for all. H100, tables in managed memory.
constexpr double kHostRowsInFlight = 2;

// Warps active on an SM.
double WarpsOf(const BagTables& tables) {
  constexpr double kMostWarps = 64;
  return WarpsFor(kMostWarps, tables.largest_dim);
}

// Tables follow one another: those active at a time share L2.
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
            .roofline_us = parts.least_bytes / machine.peak_dram_rate(),
            .flops = additions,
            .bytes = parts.least_bytes};
  if (parts.host_us > device_us) {
    base.bound = Bound::kLink;
  } else if (latency_us >= std::max(parts.dram_us, parts.l2_us)) {
    base.bound = Bound::kLatency;
  } else {
    base.bound = parts.dram_us >= parts.l2_us ? Bound::kDram : Bound::kL2;
  }
  return base;
}

// One op per table without pooling is ATen's index_select, which works out the
// address of every element: so many elements per SM and clock. Median of 4813
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

// Reads every row, as the lookup did, and its bag's gradient; writes one number
// per lookup.
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
// are 4 floats side by side, so each of its 4 instructions finds 2 floats per
// sector: L2 does dim / 2 sector operations per row, so many per clock and SM.
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

#include "cost/kernels/cpu_kernels.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <variant>

#include "cost/kernels/bandwidth.h"
#include "cost/kernels/embedding/bag_tables.h"
#include "ir/shape_fields.h"

namespace stepcast::cost {
namespace {

// Unknown sizes are 0 and stay there.
void AddSize(double size, FeatureVector& features) {
  features.Add(std::log2(1 + std::max(size, 0.0)));
}
void AddSize(int64_t size, FeatureVector& features) {
  AddSize(static_cast<double>(size), features);
}

template <typename S>
void AddFields(const S& shape, FeatureVector& features) {
  ir::ForEachField<S>([&](const auto& field) {
    const auto& value = shape.*field.member;
    using Type = std::remove_cvref_t<decltype(value)>;
    if constexpr (std::is_same_v<Type, int64_t>) {
      AddSize(value, features);
    } else if constexpr (std::is_same_v<Type, Bytes>) {
      AddSize(value.count, features);
    } else if constexpr (std::is_same_v<Type, bool>) {
      features.Add(value ? 1 : 0);
    } else if constexpr (std::is_same_v<Type, ir::DType>) {
      features.AddLog(ElementBytes(value));
    } else if constexpr (std::is_enum_v<Type>) {
      features.Add(static_cast<double>(value));
    }
  });
}

// Only what a recorded call shows: it does not have the number of distinct
// rows.
void AddFields(const ir::EmbeddingBag& bag, FeatureVector& features) {
  AddSize(bag.tables, features);
  AddSize(bag.rows, features);
  AddSize(bag.dim, features);
  AddSize(bag.batch, features);
  AddSize(bag.lookups, features);
  const auto lookups = static_cast<double>(bag.lookups);
  const auto dim = static_cast<double>(bag.dim);
  AddSize(bag.batch > 0 ? bag.lookups / bag.batch : 0, features);
  AddSize(static_cast<double>(bag.rows) * dim, features);
  AddSize(lookups * dim, features);
  features.Add(std::max(bag.index_alpha, 0.0));
  features.Add(static_cast<double>(bag.pass));
  features.Add(static_cast<double>(bag.update));
  features.Add(bag.pooled ? 1 : 0);
}

}  // namespace

void CpuFeatures(const ir::KernelShape& shape, const Base& base,
                 FeatureVector& features) {
  features.AddLog(base.time_us);
  features.AddLog(base.compute_us);
  features.AddLog(base.memory_us);
  std::visit([&](const auto& typed) { AddFields(typed, features); }, shape);
}

void FeaturesOn(const Family& family, const ir::KernelShape& shape,
                const Machine& machine, const Base& base,
                FeatureVector& features) {
  if (IsCpu(machine)) {
    CpuFeatures(shape, base, features);
  } else if (family.features != nullptr) {
    family.features(shape, machine, base, features);
  }
}

bool IsCpu(const Machine& machine) {
  return machine.device.generation == hw::Generation::kCpu;
}

Base CpuBase(const CpuWork& work, const Machine& machine) {
  Base base{.flops = work.flops, .bytes = work.bytes};
  base.compute_us = work.flops / work.rate;
  base.memory_us = StreamUs(work.bytes, work.bytes, machine);
  base.roofline_us =
      std::max(work.flops / work.peak,
               StreamRooflineUs(work.bytes, work.bytes, machine));
  const double call = LatencyUs(machine);
  const double longer = std::max(base.compute_us, base.memory_us);
  base.time_us = std::max(call + longer, base.roofline_us);
  if (call > longer) {
    base.bound = Bound::kLatency;
  } else if (base.compute_us > base.memory_us) {
    base.bound = Bound::kCompute;
  } else {
    base.bound =
        CachedShare(work.bytes, machine) > 0.5 ? Bound::kL2 : Bound::kDram;
  }
  return base;
}

namespace {

// Elements that a thread gets at least: at::internal::GRAIN_SIZE of PyTorch.
constexpr double kGrain = 32768;
// FLOP that a thread of a BLAS gets at least: below, packing costs more than it
// gains. A panel of 64 x 64 x 256.
constexpr double kGrainFlops = 2.0 * 64 * 64 * 256;
// Bytes per clock that a core reads from the last-level cache, whose slices are
// spread over the chip: 10 on Skylake's mesh.
constexpr double kCacheBytesPerClock = 10;
// Rows at random places open a page of DRAM each: of what streams reach.
constexpr double kRowShare = 0.65;

double MoveUs(double bytes, double cached, double dram, double cache) {
  return bytes * ((1 - cached) / dram + cached / cache);
}

}  // namespace

double ThreadsFor(const CpuLoad& load, const Machine& machine) {
  const double wanted =
      load.own_threads ? load.flops / kGrainFlops : load.items / kGrain;
  const double most = machine.sm_count();
  return std::clamp(wanted, std::min(1.0, most), most);
}

Base PriceLoad(const CpuLoad& load, const Machine& machine) {
  constexpr double kBytesPerMicrosecond = 1e3;  // In a GB/s.
  const double threads = ThreadsFor(load, machine);
  const double share = threads / machine.sm_count();
  const double dram =
      std::min(machine.copy_rate(),
               threads * machine.device.core_gbs * kBytesPerMicrosecond);
  const double cache =
      std::max(dram, threads * machine.device.clock_ghz * kBytesPerMicrosecond *
                         kCacheBytesPerClock);
  const double footprint = load.footprint > 0 ? load.footprint : load.bytes;
  const double streams =
      MoveUs(load.bytes, CachedShare(footprint, machine), dram, cache);
  const double rows =
      MoveUs(load.row_bytes, 1 - load.row_misses, kRowShare * dram, cache);
  const double peak = load.peak > 0 ? load.peak : load.rate;
  Base base{.flops = load.flops, .bytes = load.bytes + load.row_bytes};
  base.compute_us = load.core_us / threads;
  if (load.flops > 0) {
    base.compute_us =
        std::max(base.compute_us, load.flops / (load.rate * share));
  }
  base.memory_us = streams + rows;
  base.roofline_us =
      std::max(load.flops > 0 ? load.flops / peak : 0,
               DramBytes(load, machine) / machine.peak_dram_rate());
  const double team =
      threads > 1 && !load.own_threads ? machine.device.team_us : 0;
  const double start = LatencyUs(machine) + team + load.serial_us;
  const double longer = std::max(base.compute_us, base.memory_us);
  base.time_us = std::max(start + longer, base.roofline_us);
  if (start > longer) {
    base.bound = Bound::kLatency;
  } else if (base.compute_us > base.memory_us) {
    base.bound = Bound::kCompute;
  } else {
    base.bound = CachedShare(footprint, machine) > 0.5 && rows <= streams
                     ? Bound::kL2
                     : Bound::kDram;
  }
  return base;
}

double DramBytes(const CpuLoad& load, const Machine& machine) {
  const double footprint = load.footprint > 0 ? load.footprint : load.bytes;
  return load.bytes * (1 - CachedShare(footprint, machine)) +
         load.row_bytes * load.row_misses;
}

namespace {

// Clocks of a core, from instruction tables and the loops' lengths; none was
// fitted.
constexpr double kLookupClocks = 30;   // An id, its row's address, a prefetch.
constexpr double kUpdateClocks = 60;   // The same, and the state's.
constexpr double kIndexClocks = 3;     // An element by its index.
constexpr double kScatterClocks = 20;  // The same, added to what is there.
constexpr double kSpecialClocks = 4;   // exp, log and the like, vectorised.
constexpr double kRandomClocks = 4;    // A number of Philox or Mersenne.
constexpr double kHashClocks = 60;     // An id into a hash table, to find out
                                       // which are distinct.
constexpr double kCompareClocks = 6;   // A step of a sort.
// Of cache that keeps rows; the rest goes to what streams past.
constexpr double kShareForRows = 0.7;

double CoreUs(double clocks, const Machine& machine) {
  return clocks / (machine.device.clock_ghz * 1e3);
}

CpuLoad Streamed(double elements, double bytes) {
  return {.bytes = bytes, .items = elements};
}

// Products of some ten rows do not fill the tiles of matrix units, whatever
// their type: they stay on the vector units.
double SmallProductRate(const Machine& machine) {
  return machine.vector_rate() * machine.device.bmm_fp32_share;
}

CpuLoad LoadOf(const ir::Gemm& op, const Machine& machine) {
  const auto batch = static_cast<double>(std::max<int64_t>(op.batch, 1));
  const auto m = static_cast<double>(op.m);
  const auto n = static_cast<double>(op.n);
  const auto k = static_cast<double>(op.k);
  const bool batched = op.batch > 1;
  return {
      .flops = 2 * batch * m * n * k,
      .rate = batched ? SmallProductRate(machine) : machine.gemm_rate(op.dtype),
      .peak = machine.peak_gemm_rate(op.dtype),
      .bytes = batch * (m * k + k * n + m * n) * ElementBytes(op.dtype),
      .own_threads = true};
}

CpuLoad LoadOf(const ir::Interaction& op, const Machine& machine) {
  const double passes = op.pass == ir::Pass::kForward ? 1 : 2;
  const auto batch = static_cast<double>(op.batch);
  const auto features = static_cast<double>(op.features);
  const auto dim = static_cast<double>(op.dim);
  const double results = batch * (dim + features * (features - 1) / 2);
  return {.flops = passes * 2 * batch * features * features * dim,
          .rate = SmallProductRate(machine),
          .peak = machine.peak_gemm_rate(op.dtype),
          .bytes = (passes * batch * features * dim + results) *
                   ElementBytes(op.dtype),
          .items = batch * features * dim};
}

// Numbers that an update reads and writes for a row, besides the row itself.
double StateRows(ir::Update update) {
  switch (update) {
    case ir::Update::kAdagrad:
      return 1;
    case ir::Update::kAdam:
    case ir::Update::kLamb:
      return 2;
    default:
      return 0;
  }
}

CpuLoad LoadOf(const ir::EmbeddingBag& bag, const Machine& machine) {
  const BagTables tables = TablesOf(bag);
  const bool backward = bag.pass != ir::Pass::kForward;
  double all = 0;
  double missed = 0;
  for (const TableGroup& group : tables.groups) {
    const RowCache cache{
        .bytes = kShareForRows * machine.l2_bytes() / tables.tables,
        .row_bytes = group.row_bytes,
        .stream_bytes = group.outputs * group.output_bytes / group.lookups};
    all += group.tables * group.lookups * group.row_bytes;
    missed += group.tables * group.row_bytes *
              ExpectedMisses(group.ids, group.lookups, cache);
  }
  // Read, or read and written with their state.
  const double passes = backward ? 2 * (1 + StateRows(bag.update)) : 1;
  const double clocks = backward ? kUpdateClocks : kLookupClocks;
  return {.flops = tables.additions() * (backward ? 2 : 1),
          .rate = machine.vector_rate() / 2,
          .bytes = tables.output_bytes() + tables.index_bytes,
          .row_bytes = passes * all,
          .row_misses = all > 0 ? missed / all : 0,
          .core_us = CoreUs(clocks * tables.lookups, machine),
          .items = tables.additions()};
}

CpuLoad LoadOf(const ir::Elementwise& op, const Machine& machine) {
  const auto elements = static_cast<double>(op.elements);
  CpuLoad load = Streamed(elements, static_cast<double>(op.read.count) +
                                        static_cast<double>(op.written.count));
  if (op.arithmetic == ir::Arithmetic::kTranscendental ||
      op.arithmetic == ir::Arithmetic::kPower) {
    load.core_us = CoreUs(kSpecialClocks * elements, machine);
  }
  return load;
}

CpuLoad LoadOf(const ir::Index& op, const Machine& machine) {
  const auto elements = static_cast<double>(op.elements);
  const double size = ElementBytes(op.dtype);
  const double slice = static_cast<double>(std::max<int64_t>(op.slice, 1));
  const double source =
      std::max(static_cast<double>(op.source), elements) * size;
  // Sums where indices repeat are one thread's work in PyTorch (index_put_ with
  // accumulate) and in TensorFlow (ScatterAdd under a lock).
  const bool sums = op.scatter && op.accumulate;
  const double touches = sums ? 2 : 1;
  const bool rows = op.slice > 1;
  CpuLoad load{.bytes = elements * size,
               .core_us = CoreUs(rows ? kLookupClocks * elements / slice
                                      : kIndexClocks * elements,
                                 machine),
               .items = sums ? 0 : elements};
  if (sums && !rows) {
    load.core_us = CoreUs(kScatterClocks * elements, machine);
  }
  if (rows) {
    load.row_bytes = touches * elements * size;
    load.row_misses =
        1 - CachedShare(std::min(source, touches * elements * size), machine);
  } else {
    load.bytes += touches * elements * size;
  }
  return load;
}

CpuLoad LoadOf(const ir::Sort& op, const Machine& machine) {
  const auto elements = static_cast<double>(op.elements);
  const double bytes = 2 * elements * ElementBytes(op.dtype);
  switch (op.kind) {
    case ir::SortKind::kUnique:
      return {.bytes = bytes,
              .serial_us = CoreUs(kHashClocks * elements, machine)};
    case ir::SortKind::kSort:
      return {.bytes = bytes,
              .serial_us = CoreUs(kCompareClocks * elements *
                                      std::log2(std::max(elements, 2.0)),
                                  machine)};
    case ir::SortKind::kScan:
    case ir::SortKind::kSearch:
      break;
  }
  return Streamed(elements, bytes);
}

CpuLoad LoadOf(const ir::Copy& op, const Machine& /*machine*/) {
  const auto bytes = static_cast<double>(op.bytes.count);
  // One thread copies what comes from elsewhere in memory.
  return {.bytes = 2 * bytes, .items = 0};
}

double CpuStreamsOf(ir::Update update) {
  return 3 +
         2 * StateRows(update);  // p, g -> p, and each state there and back.
}

// The rest of what recommendation models launch: streams.
class Load {
 public:
  explicit Load(const Machine& machine) : machine_(machine) {}

  template <typename S>
  std::optional<CpuLoad> operator()(const S& op) const requires
      requires(const Machine& m) {
    LoadOf(op, m);
  }
  { return LoadOf(op, machine_); }
  std::optional<CpuLoad> operator()(const ir::Reduction& op) const {
    const auto inputs = static_cast<double>(op.inputs);
    return Streamed(inputs, (inputs + static_cast<double>(op.outputs)) *
                                ElementBytes(op.dtype));
  }
  std::optional<CpuLoad> operator()(const ir::Concat& op) const {
    const auto elements = static_cast<double>(op.elements);
    return Streamed(elements, 2 * elements * ElementBytes(op.dtype));
  }
  std::optional<CpuLoad> operator()(const ir::Transpose& op) const {
    const auto elements = static_cast<double>(op.elements);
    return Streamed(elements, 2 * elements * ElementBytes(op.dtype));
  }
  std::optional<CpuLoad> operator()(const ir::Fill& op) const {
    const auto bytes = static_cast<double>(op.bytes.count);
    return Streamed(bytes / ElementBytes(ir::DType::kFp32), bytes);
  }
  std::optional<CpuLoad> operator()(const ir::OptimizerStep& op) const {
    const auto elements = static_cast<double>(op.elements);
    return Streamed(
        elements, elements * CpuStreamsOf(op.update) * ElementBytes(op.dtype));
  }
  std::optional<CpuLoad> operator()(const ir::Random& op) const {
    const auto elements = static_cast<double>(op.elements);
    CpuLoad load = Streamed(elements, elements * ElementBytes(op.dtype));
    load.core_us = CoreUs(kRandomClocks * elements, machine_);
    return load;
  }
  std::optional<CpuLoad> operator()(const ir::Opaque& /*op*/) const {
    return std::nullopt;
  }
  std::optional<CpuLoad> operator()(const ir::Softmax& /*op*/) const {
    return std::nullopt;
  }
  std::optional<CpuLoad> operator()(const ir::Normalization& /*op*/) const {
    return std::nullopt;
  }
  std::optional<CpuLoad> operator()(const ir::Convolution& /*op*/) const {
    return std::nullopt;
  }
  std::optional<CpuLoad> operator()(const ir::Pooling& /*op*/) const {
    return std::nullopt;
  }
  std::optional<CpuLoad> operator()(const ir::Attention& /*op*/) const {
    return std::nullopt;
  }
  std::optional<CpuLoad> operator()(const ir::Collective& /*op*/) const {
    return std::nullopt;
  }

 private:
  const Machine& machine_;
};

}  // namespace

std::optional<CpuLoad> CpuLoadOf(const ir::KernelShape& shape,
                                 const Machine& machine) {
  return std::visit(Load(machine), shape);
}

Base BaseOn(const Family& family, const ir::KernelShape& shape,
            const Machine& machine) {
  if (IsServer(machine)) {
    if (const auto load = CpuLoadOf(shape, machine)) {
      return PriceLoad(*load, machine);
    }
  }
  return family.base(shape, machine);
}

}  // namespace stepcast::cost

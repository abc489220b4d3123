#include "learn/fit/measured_gpu.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "base/parallel.h"
#include "base/rng.h"
#include "cost/kernel_models.h"
#include "cost/machine.h"
#include "hw/device.h"
#include "ir/shape_set.h"
#include "learn/fit/ceilings.h"
#include "learn/fit/overheads/overhead_samples.h"

namespace stepcast::learn {
namespace {

std::vector<RowCase> CasesOf(const KernelRows& rows, uint16_t gpu) {
  std::map<std::pair<std::string, std::string>, RowCase> cases;
  for (const RowGroup& group : GroupRows(rows, gpu)) {
    const bool batched = group.variant == cost::Variant::kFullBatched;
    const cost::Variant variant =
        batched ? cost::Variant::kFull : group.variant;
    const std::string type(cost::Name(variant));
    for (const KernelRow* row : group.rows) {
      const bool product = std::holds_alternative<ir::Gemm>(row->shape);
      const std::string op =
          product ? rows.ops[row->op] : std::string(group.family->name);
      RowCase& one = cases[{op, type}];
      one.op = op;
      one.type = type;
      one.group.family = group.family;
      one.group.variant = variant;
      one.from_profiles = rows.kinds[row->table] == "aten";
      one.group.rows.push_back(row);
    }
  }
  std::vector<RowCase> list;
  list.reserve(cases.size());
  for (auto& [key, one] : cases) {
    list.push_back(std::move(one));
  }
  return list;
}

// Convolutions were measured on a host that slowed down.
void MeasureDrift(const KernelRows& all, const RowCase& one,
                  cost::LaunchCost& launch) {
  const std::vector<uint32_t> sizes = TableSizes(all);
  DriftInput input;
  for (const TrainingRow& row : one.rows) {
    if (row.part == Part::kFit && row.row->timing == Timing::kEventOp) {
      input.kernel_us.push_back(row.base_us);
      input.time_us.push_back(row.row->time_us);
      input.place.push_back(PlaceOf(*row.row, sizes));
    }
  }
  FitDrift(input, true, launch);
}

// The mean of what GPUs tell, one voice a chip.
class ChipMean {
 public:
  void Add(const hw::Device& device, std::optional<double> value) {
    if (value) {
      auto& [sum, count] = chips_[device.chip];
      sum += *value;
      ++count;
    }
  }
  double Or(double fallback) const {
    double sum = 0;
    for (const auto& [chip, values] : chips_) {
      sum += values.first / values.second;
    }
    return chips_.empty() ? fallback : sum / static_cast<double>(chips_.size());
  }
  bool empty() const { return chips_.empty(); }

 private:
  std::map<std::string, std::pair<double, int>> chips_;
};

std::optional<double> CeilingOf(const MeasuredGpu& gpu, std::string_view key) {
  const auto found = gpu.profile.ceilings.find(key);
  return found == gpu.profile.ceilings.end() ? std::nullopt
                                             : std::optional(found->second);
}

std::optional<double> Over(std::optional<double> value, double by) {
  return value ? std::optional(*value / by) : std::nullopt;
}

void FitCopyRule(std::span<const MeasuredGpu* const> gpus,
                 hw::ShareRule& rule) {
  ChipMean early;
  ChipMean stacked;
  ChipMean gddr;
  for (const MeasuredGpu* gpu : gpus) {
    ChipMean& mean = hw::HasEarlyMemory(gpu->device) ? early
                     : gpu->device.stacked_memory    ? stacked
                                                     : gddr;
    mean.Add(gpu->device, CeilingOf(*gpu, "copy_share"));
  }
  rule.early_copy = early.Or(rule.early_copy);
  rule.copy = stacked.Or(rule.copy);
  rule.gddr_copy = gddr.Or(rule.gddr_copy);
}

void FitGemmRule(std::span<const MeasuredGpu* const> gpus,
                 hw::ShareRule& rule) {
  ChipMean gemm;
  ChipMean pascal;
  ChipMean bmm;
  ChipMean half;
  ChipMean gddr_half;
  for (const MeasuredGpu* gpu : gpus) {
    const hw::Device& device = gpu->device;
    if (hw::IsSlotCard(device)) {
      continue;
    }
    const bool is_pascal = device.generation == hw::Generation::kPascal;
    (is_pascal ? pascal : gemm).Add(device, CeilingOf(*gpu, "gemm_fp32_share"));
    bmm.Add(device, CeilingOf(*gpu, "bmm_fp32_share"));
    (device.stacked_memory ? half : gddr_half)
        .Add(device, CeilingOf(*gpu, "gemm_half_share"));
  }
  rule.gemm = gemm.Or(rule.gemm);
  rule.bmm = bmm.Or(rule.bmm);
  rule.half = half.Or(rule.half);
  rule.gddr_half = gddr_half.Or(rule.gddr_half);
  rule.pascal_gemm = pascal.Or(rule.pascal_gemm);
  // What the slot costs; and what Pascal reaches without that cost, if only a
  // slot card was measured.
  ChipMean slot_gemm;
  ChipMean slot_bmm;
  ChipMean slot_pascal;
  for (const MeasuredGpu* gpu : gpus) {
    const hw::Device& device = gpu->device;
    if (!hw::IsSlotCard(device)) {
      continue;
    }
    const auto share = CeilingOf(*gpu, "gemm_fp32_share");
    slot_bmm.Add(device, Over(CeilingOf(*gpu, "bmm_fp32_share"), rule.bmm));
    if (device.generation != hw::Generation::kPascal) {
      slot_gemm.Add(device, Over(share, rule.gemm));
    } else if (!pascal.empty()) {
      slot_gemm.Add(device, Over(share, rule.pascal_gemm));
    } else {
      slot_pascal.Add(device, share);
    }
  }
  rule.slot_gemm = slot_gemm.Or(rule.slot_gemm);
  rule.slot_bmm = slot_bmm.Or(rule.slot_bmm);
  if (pascal.empty() && !slot_pascal.empty()) {
    rule.pascal_gemm = slot_pascal.Or(0) / rule.slot_gemm;
  }
}

}  // namespace

Result<MeasuredGpu> MeasureGpu(const KernelRows& rows, uint16_t gpu,
                               const cost::Constants& constants) {
  ASSIGN_OR_RETURN(hw::Device device, hw::FindDevice(rows.gpus[gpu]));
  cost::Machine machine{.device = std::move(device), .constants = constants};
  // What a file says of ceilings is a measurement, too.
  hw::ApplyShareRule(hw::ShareRule(), machine.device);
  MeasuredGpu measured;
  measured.gpu = gpu;
  measured.cases = CasesOf(rows, gpu);
  measured.profile.gpu = rows.gpus[gpu];
  FitLaunches(rows, gpu, machine, measured.profile);
  FitCeilings(rows, gpu, machine, measured.profile);
  cost::ApplyCeilings(measured.profile, machine.device);
  for (RowCase& one : measured.cases) {
    const cost::Machine benchmarked = AsBenchmarked(machine, one);
    const TrainingInput input{.all = rows,
                              .group = one.group,
                              .machine = benchmarked,
                              .profile = measured.profile};
    one.rows = MakeTrainingRows(input).rows;
    const auto launch = measured.profile.launches.find("conv2d");
    if (one.op == "convolution" && launch != measured.profile.launches.end()) {
      MeasureDrift(rows, one, launch->second);
      one.rows = MakeTrainingRows(input).rows;
    }
  }
  measured.device = std::move(machine.device);
  return measured;
}

Result<std::vector<MeasuredGpu>> MeasureGpus(const KernelRows& rows,
                                             const cost::Constants& constants,
                                             size_t threads) {
  std::vector<std::optional<Result<MeasuredGpu>>> results(rows.gpus.size());
  ParallelFor(rows.gpus.size(), threads, [&](size_t gpu) {
    results[gpu] = MeasureGpu(rows, static_cast<uint16_t>(gpu), constants);
  });
  std::vector<MeasuredGpu> gpus;
  for (auto& result : results) {
    ASSIGN_OR_RETURN(MeasuredGpu gpu, *std::move(result));
    gpus.push_back(std::move(gpu));
  }
  return gpus;
}

cost::Machine AsBenchmarked(cost::Machine machine, const RowCase& one) {
  // Streams and rows write as much as they read, or half: two outputs leave
  // them 2/3 or 3/4 of L2. The outputs of products are small.
  constexpr double kL2Left = 0.7;
  constexpr std::array<std::string_view, 3> kStreams = {
      "elementwise", "softmax", "normalization"};
  const bool eager = !one.group.rows.empty() &&
                     one.group.rows.front()->timing == Timing::kEventOp;
  if (eager &&
      std::ranges::find(kStreams, one.group.family->name) != kStreams.end()) {
    machine.device.l2_mb *= kL2Left;
    machine.sweeps = true;
  }
  return machine;
}

std::vector<size_t> SampleRows(std::span<const TrainingRow> rows, Part part,
                               size_t most) {
  std::vector<std::pair<uint64_t, size_t>> order;
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].part == part && rows[i].counts) {
      // Parts are chosen by the hash itself: draw from it.
      order.emplace_back(Rng(ir::HashOf(rows[i].row->shape)).Next(), i);
    }
  }
  std::ranges::sort(order);
  order.resize(std::min(order.size(), most));
  std::vector<size_t> places;
  places.reserve(order.size());
  for (const auto& [hash, place] : order) {
    places.push_back(place);
  }
  return places;
}

hw::ShareRule FitShareRule(std::span<const MeasuredGpu* const> gpus) {
  hw::ShareRule rule;
  FitCopyRule(gpus, rule);
  FitGemmRule(gpus, rule);
  return rule;
}

}  // namespace stepcast::learn

#include "learn/fit/training_rows.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "base/stats.h"
#include "cost/kernels/cpu_kernels.h"

namespace stepcast::learn {
namespace {

// Real layers have sizes that are multiples of 4; random benchmarks hardly ever
// do, so the few that do count three times.
constexpr double kAlignedWeight = 3;

// Kernels of this share of a launch floor vanish after it; others in a clock
// of one microsecond and the latency that a profiler sees.
constexpr double kFadeOfFloor = 0.3;
constexpr double kFadeUs = 2;

bool IsAligned(const ir::KernelShape& shape) {
  const auto* gemm = std::get_if<ir::Gemm>(&shape);
  return gemm != nullptr && gemm->m % 4 == 0 && gemm->n % 4 == 0 &&
         gemm->k % 4 == 0;
}

double WeightOf(const KernelRow& row) {
  // A median of many says more than a single time, but not without end.
  const double seen = 1 + std::min(std::log2(row.count), 3.0);
  return seen * (IsAligned(row.shape) && row.timing == Timing::kEventOp
                     ? kAlignedWeight
                     : 1.0);
}

// A processor's calls are what they are, however short. Its formulas are a
// GPU's, off by the share of its peak that its libraries reach: 1/16 of what
// convolutions do, for products without a vector library.
constexpr double kCpuFadeUs = 0.01;
constexpr double kCpuMostLog2 = 8;
constexpr size_t kCpuFewestForTrees = 40;

void SetTrust(TrainingRows& set) {
  std::vector<double> floors;
  for (const TrainingRow& row : set.rows) {
    if (row.floor_us > 0) {
      floors.push_back(row.floor_us);
    }
  }
  if (set.fade_us == 0) {
    set.fade_us = kFadeUs;
  }
  if (!floors.empty()) {
    set.fade_us = std::max(kFadeUs, kFadeOfFloor * Quantile(floors, 0.5));
  }
  cost::FittedModel model;
  model.fade_us = set.fade_us;
  for (TrainingRow& row : set.rows) {
    row.trust = cost::TrustOf(model, row.base_us);
  }
}

}  // namespace

std::vector<RowGroup> GroupRows(const KernelRows& rows, uint16_t gpu) {
  std::map<std::pair<std::string_view, cost::Variant>, RowGroup> groups;
  for (const KernelRow& row : rows.rows) {
    const cost::Family* family = cost::FindFamily(row.shape);
    if (row.gpu != gpu || family == nullptr || !row.more.empty()) {
      continue;
    }
    const cost::Variant variant = cost::VariantOf(row.shape);
    RowGroup& group = groups[{family->name, variant}];
    group.family = family;
    group.variant = variant;
    group.rows.push_back(&row);
  }
  std::vector<RowGroup> list;
  for (auto& [key, group] : groups) {
    const auto is_profile = [&](const KernelRow* row) {
      return rows.kinds[row->table] == "aten" &&
             row->timing == Timing::kProfiler;
    };
    if (!std::ranges::all_of(group.rows, is_profile)) {
      std::erase_if(group.rows, is_profile);
    }
    list.push_back(std::move(group));
  }
  return list;
}

std::vector<uint32_t> TableSizes(const KernelRows& rows) {
  std::vector<uint32_t> sizes(rows.tables.size(), 1);
  for (const KernelRow& row : rows.rows) {
    sizes[row.table] = std::max(sizes[row.table], row.place + 1);
  }
  return sizes;
}

double PlaceOf(const KernelRow& row, std::span<const uint32_t> table_sizes) {
  const uint32_t size = table_sizes[row.table];
  return size < 2 ? 0 : static_cast<double>(row.place) / (size - 1);
}

TrainingRows MakeTrainingRows(const TrainingInput& input) {
  TrainingRows set;
  if (input.machine.device.generation == hw::Generation::kCpu) {
    set.fade_us = kCpuFadeUs;
    set.most_log2 = kCpuMostLog2;
    set.fewest_for_trees = kCpuFewestForTrees;
  }
  const std::vector<uint32_t> sizes = TableSizes(input.all);
  cost::FeatureVector features;
  for (const KernelRow* row : input.group.rows) {
    const cost::Base base = input.group.family->base(row->shape, input.machine);
    TrainingRow training{.row = row,
                         .part = PartOf(row->shape),
                         .base_us = base.time_us,
                         .log_time = std::log(row->time_us),
                         .weight = WeightOf(*row),
                         .counts = true};
    if (row->timing == Timing::kEventOp) {
      const auto launch = input.profile.launches.find(input.all.ops[row->op]);
      if (launch != input.profile.launches.end()) {
        training.floor_us = launch->second.floor_us;
        training.lead_us = launch->second.LeadAt(PlaceOf(*row, sizes));
        training.censored =
            row->time_us < kCensoredBelowFloors * training.floor_us;
        training.counts = row->time_us >= kCountsFromFloors * training.floor_us;
      }
    }
    features.Clear();
    cost::FeaturesOn(*input.group.family, row->shape, input.machine, base,
                     features);
    set.feature_count = features.values().size();
    set.features.insert(set.features.end(), features.values().begin(),
                        features.values().end());
    set.rows.push_back(training);
  }
  SetTrust(set);
  return set;
}

double ObservedUs(const TrainingRow& row, double kernel_us) {
  return std::max(row.floor_us, row.lead_us + kernel_us);
}

}  // namespace stepcast::learn

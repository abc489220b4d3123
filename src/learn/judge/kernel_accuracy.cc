#include "learn/judge/kernel_accuracy.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/stats.h"
#include "cost/kernel_models.h"
#include "cost/kernels/lin2022_embedding.h"
#include "cost/kernels/lin2022_small_ops.h"
#include "hw/device.h"
#include "ir/names.h"
#include "ir/shape_set.h"
#include "learn/fit/overhead_samples.h"
#include "learn/fit/training_rows.h"

namespace stepcast::learn {
namespace {

// A row may beat the datasheet by so much before its time cannot be true:
// boost clocks and caches explain a little, a wrong unit a thousand times.
constexpr double kFasterThanPeak = 0.5;
// Times of a file this much slower than predicted in the median are in
// nanoseconds; the worst real kernels are at 60.
constexpr double kAbsurdlySlow = 200;
constexpr size_t kFewestRowsToRefuse = 5;

double Lin2022Us(const ir::KernelShape& shape, const cost::Machine& machine) {
  if (const auto* bag = std::get_if<ir::EmbeddingBag>(&shape)) {
    return cost::Lin2022EmbeddingUs(*bag, machine);
  }
  return cost::Lin2022SmallOpUs(shape, machine).value_or(0);
}

// Prices the rows of one GPU.
class GpuPricer {
 public:
  GpuPricer(const KernelRows& rows, uint16_t gpu, cost::KernelModels models)
      : rows_(rows),
        sizes_(TableSizes(rows)),
        models_(std::move(models)),
        profile_(models_.profile()) {
    // Where no launch cost is on file, the rows themselves tell it.
    cost::Profile seen;
    FitLaunches(rows, gpu, models_.machine(), seen);
    for (const auto& [op, launch] : seen.launches) {
      profile_.launches.try_emplace(op, launch);
    }
  }

  PricedRow Price(const KernelRow& row,
                  const std::optional<cost::Estimate>& first) const {
    PricedRow priced;
    if (!Add(row.shape, first, priced)) {
      return {};
    }
    for (const ir::KernelShape& shape : row.more) {
      if (!Add(shape, models_.Price(shape), priced)) {
        return {};
      }
    }
    priced.priced = true;
    priced.too_fast = row.time_us < kFasterThanPeak * priced.roofline_us;
    if (row.timing == Timing::kEventOp) {
      Observe(row, priced);
    }
    return priced;
  }

  const cost::KernelModels& models() const { return models_; }

 private:
  bool Add(const ir::KernelShape& shape,
           const std::optional<cost::Estimate>& estimate,
           PricedRow& priced) const {
    if (!estimate) {
      return false;
    }
    priced.p10_us += estimate->p10_us;
    priced.p50_us += estimate->p50_us;
    priced.p90_us += estimate->p90_us;
    priced.roofline_us += estimate->base.roofline_us;
    priced.formula_us += estimate->base.time_us;
    priced.lin2022_us += Lin2022Us(shape, models_.machine());
    return true;
  }

  // From kernels to what a clock around the call shows.
  void Observe(const KernelRow& row, PricedRow& priced) const {
    const auto launch = profile_.launches.find(rows_.ops[row.op]);
    if (launch == profile_.launches.end()) {
      return;
    }
    const cost::LaunchCost& cost = launch->second;
    const double place = PlaceOf(row, sizes_);
    priced.below_floor = row.time_us < kCountsFromFloors * cost.floor_us;
    for (double PricedRow::*time :
         {&PricedRow::p10_us, &PricedRow::p50_us, &PricedRow::p90_us,
          &PricedRow::roofline_us, &PricedRow::formula_us}) {
      priced.*time = cost.Observe(priced.*time, place);
    }
    if (priced.lin2022_us > 0) {
      priced.lin2022_us = cost.Observe(priced.lin2022_us, place);
    }
  }

  const KernelRows& rows_;
  std::vector<uint32_t> sizes_;
  cost::KernelModels models_;
  cost::Profile profile_;
};

Result<hw::Device> DeviceOf(const std::string& gpu,
                            const std::optional<hw::Device>& own) {
  if (own && own->name == gpu) {
    return *own;
  }
  return hw::FindDevice(gpu);
}

}  // namespace

Status CheckUnits(const KernelRows& rows, std::span<const PricedRow> priced) {
  for (size_t table = 0; table < rows.tables.size(); ++table) {
    size_t count = 0;
    size_t fast = 0;
    std::vector<double> ratios;
    for (size_t i = 0; i < rows.rows.size(); ++i) {
      if (rows.rows[i].table == table && priced[i].priced) {
        ++count;
        fast += priced[i].too_fast;
        ratios.push_back(rows.rows[i].time_us / priced[i].p50_us);
      }
    }
    if (count < kFewestRowsToRefuse) {
      continue;
    }
    if (fast * 2 > count) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{}: {} of {} rows are faster than the GPU's "
                              "peak; time_us must be in microseconds",
                              rows.tables[table], fast, count));
    }
    if (Quantile(ratios, 0.5) > kAbsurdlySlow) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{}: half of the rows are more than {} times "
                              "slower than predicted; time_us must be in "
                              "microseconds",
                              rows.tables[table], kAbsurdlySlow));
    }
  }
  return {};
}

Result<std::vector<PricedRow>> PriceRows(const KernelRows& rows,
                                         const cost::ProfileStore& store,
                                         const PricingOptions& options) {
  std::vector<PricedRow> priced(rows.rows.size());
  std::vector<Status> statuses(rows.gpus.size());
  const auto price_gpu = [&](size_t gpu) -> Status {
    ASSIGN_OR_RETURN(const hw::Device device,
                     DeviceOf(rows.gpus[gpu], options.own_device));
    ASSIGN_OR_RETURN(cost::KernelModels models,
                     cost::KernelModels::Load(device, store));
    const GpuPricer pricer(rows, static_cast<uint16_t>(gpu), std::move(models));
    std::vector<size_t> places;
    std::vector<ir::KernelShape> shapes;
    for (size_t i = 0; i < rows.rows.size(); ++i) {
      const KernelRow& row = rows.rows[i];
      if (row.gpu == gpu &&
          (!options.part || PartOf(row.shape) == *options.part)) {
        places.push_back(i);
        shapes.push_back(row.shape);
      }
    }
    std::vector<std::optional<cost::Estimate>> estimates(shapes.size());
    pricer.models().PriceAll(shapes, estimates);
    for (size_t i = 0; i < places.size(); ++i) {
      priced[places[i]] = pricer.Price(rows.rows[places[i]], estimates[i]);
    }
    return {};
  };
  ParallelFor(rows.gpus.size(), options.threads,
              [&](size_t gpu) { statuses[gpu] = price_gpu(gpu); });
  for (const Status& one : statuses) {
    RETURN_IF_ERROR(one);
  }
  return priced;
}

namespace {

std::string_view DTypeOf(const ir::KernelShape& shape) {
  return std::visit(
      []<typename S>(const S& typed) -> std::string_view {
        if constexpr (requires { typed.dtype; }) {
          return ir::Name(typed.dtype);
        } else {
          return "";
        }
      },
      shape);
}

// Errors of some rows as they come.
struct Collected {
  Errors ours;
  Errors roofline;
  Errors formula;
  Errors lin2022;
  size_t inside = 0;

  void Add(const KernelRow& row, const PricedRow& priced) {
    ours.Add(priced.p50_us, row.time_us);
    roofline.Add(priced.roofline_us, row.time_us);
    formula.Add(priced.formula_us, row.time_us);
    if (priced.lin2022_us > 0) {
      lin2022.Add(priced.lin2022_us, row.time_us);
    }
    inside += row.time_us >= priced.p10_us && row.time_us <= priced.p90_us;
  }

  AccuracyLine Line(std::string name) const {
    return {.name = std::move(name),
            .ours = ours.Summary(),
            .in_interval = ours.size() == 0
                               ? 0
                               : static_cast<double>(inside) /
                                     static_cast<double>(ours.size()),
            .roofline = roofline.Summary(),
            .formula = formula.Summary(),
            .lin2022 = lin2022.Summary()};
  }
};

// The parts of a group that are told apart.
std::vector<std::string> PartNames(const KernelRows& rows,
                                   const KernelRow& row) {
  const std::string& kind = rows.kinds[row.table];
  if (const auto* gemm = std::get_if<ir::Gemm>(&row.shape);
      gemm != nullptr && kind == "gemm") {
    std::vector<std::string> parts = {rows.ops[row.op]};
    if (gemm->m % 4 == 0 && gemm->n % 4 == 0 && gemm->k % 4 == 0) {
      parts.emplace_back("aligned");
    }
    return parts;
  }
  if (kind == "aten") {
    return {std::string(ir::FamilyName(row.shape))};
  }
  return {};
}

// A group and what it is made of.
class GroupBuilder {
 public:
  // False: the row is counted, but not judged.
  bool Add(const KernelRows& rows, const KernelRow& row,
           const PricedRow& priced) {
    if (!priced.priced) {
      ++group.unpriced;
      return false;
    }
    if (priced.too_fast) {
      ++group.flagged;
      return false;
    }
    if (priced.below_floor) {
      ++group.below_floor;
      return false;
    }
    all_.Add(row, priced);
    for (std::string& part : PartNames(rows, row)) {
      parts_[std::move(part)].Add(row, priced);
    }
    repeats_[ir::HashOf(row.shape)].push_back(row.time_us);
    return true;
  }

  AccuracyGroup Take() {
    group.all = all_.Line("all");
    for (const auto& [name, part] : parts_) {
      group.parts.push_back(part.Line(name));
    }
    group.noise = Noise();
    return std::move(group);
  }

  AccuracyGroup group;

 private:
  RepeatNoise Noise() const {
    RepeatNoise noise;
    Errors errors;
    size_t wide = 0;
    for (const auto& [hash, times] : repeats_) {
      if (times.size() < 2) {
        continue;
      }
      double mean = 0;
      for (const double time : times) {
        mean += std::log(time) / static_cast<double>(times.size());
      }
      for (const double time : times) {
        errors.Add(std::exp(mean), time);
      }
      const auto [low, high] = std::ranges::minmax(times);
      wide += high > 1.1 * low;
      ++noise.shapes;
    }
    if (noise.shapes > 0) {
      noise.gmae_pct = errors.Summary().gmae_pct;
      noise.over_10_pct =
          100.0 * static_cast<double>(wide) / static_cast<double>(noise.shapes);
    }
    return noise;
  }

  Collected all_;
  std::map<std::string, Collected> parts_;
  std::unordered_map<uint64_t, std::vector<double>> repeats_;
};

}  // namespace

Result<KernelAccuracy> EvaluateKernels(const KernelRows& rows,
                                       const cost::ProfileStore& store,
                                       const PricingOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<PricedRow> priced,
                   PriceRows(rows, store, options));
  RETURN_IF_ERROR(CheckUnits(rows, priced));
  using Key = std::tuple<std::string, std::string, std::string, std::string>;
  std::map<Key, GroupBuilder> groups;
  std::map<std::string, Collected> families;
  KernelAccuracy accuracy;
  for (size_t i = 0; i < rows.rows.size(); ++i) {
    const KernelRow& row = rows.rows[i];
    if (options.part && PartOf(row.shape) != *options.part) {
      continue;
    }
    const Key key(rows.kinds[row.table], rows.gpus[row.gpu], DTypeOf(row.shape),
                  Name(row.timing));
    GroupBuilder& builder = groups[key];
    std::tie(builder.group.op, builder.group.gpu, builder.group.dtype,
             builder.group.timing) = key;
    if (builder.Add(rows, row, priced[i])) {
      families[rows.kinds[row.table]].Add(row, priced[i]);
    }
    if (priced[i].too_fast) {
      accuracy.flagged.push_back({.file = rows.tables[row.table],
                                  .line = row.line,
                                  .why = "faster than the GPU's peak allows"});
    }
  }
  for (auto& [key, builder] : groups) {
    accuracy.groups.push_back(builder.Take());
  }
  for (const auto& [op, family] : families) {
    accuracy.families.push_back(family.Line(op));
  }
  return accuracy;
}

}  // namespace stepcast::learn

#include "learn/judge/priced_rows.h"

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/stats.h"
#include "cost/kernel_models.h"
#include "hw/device.h"
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
    if (!Add(first, priced)) {
      return {};
    }
    for (const ir::KernelShape& shape : row.more) {
      if (!Add(models_.Price(shape), priced)) {
        return {};
      }
    }
    priced.priced = true;
    priced.too_fast = row.time_us < kFasterThanPeak * priced.roofline_us;
    if (row.timing == Timing::kEventOp) {
      AddLaunch(row, priced);
    }
    return priced;
  }

  const cost::KernelModels& models() const { return models_; }

 private:
  static bool Add(const std::optional<cost::Estimate>& estimate,
                  PricedRow& priced) {
    if (!estimate) {
      return false;
    }
    priced.p10_us += estimate->p10_us;
    priced.p50_us += estimate->p50_us;
    priced.p90_us += estimate->p90_us;
    priced.roofline_us += estimate->base.roofline_us;
    priced.formula_us += estimate->base.time_us;
    return true;
  }

  void AddLaunch(const KernelRow& row, PricedRow& priced) const {
    const auto launch = profile_.launches.find(rows_.ops[row.op]);
    if (launch == profile_.launches.end()) {
      return;
    }
    const cost::LaunchCost& cost = launch->second;
    priced.below_floor = row.time_us < kCountsFromFloors * cost.floor_us;
    priced.lead_us = cost.LeadAt(PlaceOf(row, sizes_));
    priced.floor_us = cost.floor_us;
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
        ratios.push_back(rows.rows[i].time_us /
                         priced[i].Observed(priced[i].p50_us));
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

Result<PricedRows> PriceRows(const KernelRows& rows,
                             const cost::ProfileStore& store,
                             const PricingOptions& options) {
  PricedRows priced{.rows = std::vector<PricedRow>(rows.rows.size()),
                    .machines = std::vector<cost::Machine>(rows.gpus.size())};
  std::vector<Status> statuses(rows.gpus.size());
  const auto price_gpu = [&](size_t gpu) -> Status {
    ASSIGN_OR_RETURN(const hw::Device device,
                     DeviceOf(rows.gpus[gpu], options.own_device));
    ASSIGN_OR_RETURN(cost::KernelModels models,
                     cost::KernelModels::Load(device, store));
    priced.machines[gpu] = models.machine();
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
      priced.rows[places[i]] = pricer.Price(rows.rows[places[i]], estimates[i]);
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

}  // namespace stepcast::learn

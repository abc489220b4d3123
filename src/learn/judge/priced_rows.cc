#include "learn/judge/priced_rows.h"

#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/parallel.h"
#include "base/stats.h"
#include "cost/kernel_models.h"
#include "hw/device.h"
#include "ir/names.h"
#include "learn/fit/overheads/overhead_samples.h"
#include "learn/fit/training_rows.h"

namespace stepcast::learn {

// Measured rows for programs that try other models on them.

namespace {

// Of figures, and of times in microseconds.
constexpr int kDecimals = 6;

std::string_view NameOf(Part part) {
  switch (part) {
    case Part::kFit:
      return "fit";
    case Part::kValidation:
      return "validation";
    case Part::kTest:
      break;
  }
  return "test";
}

void WriteGpu(const std::string& name, const hw::Device& device,
              JsonWriter& json) {
  json.BeginObject();
  json.Key("name").String(name);
  json.Key("generation").String(hw::Name(device.generation));
  json.Key("sm_count").Double(device.sm_count);
  json.Key("fp32_lanes_per_sm").Double(device.fp32_lanes_per_sm);
  json.Key("clock_ghz").Fixed(device.clock_ghz, kDecimals);
  json.Key("fp32_tflops").Fixed(device.fp32_tflops, kDecimals);
  json.Key("l2_mb").Fixed(device.l2_mb, kDecimals);
  json.Key("dram_gbs").Fixed(device.dram_gbs, kDecimals);
  json.Key("copy_share").Fixed(device.copy_share, kDecimals);
  json.Key("pcie_gbs").Fixed(device.pcie_gbs, kDecimals);
  json.EndObject();
}

void WriteRow(const KernelRows& rows, const KernelRow& row,
              const PricedRow& priced, JsonWriter& json) {
  json.BeginObject();
  json.Key("kind").String(rows.kinds[row.table]);
  json.Key("op").String(rows.ops[row.op]);
  json.Key("gpu").String(rows.gpus[row.gpu]);
  json.Key("timing").String(Name(row.timing));
  json.Key("part").String(NameOf(PartOf(row.shape)));
  json.Key("shapes").BeginArray().String(ir::ShapeText(row.shape));
  for (const ir::KernelShape& shape : row.more) {
    json.String(ir::ShapeText(shape));
  }
  json.EndArray();
  json.Key("count").Double(row.count);
  json.Key("time_us").Fixed(row.time_us, kDecimals);
  json.Key("judged").Bool(priced.judged());
  if (priced.priced) {
    json.Key("lead_us").Fixed(priced.lead_us, kDecimals);
    json.Key("floor_us").Fixed(priced.floor_us, kDecimals);
    json.Key("roofline_us").Fixed(priced.roofline_us, kDecimals);
    json.Key("formula_us").Fixed(priced.formula_us, kDecimals);
    json.Key("p10_us").Fixed(priced.p10_us, kDecimals);
    json.Key("p50_us").Fixed(priced.p50_us, kDecimals);
    json.Key("p90_us").Fixed(priced.p90_us, kDecimals);
  }
  json.EndObject();
}

}  // namespace

std::string PricedRowsJson(const KernelRows& rows, const PricedRows& priced,
                           std::optional<Part> part) {
  JsonWriter json(JsonWriter::Style::kCompact);
  json.BeginObject();
  json.Key("gpus").BeginArray();
  for (size_t gpu = 0; gpu < rows.gpus.size(); ++gpu) {
    WriteGpu(rows.gpus[gpu], priced.machines[gpu].device, json);
  }
  json.EndArray();
  json.Key("rows").BeginArray();
  for (size_t i = 0; i < rows.rows.size(); ++i) {
    if (!part || PartOf(rows.rows[i].shape) == *part) {
      WriteRow(rows, rows.rows[i], priced.rows[i], json);
    }
  }
  json.EndArray();
  json.EndObject();
  return json.Take() + "\n";
}

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

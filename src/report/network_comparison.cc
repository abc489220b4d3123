#include "report/network_comparison.h"

#include <map>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/parallel.h"
#include "base/stats.h"
#include "base/text_table.h"
#include "cost/kernel_models.h"
#include "fit/lin2022_mlp.h"
#include "fit/plain_trees.h"
#include "fit/training_rows.h"
#include "hw/device.h"

namespace stepcast::report {
namespace {

using measurements::KernelRow;
using measurements::KernelRows;
using measurements::Part;

// Errors of the five on one op.
struct OpErrors {
  Errors roofline;
  Errors formula;
  Errors network;
  Errors trees;
  Errors ours;
};
using GpuErrors = std::map<std::string, OpErrors>;

using RowTimes = std::map<const KernelRow*, double>;

bool IsFp32Product(const KernelRows& rows, const KernelRow& row) {
  const auto* gemm = std::get_if<ir::Gemm>(&row.shape);
  return gemm != nullptr && gemm->dtype == ir::DType::kFp32 &&
         rows.kinds[row.table] == "gemm";
}

// Single products and batches, apart.
std::vector<fit::RowGroup> ProductsOf(const KernelRows& rows, uint16_t gpu) {
  std::vector<fit::RowGroup> groups = fit::GroupRows(rows, gpu);
  for (fit::RowGroup& group : groups) {
    std::erase_if(group.rows, [&](const KernelRow* row) {
      return !IsFp32Product(rows, *row);
    });
  }
  std::erase_if(groups,
                [](const fit::RowGroup& group) { return group.rows.empty(); });
  return groups;
}

// What trees without a formula say, for single products and batches apart.
Result<RowTimes> ByTrees(const KernelRows& rows,
                         std::span<const fit::RowGroup> groups,
                         const cost::KernelModels& models) {
  RowTimes times;
  for (const fit::RowGroup& group : groups) {
    const fit::TrainingInput input{.all = rows,
                                   .group = group,
                                   .machine = models.machine(),
                                   .profile = models.profile()};
    ASSIGN_OR_RETURN(const std::vector<double> kernel_us,
                     fit::PricePlainTrees(input, fit::MakeTrainingRows(input)));
    for (size_t i = 0; i < kernel_us.size(); ++i) {
      times[group.rows[i]] = kernel_us[i];
    }
  }
  return times;
}

Result<GpuErrors> CompareGpu(const KernelRows& rows, uint16_t gpu,
                             const cost::ProfileStore& store) {
  GpuErrors errors;
  const std::vector<fit::RowGroup> groups = ProductsOf(rows, gpu);
  if (groups.empty()) {
    return errors;
  }
  ASSIGN_OR_RETURN(const hw::Device device, hw::FindDevice(rows.gpus[gpu]));
  ASSIGN_OR_RETURN(const cost::KernelModels models,
                   cost::KernelModels::Load(device, store));
  // The papers have one network for both.
  fit::RowGroup all = groups.front();
  for (size_t i = 1; i < groups.size(); ++i) {
    all.rows.insert(all.rows.end(), groups[i].rows.begin(),
                    groups[i].rows.end());
  }
  const fit::TrainingRows training =
      fit::MakeTrainingRows({.all = rows,
                             .group = all,
                             .machine = models.machine(),
                             .profile = models.profile()});
  const auto network = fit::Lin2022Mlp::Train(training);
  if (!network) {
    return errors;
  }
  const std::vector<double> by_network = network->PredictObserved(training);
  ASSIGN_OR_RETURN(const RowTimes by_trees, ByTrees(rows, groups, models));
  for (size_t i = 0; i < training.rows.size(); ++i) {
    const fit::TrainingRow& row = training.rows[i];
    if (row.part != Part::kTest || !row.counts) {
      continue;
    }
    const auto estimate = models.Price(row.row->shape);
    const double time = row.row->time_us;
    OpErrors& op = errors[rows.ops[row.row->op]];
    op.roofline.Add(fit::ObservedUs(row, estimate->base.roofline_us), time);
    op.formula.Add(fit::ObservedUs(row, estimate->base.time_us), time);
    op.network.Add(by_network[i], time);
    op.trees.Add(fit::ObservedUs(row, by_trees.at(row.row)), time);
    op.ours.Add(fit::ObservedUs(row, estimate->p50_us), time);
  }
  return errors;
}

std::string ErrorCell(const Errors& errors) {
  const ErrorSummary summary = errors.Summary();
  return fmt::format("{:.1f}/{:.1f}", summary.gmae_pct, summary.mape_pct);
}

}  // namespace

Result<std::string> CompareWithNetwork(const KernelRows& rows,
                                       const cost::ProfileStore& store,
                                       size_t threads) {
  std::vector<Result<GpuErrors>> results(rows.gpus.size(), GpuErrors());
  ParallelFor(rows.gpus.size(), threads, [&](size_t gpu) {
    results[gpu] = CompareGpu(rows, static_cast<uint16_t>(gpu), store);
  });
  TextTable table({Align::kLeft, Align::kLeft, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight, Align::kRight});
  table.AddRow(
      {"gpu", "op", "n", "roofline", "formula", "network", "trees", "ours"});
  for (size_t gpu = 0; gpu < rows.gpus.size(); ++gpu) {
    ASSIGN_OR_RETURN(const GpuErrors errors, std::move(results[gpu]));
    for (const auto& [op, one] : errors) {
      table.AddRow({rows.gpus[gpu], op, fmt::format("{}", one.ours.size()),
                    ErrorCell(one.roofline), ErrorCell(one.formula),
                    ErrorCell(one.network), ErrorCell(one.trees),
                    ErrorCell(one.ours)});
    }
  }
  return table.ToString() +
         "\nGMAE%/MAPE% on the test part of FP32 products. network: the "
         "papers' recipe, one\nnetwork a GPU on the logarithms of the sizes. "
         "trees: on time over the roofline, from\nsizes, tiles and waves, "
         "without our formula. Both learn from the fit part.\n";
}

}  // namespace stepcast::report

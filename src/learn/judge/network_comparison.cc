#include "learn/judge/network_comparison.h"

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
#include "hw/device.h"
#include "learn/fit/lin2022_mlp.h"
#include "learn/fit/plain_trees.h"
#include "learn/fit/training_rows.h"

namespace stepcast::learn {
namespace {

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
std::vector<RowGroup> ProductsOf(const KernelRows& rows, uint16_t gpu) {
  std::vector<RowGroup> groups = GroupRows(rows, gpu);
  for (RowGroup& group : groups) {
    std::erase_if(group.rows, [&](const KernelRow* row) {
      return !IsFp32Product(rows, *row);
    });
  }
  std::erase_if(groups,
                [](const RowGroup& group) { return group.rows.empty(); });
  return groups;
}

// What trees without a formula say, for single products and batches apart.
Result<RowTimes> ByTrees(const KernelRows& rows,
                         std::span<const RowGroup> groups,
                         const cost::KernelModels& models) {
  RowTimes times;
  for (const RowGroup& group : groups) {
    const TrainingInput input{.all = rows,
                              .group = group,
                              .machine = models.machine(),
                              .profile = models.profile()};
    ASSIGN_OR_RETURN(const std::vector<double> kernel_us,
                     PricePlainTrees(input, MakeTrainingRows(input)));
    for (size_t i = 0; i < kernel_us.size(); ++i) {
      times[group.rows[i]] = kernel_us[i];
    }
  }
  return times;
}

Result<GpuErrors> CompareGpu(const KernelRows& rows, uint16_t gpu,
                             const cost::ProfileStore& store) {
  GpuErrors errors;
  const std::vector<RowGroup> groups = ProductsOf(rows, gpu);
  if (groups.empty()) {
    return errors;
  }
  ASSIGN_OR_RETURN(const hw::Device device, hw::FindDevice(rows.gpus[gpu]));
  ASSIGN_OR_RETURN(const cost::KernelModels models,
                   cost::KernelModels::Load(device, store));
  // The papers have one network for both.
  RowGroup all = groups.front();
  for (size_t i = 1; i < groups.size(); ++i) {
    all.rows.insert(all.rows.end(), groups[i].rows.begin(),
                    groups[i].rows.end());
  }
  const TrainingRows training = MakeTrainingRows({.all = rows,
                                                  .group = all,
                                                  .machine = models.machine(),
                                                  .profile = models.profile()});
  const auto network = Lin2022Mlp::Train(training);
  if (!network) {
    return errors;
  }
  const std::vector<double> by_network = network->PredictObserved(training);
  ASSIGN_OR_RETURN(const RowTimes by_trees, ByTrees(rows, groups, models));
  for (size_t i = 0; i < training.rows.size(); ++i) {
    const TrainingRow& row = training.rows[i];
    if (row.part != Part::kTest || !row.counts) {
      continue;
    }
    const auto estimate = models.Price(row.row->shape);
    const double time = row.row->time_us;
    OpErrors& op = errors[rows.ops[row.row->op]];
    op.roofline.Add(ObservedUs(row, estimate->base.roofline_us), time);
    op.formula.Add(ObservedUs(row, estimate->base.time_us), time);
    op.network.Add(by_network[i], time);
    op.trees.Add(ObservedUs(row, by_trees.at(row.row)), time);
    op.ours.Add(ObservedUs(row, estimate->p50_us), time);
  }
  return errors;
}

// The models that are compared, by their keys.
constexpr std::pair<std::string_view, Errors OpErrors::*> kCompared[] = {
    {"roofline", &OpErrors::roofline},
    {"formula", &OpErrors::formula},
    {"network", &OpErrors::network},
    {"trees", &OpErrors::trees},
    {"ours", &OpErrors::ours}};

view::Table ProductTable() {
  view::Table table{.key = "products",
                    .title = "FP32 products",
                    .columns = {{.key = "gpu", .label = "gpu"},
                                {.key = "op", .label = "op"},
                                {.key = "n", .label = "n"}}};
  for (const auto& [name, errors] : kCompared) {
    table.columns.push_back({.key = fmt::format("{}_gmae_pct", name),
                             .label = fmt::format("{} GMAE", name)});
    table.columns.push_back(
        {.key = fmt::format("{}_mape_pct", name), .label = "MAPE"});
  }
  return table;
}

}  // namespace

Result<view::Doc> NetworkComparisonDoc(const KernelRows& rows,
                                       const cost::ProfileStore& store,
                                       size_t threads) {
  std::vector<Result<GpuErrors>> results(rows.gpus.size(), GpuErrors());
  ParallelFor(rows.gpus.size(), threads, [&](size_t gpu) {
    results[gpu] = CompareGpu(rows, static_cast<uint16_t>(gpu), store);
  });
  view::Table table = ProductTable();
  int64_t judged = 0;
  for (size_t gpu = 0; gpu < rows.gpus.size(); ++gpu) {
    ASSIGN_OR_RETURN(const GpuErrors errors, std::move(results[gpu]));
    for (const auto& [op, one] : errors) {
      const auto n = static_cast<int64_t>(one.ours.size());
      judged += n;
      std::vector<view::Value> row = {rows.gpus[gpu], op, n};
      for (const auto& [name, of] : kCompared) {
        const ErrorSummary summary = (one.*of).Summary();
        row.emplace_back(view::Percent{summary.gmae_pct});
        row.emplace_back(view::Percent{summary.mape_pct});
      }
      table.rows.push_back(std::move(row));
    }
  }
  view::Doc doc;
  doc.title = "FP32 products beside the papers' network";
  doc.verdict =
      fmt::format("{} rows of the test part judged", WithThousands(judged));
  doc.csv = table;
  doc.blocks.emplace_back(std::move(table));
  doc.blocks.emplace_back(view::Text{
      .text =
          "network: the papers' recipe, one network a GPU on the logarithms "
          "of the sizes. trees: on time over the roofline, from sizes, "
          "tiles and waves, without our formula. Both learn from the fit "
          "part."});
  return doc;
}

}  // namespace stepcast::learn

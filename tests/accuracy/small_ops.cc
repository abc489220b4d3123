// Copies, concatenations and the operators of profiled models.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "learn/judge/kernel_accuracy.h"
#include "learn/measured/kernel_rows.h"
#include "tests/accuracy/anchors.h"

namespace stepcast::accuracy {
namespace {

constexpr std::array<std::string_view, 3> kOps = {"memcpy", "concat", "aten"};
constexpr double kSmallOpsLimitPct = 15;

// The errors of groups of rows as one: geometric means over all of them.
class Pool {
 public:
  void Add(const learn::AccuracyLine& line) {
    const auto n = static_cast<double>(line.ours.n);
    n_ += line.ours.n;
    ours_ += n * std::log(line.ours.gmae_pct);
    formula_ += n * std::log(line.formula.gmae_pct);
  }
  Comparison Take(std::string name) const {
    const auto n = static_cast<double>(std::max<size_t>(n_, 1));
    return {.name = std::move(name),
            .metric = Metric::kGmae,
            .limit_pct = kSmallOpsLimitPct,
            .n = n_,
            .value_pct = std::exp(ours_ / n),
            .formula_pct = std::exp(formula_ / n)};
  }

 private:
  size_t n_ = 0;
  double ours_ = 0;
  double formula_ = 0;
};

struct Part {
  std::string_view name;
  std::optional<learn::Part> part;
};
constexpr std::array kParts = {
    Part{.name = "test rows", .part = learn::Part::kTest},
    Part{.name = "all rows", .part = std::nullopt}};

}  // namespace

Result<std::vector<Comparison>> CompareSmallOps(const Setting& setting) {
  std::vector<Comparison> comparisons;
  for (const std::string_view op : kOps) {
    const std::array paths = {setting.data / "kernels" / op};
    ASSIGN_OR_RETURN(const learn::KernelRows rows,
                     learn::ReadKernelRows(paths));
    for (const Part& part : kParts) {
      ASSIGN_OR_RETURN(
          const learn::KernelAccuracy accuracy,
          learn::EvaluateKernels(rows, setting.store, {.part = part.part}));
      Pool pool;
      for (const learn::AccuracyGroup& group : accuracy.groups) {
        if (group.all.ours.n > 0) {
          pool.Add(group.all);
        }
      }
      Comparison comparison =
          pool.Take(fmt::format("rows of kernels/{}, {}", op, part.name));
      comparison.note =
          fmt::format("{} rows do not show the sizes of their kernels.",
                      rows.skipped.size());
      comparisons.push_back(std::move(comparison));
    }
  }
  return comparisons;
}

}  // namespace stepcast::accuracy

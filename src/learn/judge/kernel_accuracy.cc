#include "learn/judge/kernel_accuracy.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "ir/names.h"
#include "ir/shape_set.h"

namespace stepcast::learn {
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
  size_t inside = 0;

  void Add(const KernelRow& row, const PricedRow& priced) {
    ours.Add(priced.Observed(priced.p50_us), row.time_us);
    roofline.Add(priced.Observed(priced.roofline_us), row.time_us);
    formula.Add(priced.Observed(priced.formula_us), row.time_us);
    inside += row.time_us >= priced.Observed(priced.p10_us) &&
              row.time_us <= priced.Observed(priced.p90_us);
  }

  AccuracyLine Line(std::string name) const {
    return {.name = std::move(name),
            .ours = ours.Summary(),
            .in_interval = ours.size() == 0
                               ? 0
                               : static_cast<double>(inside) /
                                     static_cast<double>(ours.size()),
            .roofline = roofline.Summary(),
            .formula = formula.Summary()};
  }
};

// The parts of a group that are distinguished.
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
  ASSIGN_OR_RETURN(PricedRows all, PriceRows(rows, store, options));
  const std::vector<PricedRow>& priced = all.rows;
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
  accuracy.priced = std::move(all);
  return accuracy;
}

}  // namespace stepcast::learn

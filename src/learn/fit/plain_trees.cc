#include "learn/fit/plain_trees.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/check.h"
#include "base/stats.h"
#include "cost/forest.h"
#include "learn/fit/boost.h"

namespace stepcast::learn {
namespace {

// As many and as deep as the largest of our own corrections (fit_model.cc).
constexpr BoostOptions kOptions = {.rounds = 240, .depth = 7, .rate = 0.08};

// The same rows with the roofline in place of the formula. Its features hold
// for every kernel of the roofline's time, compute and memory bound alike.
TrainingRows OnRoofline(const TrainingInput& input,
                        const TrainingRows& training) {
  TrainingRows plain = training;
  plain.features.clear();
  cost::FeatureVector features;
  for (TrainingRow& row : plain.rows) {
    const ir::KernelShape& shape = row.row->shape;
    const double roofline =
        input.group.family->base(shape, input.machine).roofline_us;
    row.base_us = roofline;
    row.trust = 1;
    features.Clear();
    input.group.family->features(shape, input.machine,
                                 {.time_us = roofline,
                                  .compute_us = roofline,
                                  .memory_us = roofline,
                                  .roofline_us = roofline},
                                 features);
    plain.features.insert(plain.features.end(), features.values().begin(),
                          features.values().end());
  }
  return plain;
}

// log2 of measured kernels over the roofline: what most of them take.
double MedianExcess(const TrainingRows& rows) {
  std::vector<double> excess;
  for (const TrainingRow& row : rows.rows) {
    if (row.part == Part::kFit && row.counts) {
      const double kernel_us =
          std::max(std::exp(row.log_time) - row.lead_us, row.base_us);
      excess.push_back(std::log2(kernel_us / row.base_us));
    }
  }
  return excess.empty() ? 0 : Quantile(std::move(excess), 0.5);
}

}  // namespace

Result<std::vector<double>> PricePlainTrees(const TrainingInput& input,
                                            const TrainingRows& training) {
  CHECK(input.group.family->features != nullptr);
  const TrainingRows plain = OnRoofline(input, training);
  const double offset = MedianExcess(plain);
  ASSIGN_OR_RETURN(const std::vector<cost::Tree> trees,
                   Boost(plain, offset, kOptions));
  std::vector<float> sums(plain.rows.size());
  cost::Forest::Make(trees, plain.feature_count).Evaluate(plain.features, sums);
  std::vector<double> kernel_us(plain.rows.size());
  for (size_t i = 0; i < kernel_us.size(); ++i) {
    kernel_us[i] = plain.rows[i].base_us *
                   std::exp2(offset + static_cast<double>(sums[i]));
  }
  return kernel_us;
}

}  // namespace stepcast::learn

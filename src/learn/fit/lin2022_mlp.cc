#include "learn/fit/lin2022_mlp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <variant>

#include "base/check.h"

namespace stepcast::learn {
namespace {

float Ln(int64_t size) {
  return static_cast<float>(
      std::log(static_cast<double>(std::max<int64_t>(size, 1))));
}

float Raw(int64_t value) {
  return static_cast<float>(value);
}

// The papers have a network a direction; one with this input stands for both.
float IsBackward(ir::Pass pass) {
  return pass == ir::Pass::kForward ? 0.0F : 1.0F;
}

struct InputsOf {
  std::vector<float> operator()(const ir::Gemm& gemm) const {
    return {Ln(gemm.batch), Ln(gemm.m), Ln(gemm.n), Ln(gemm.k)};
  }
  // Dilation is not in our shapes.
  std::vector<float> operator()(const ir::Convolution& conv) const {
    const bool depthwise = conv.groups > 1 && conv.groups == conv.in_channels;
    return {Ln(conv.batch),         Ln(conv.height + 2 * conv.padding),
            Ln(conv.in_channels),   Ln(conv.out_channels),
            Raw(conv.stride),       Raw(conv.kernel_height),
            Raw(conv.kernel_width), depthwise ? 1.0F : 0.0F,
            IsBackward(conv.pass)};
  }
  std::vector<float> operator()(const ir::Normalization& norm) const {
    return {Ln(norm.rows), Ln(norm.columns), IsBackward(norm.pass)};
  }
  // The papers price softmax and elementwise kernels by a roofline; these are
  // the inputs their recipe would have.
  std::vector<float> operator()(const ir::Softmax& softmax) const {
    return {Ln(softmax.rows), Ln(softmax.columns), IsBackward(softmax.pass)};
  }
  std::vector<float> operator()(const ir::Elementwise& elementwise) const {
    return {Ln(elementwise.elements), Ln(elementwise.read.count),
            Ln(elementwise.written.count),
            Raw(static_cast<int64_t>(elementwise.arithmetic))};
  }
  template <typename Other>
  std::vector<float> operator()(const Other& /*shape*/) const {
    return {};
  }
};

// Rows as a network takes them.
struct NetworkTable {
  std::vector<float> inputs;
  std::vector<float> targets;
};

NetworkTable TableOf(const TrainingRows& rows, Part part) {
  NetworkTable table;
  for (const TrainingRow& row : rows.rows) {
    if (row.part == part) {
      const std::vector<float> inputs = Lin2022Inputs(row.row->shape);
      table.inputs.insert(table.inputs.end(), inputs.begin(), inputs.end());
      table.targets.push_back(static_cast<float>(row.log_time));
    }
  }
  return table;
}

}  // namespace

std::vector<float> Lin2022Inputs(const ir::KernelShape& shape) {
  return std::visit(InputsOf(), shape);
}

std::optional<Lin2022Mlp> Lin2022Mlp::Train(const TrainingRows& rows,
                                            const Lin2022Grid& grid) {
  const NetworkTable table = TableOf(rows, Part::kFit);
  if (table.inputs.empty()) {
    return std::nullopt;
  }
  const size_t row_count = table.targets.size();
  const double epochs =
      std::min(grid.most_visits / static_cast<double>(row_count),
               static_cast<double>(grid.most_epochs));
  MlpOptions options{.layers = grid.layers,
                     .epochs = std::max(static_cast<int>(epochs), 1),
                     .batch = grid.batch,
                     .seed = grid.seed};
  std::optional<Lin2022Mlp> best;
  double least = std::numeric_limits<double>::infinity();
  for (const int width : grid.widths) {
    for (const double rate : grid.rates) {
      options.width = width;
      options.rate = rate;
      Lin2022Mlp candidate(Mlp::Train(table.inputs, table.targets,
                                      table.inputs.size() / row_count, options),
                           options);
      const ErrorSummary errors = candidate.Errors(rows, Part::kValidation);
      if (errors.n > 0 && errors.gmae_pct < least) {
        least = errors.gmae_pct;
        best = std::move(candidate);
      }
    }
  }
  return best;
}

std::vector<double> Lin2022Mlp::PredictObserved(
    const TrainingRows& rows) const {
  std::vector<float> inputs;
  for (const TrainingRow& row : rows.rows) {
    const std::vector<float> part = Lin2022Inputs(row.row->shape);
    CHECK(part.size() == net_.input_count());
    inputs.insert(inputs.end(), part.begin(), part.end());
  }
  std::vector<float> logs(rows.rows.size());
  net_.Predict(inputs, logs);
  std::vector<double> times(logs.size());
  std::ranges::transform(logs, times.begin(), [](float log) {
    return std::exp(static_cast<double>(log));
  });
  return times;
}

ErrorSummary Lin2022Mlp::Errors(const TrainingRows& rows, Part part) const {
  const std::vector<double> predicted = PredictObserved(rows);
  stepcast::Errors errors;
  for (size_t i = 0; i < rows.rows.size(); ++i) {
    const TrainingRow& row = rows.rows[i];
    if (row.part == part && row.counts) {
      errors.Add(predicted[i], row.row->time_us);
    }
  }
  return errors.Summary();
}

}  // namespace stepcast::learn

#include "learn/fit/mlp.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/rng.h"
#include "learn/fit/matmul.h"

namespace stepcast::learn {
namespace {

// Rows that are evaluated at a time.
constexpr size_t kPredictBatch = 64;
// What biases start at: a little above 0, so that few ReLUs start dead.
constexpr float kFirstBias = 0.01F;

// 0 to 1, in steps of 2^-24.
float Uniform(Rng& rng) {
  return static_cast<float>(rng.Next() >> 40) * 0x1p-24F;
}

// Averages of units that have died fade towards 0 and would end below the
// normal numbers, where arithmetic is a hundred times slower. Numbers this far
// below Adam's epsilon of 1e-8 move nothing.
constexpr float kNegligible = 1e-15F;
float Flush(float value) {
  return std::abs(value) < kNegligible ? 0.0F : value;
}

}  // namespace

// The output is the first of kColumnStep columns, the rest of which stay 0.
Mlp::Mlp(size_t input_count, const MlpOptions& options) {
  CHECK(input_count > 0 && options.layers > 0);
  const auto width = static_cast<size_t>(options.width);
  size_t inputs = input_count;
  for (int i = 0; i <= options.layers; ++i) {
    const size_t outputs = i < options.layers ? width : kColumnStep;
    const size_t weights = parameters_.size();
    const size_t biases = weights + inputs * outputs;
    layers_.push_back({.inputs = inputs,
                       .outputs = outputs,
                       .weights = weights,
                       .biases = biases});
    parameters_.resize(biases + outputs);
    inputs = outputs;
  }
  Rng rng(options.seed);
  for (const Layer& layer : layers_) {
    const size_t used = &layer == &layers_.back() ? 1 : layer.outputs;
    const float bound =
        std::sqrt(6.0F / static_cast<float>(layer.inputs + used));
    for (size_t i = 0; i < layer.inputs; ++i) {
      for (size_t j = 0; j < used; ++j) {
        parameters_[layer.weights + i * layer.outputs + j] =
            bound * (2 * Uniform(rng) - 1);
      }
    }
    std::fill_n(parameters_.begin() + static_cast<ptrdiff_t>(layer.biases),
                used, kFirstBias);
  }
}

void Mlp::Forward(size_t rows,
                  std::vector<std::vector<float>>& activations) const {
  activations.resize(layers_.size() + 1);
  for (size_t i = 0; i < layers_.size(); ++i) {
    const Layer& layer = layers_[i];
    std::vector<float>& outputs = activations[i + 1];
    outputs.resize(rows * layer.outputs);
    for (size_t row = 0; row < rows; ++row) {
      std::copy_n(&parameters_[layer.biases], layer.outputs,
                  &outputs[row * layer.outputs]);
    }
    AddProduct({.data = activations[i].data(), .row_step = layer.inputs},
               {.data = &parameters_[layer.weights], .row_step = layer.outputs},
               {.rows = rows, .inner = layer.inputs, .columns = layer.outputs},
               outputs.data());
    if (i + 1 < layers_.size()) {
      for (float& output : outputs) {
        output = std::max(output, 0.0F);
      }
    }
  }
}

void Mlp::Predict(std::span<const float> inputs,
                  std::span<float> outputs) const {
  CHECK(inputs.size() == outputs.size() * input_count());
  std::vector<std::vector<float>> activations(1);
  for (size_t first = 0; first < outputs.size(); first += kPredictBatch) {
    const size_t rows = std::min(kPredictBatch, outputs.size() - first);
    const auto part =
        inputs.subspan(first * input_count(), rows * input_count());
    activations[0].assign(part.begin(), part.end());
    Forward(rows, activations);
    for (size_t row = 0; row < rows; ++row) {
      outputs[first + row] = activations.back()[row * kColumnStep];
    }
  }
}

// Backpropagation and Adam (Kingma and Ba, 2015).
class MlpTrainer {
 public:
  MlpTrainer(Mlp& net, const MlpOptions& options)
      : net_(net),
        options_(options),
        gradient_(net.parameters_.size()),
        mean_(net.parameters_.size()),
        square_(net.parameters_.size()) {}

  // One step down the gradient of the mean squared error of a batch, whose
  // inputs are in activations()[0].
  void Step(std::span<const float> targets, double rate) {
    net_.Forward(targets.size(), activations_);
    delta_.assign(activations_.back().size(), 0);
    const float scale = 2.0F / static_cast<float>(targets.size());
    for (size_t row = 0; row < targets.size(); ++row) {
      const size_t at = row * kColumnStep;
      delta_[at] = scale * (activations_.back()[at] - targets[row]);
    }
    std::ranges::fill(gradient_, 0.0F);
    for (size_t i = net_.layers_.size(); i-- > 0;) {
      BackPropagate(i, targets.size());
    }
    Adam(rate);
  }

  std::vector<std::vector<float>>& activations() { return activations_; }

 private:
  // From delta_ of a layer's outputs: the layer's gradient, and delta_ of its
  // inputs.
  void BackPropagate(size_t index, size_t rows) {
    const Mlp::Layer& layer = net_.layers_[index];
    const std::vector<float>& inputs = activations_[index];
    const MatrixView delta{.data = delta_.data(), .row_step = layer.outputs};
    const MatrixView input{.data = inputs.data(), .row_step = layer.inputs};
    AddProduct(Transposed(input), delta,
               {.rows = layer.inputs, .inner = rows, .columns = layer.outputs},
               &gradient_[layer.weights]);
    for (size_t row = 0; row < rows; ++row) {
      for (size_t j = 0; j < layer.outputs; ++j) {
        gradient_[layer.biases + j] += delta_[row * layer.outputs + j];
      }
    }
    if (index == 0) {
      return;
    }
    const MatrixView weights{.data = &net_.parameters_[layer.weights],
                             .row_step = layer.outputs};
    below_.assign(rows * layer.inputs, 0);
    AddProduct(delta, Transposed(weights),
               {.rows = rows, .inner = layer.outputs, .columns = layer.inputs},
               below_.data());
    for (size_t i = 0; i < below_.size(); ++i) {
      below_[i] = inputs[i] > 0 ? below_[i] : 0;
    }
    std::swap(below_, delta_);
  }

  void Adam(double rate) {
    constexpr double kMeanKeeps = 0.9;
    constexpr double kSquareKeeps = 0.999;
    constexpr float kLeast = 1e-8F;
    // A square of a thousandth less is still a normal number.
    constexpr float kLeastSquare = kNegligible * kNegligible;
    ++steps_;
    const double mean_share = 1 - std::pow(kMeanKeeps, steps_);
    const double square_share = 1 - std::pow(kSquareKeeps, steps_);
    const auto step = static_cast<float>(rate / mean_share);
    const auto square_scale = static_cast<float>(1 / square_share);
    const auto decay = static_cast<float>(options_.weight_decay);
    constexpr auto kMeanTakes = static_cast<float>(1 - kMeanKeeps);
    constexpr auto kSquareTakes = static_cast<float>(1 - kSquareKeeps);
    for (size_t i = 0; i < gradient_.size(); ++i) {
      const float gradient = Flush(gradient_[i] + decay * net_.parameters_[i]);
      mean_[i] = Flush(mean_[i] + kMeanTakes * (gradient - mean_[i]));
      const float square =
          square_[i] + kSquareTakes * (gradient * gradient - square_[i]);
      square_[i] = std::max(square, kLeastSquare);
      net_.parameters_[i] -=
          step * mean_[i] / (std::sqrt(square_scale * square_[i]) + kLeast);
    }
  }

  Mlp& net_;
  const MlpOptions& options_;
  std::vector<std::vector<float>> activations_;
  std::vector<float> delta_;
  std::vector<float> below_;
  std::vector<float> gradient_;
  std::vector<float> mean_;
  std::vector<float> square_;
  int steps_ = 0;
};

Mlp Mlp::Train(std::span<const float> inputs, std::span<const float> targets,
               size_t input_count, const MlpOptions& options) {
  CHECK(inputs.size() == targets.size() * input_count);
  CHECK(options.batch > 0 && options.width > 0);
  Mlp net(input_count, options);
  MlpTrainer trainer(net, options);
  trainer.activations().resize(1);
  Rng rng(options.seed + 1);
  std::vector<size_t> order(targets.size());
  std::iota(order.begin(), order.end(), size_t{0});
  const auto batch = static_cast<size_t>(options.batch);
  const double all =
      static_cast<double>(options.epochs) * static_cast<double>(targets.size());
  double seen = 0;
  std::vector<float> wanted;
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    for (size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[rng.Below(i)]);
    }
    for (size_t first = 0; first < order.size(); first += batch) {
      std::vector<float>& rows = trainer.activations()[0];
      rows.clear();
      wanted.clear();
      const size_t end = std::min(first + batch, order.size());
      for (size_t i = first; i < end; ++i) {
        const auto row = inputs.subspan(order[i] * input_count, input_count);
        rows.insert(rows.end(), row.begin(), row.end());
        wanted.push_back(targets[order[i]]);
      }
      const double left = (1 + std::cos(std::numbers::pi * seen / all)) / 2;
      trainer.Step(wanted, options.rate * left);
      seen += static_cast<double>(end - first);
    }
  }
  return net;
}

}  // namespace stepcast::learn

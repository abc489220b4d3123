// A small dense network with ReLUs, trained to least squares with Adam.
#ifndef STEPCAST_LEARN_FIT_MLP_H_
#define STEPCAST_LEARN_FIT_MLP_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace stepcast::learn {

struct MlpOptions {
  int width = 128;  // Of every hidden layer; a multiple of 16.
  int layers = 4;   // Hidden ones.
  int epochs = 60;
  int batch = 64;
  double rate = 1e-3;          // At the start; falls to 0 along half a cosine.
  double weight_decay = 1e-4;  // Added to the gradient, as in Adam with L2.
  uint64_t seed = 1;
};

class Mlp {
 public:
  /// Fits targets.size() rows of `input_count` inputs each. The same bytes
  /// every time; one thread.
  static Mlp Train(std::span<const float> inputs,
                   std::span<const float> targets, size_t input_count,
                   const MlpOptions& options);

  /// One output a row of inputs.
  void Predict(std::span<const float> inputs, std::span<float> outputs) const;

  size_t input_count() const { return layers_.front().inputs; }

  /// A dense layer: where its weights [inputs, outputs] and its biases are.
  struct Layer {
    size_t inputs = 0;
    size_t outputs = 0;
    size_t weights = 0;
    size_t biases = 0;
  };

 private:
  friend class MlpTrainer;

  Mlp(size_t input_count, const MlpOptions& options);

  /// Fills the activations of every layer from those of the inputs, which are
  /// the first.
  void Forward(size_t rows, std::vector<std::vector<float>>& activations) const;

  std::vector<Layer> layers_;
  std::vector<float> parameters_;
};

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_FIT_MLP_H_

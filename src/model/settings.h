// How a model is run: everything that is the user's choice and not the
// model's.
#ifndef STEPCAST_MODEL_SETTINGS_H_
#define STEPCAST_MODEL_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace stepcast::model {

enum class Mode { kTrain, kInfer };

enum class Precision {
  kFp32,
  kTf32,     // FP32 in memory, products on TF32 matrix units.
  kAmpFp16,  // FP32 parameters, FP16 products and activations, loss scaling.
  kFp16,     // All in FP16, tables too.
  kBf16,     // All in BF16, tables too.
};

/// What one captured graph holds; what is left is launched one by one.
enum class CudaGraphs { kOff, kForward, kForwardBackward, kAll };

/// PyTorch issues the same work through other ops from release to release.
enum class TorchRelease {
  kTorch15,   // 2020: as 1.8, with the cuBLAS of CUDA 10.
  kTorch18,   // 2021: backward nodes are ops themselves.
  kTorch111,  // 2022: nodes inside autograd::engine::evaluate_function.
  kTorch21,   // 2023: bias in the product, gradients set to none, foreach
              // updates.
};

/// What runs the model: a row of model/frameworks/implementations.h.
struct Implementation;
/// PyTorch in eager mode.
const Implementation* DefaultImplementation();

struct Settings {
  int64_t batch = 0;  // Samples per rank; 0: the model's usual.
  Mode mode = Mode::kTrain;
  Precision precision = Precision::kFp32;
  const Implementation* impl = DefaultImplementation();
  CudaGraphs cuda_graphs = CudaGraphs::kOff;
  bool pinned = true;  // The host's side of input copies is page-locked.
  /// The next batch is copied while this one is worked on. Not given: as the
  /// implementation does.
  std::optional<bool> loader_overlap{};
  /// MiB of gradients that DDP sums at once; 0: its own 25, of the first bucket
  /// 1.
  int64_t bucket_mib = 0;
  /// Of TorchRec: the ids of the next batch are distributed after this one's
  /// forward pass. Otherwise those of this batch, before it.
  bool prefetch_ids = true;
  std::optional<TorchRelease> torch{};  // Not given: as the implementation's.
  uint64_t seed = 1;                    // Of what is sampled.
};

/// "train", "amp-fp16", "fwd+bwd", "1.11": as on the command line.
std::string_view Name(Mode mode);
std::string_view Name(Precision precision);
std::string_view Name(CudaGraphs graphs);
std::string_view Name(TorchRelease release);

/// The error lists what is known.
Result<Mode> ParseMode(std::string_view text);
Result<Precision> ParsePrecision(std::string_view text);
Result<CudaGraphs> ParseCudaGraphs(std::string_view text);
Result<TorchRelease> ParseTorchRelease(std::string_view text);

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_SETTINGS_H_

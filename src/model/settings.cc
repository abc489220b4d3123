#include "model/settings.h"

#include <array>
#include <span>
#include <vector>

#include "base/text/nearest.h"

namespace stepcast::model {
namespace {

template <typename Value>
struct Named {
  Value value{};
  std::string_view name{};
};

constexpr Named<Mode> kModes[] = {{Mode::kTrain, "train"},
                                  {Mode::kInfer, "infer"}};
constexpr Named<Precision> kPrecisions[] = {{Precision::kFp32, "fp32"},
                                            {Precision::kTf32, "tf32"},
                                            {Precision::kAmpFp16, "amp-fp16"},
                                            {Precision::kFp16, "fp16"},
                                            {Precision::kBf16, "bf16"}};
constexpr Named<CudaGraphs> kCudaGraphs[] = {
    {CudaGraphs::kOff, "off"},
    {CudaGraphs::kForward, "fwd"},
    {CudaGraphs::kForwardBackward, "fwd+bwd"},
    {CudaGraphs::kAll, "all"}};
constexpr Named<TorchRelease> kReleases[] = {{TorchRelease::kTorch15, "1.5"},
                                             {TorchRelease::kTorch18, "1.8"},
                                             {TorchRelease::kTorch111, "1.11"},
                                             {TorchRelease::kTorch21, "2.1"}};

template <typename Value>
std::string_view NameIn(std::span<const Named<Value>> list, Value value) {
  for (const Named<Value>& named : list) {
    if (named.value == value) {
      return named.name;
    }
  }
  return "";
}

template <typename Value>
Result<Value> ParseIn(std::span<const Named<Value>> list, std::string_view what,
                      std::string_view text) {
  std::vector<std::string_view> names;
  for (const Named<Value>& named : list) {
    if (named.name == text) {
      return named.value;
    }
    names.push_back(named.name);
  }
  return Fail(ErrorCode::kInvalidInput, Unknown(what, text, names));
}

}  // namespace

std::string_view Name(Mode mode) {
  return NameIn<Mode>(kModes, mode);
}
std::string_view Name(Precision precision) {
  return NameIn<Precision>(kPrecisions, precision);
}
std::string_view Name(CudaGraphs graphs) {
  return NameIn<CudaGraphs>(kCudaGraphs, graphs);
}
std::string_view Name(TorchRelease release) {
  return NameIn<TorchRelease>(kReleases, release);
}

Result<Mode> ParseMode(std::string_view text) {
  return ParseIn<Mode>(kModes, "mode", text);
}
Result<Precision> ParsePrecision(std::string_view text) {
  return ParseIn<Precision>(kPrecisions, "precision", text);
}
Result<CudaGraphs> ParseCudaGraphs(std::string_view text) {
  return ParseIn<CudaGraphs>(kCudaGraphs, "CUDA graphs", text);
}
Result<TorchRelease> ParseTorchRelease(std::string_view text) {
  return ParseIn<TorchRelease>(kReleases, "PyTorch release", text);
}

}  // namespace stepcast::model

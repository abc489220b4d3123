#include "hw/gpu_files.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/catalog.h"
#include "hw/gpu_names.h"

namespace stepcast {

std::span<const EmbeddedFile> GpuFileTexts();

namespace hw {
namespace {

const Catalog<Gpu>& Gpus() {
  static const Catalog<Gpu> gpus({.what = "GPU",
                                  .files = GpuFileTexts(),
                                  .same = &SameGpu,
                                  .near = &NearGpus},
                                 &ParseGpu);
  return gpus;
}

bool IsBuiltIn(const std::string& name) {
  return std::ranges::binary_search(Gpus().names(), name);
}

Status CheckReferences(const Gpu& gpu, std::string_view source) {
  if (!gpu.like.empty() && !IsBuiltIn(gpu.like)) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{}: 'like' names '{}', which is no GPU we know",
                            source, gpu.like));
  }
  for (const std::string& name : gpu.borrow) {
    if (!IsBuiltIn(name)) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{}: 'borrow' names '{}', which is no GPU we "
                              "know",
                              source, name));
    }
  }
  return {};
}

// "name@1297MHz" -> name and clock.
struct Locked {
  std::string_view name;
  std::optional<double> clock_mhz{};
};

Result<Locked> SplitClock(std::string_view text) {
  const size_t at = text.rfind('@');
  if (at == std::string_view::npos) {
    return Locked{.name = text};
  }
  std::string_view clock = text.substr(at + 1);
  for (const std::string_view unit : {"MHz", "mhz"}) {
    if (clock.ends_with(unit)) {
      clock.remove_suffix(unit.size());
    }
  }
  double mhz = 0;
  const auto [end, error] =
      std::from_chars(clock.data(), clock.data() + clock.size(), mhz);
  if (error != std::errc() || end != clock.data() + clock.size() ||
      !(mhz >= 100 && mhz <= 10000)) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("'{}' is no clock; expected a GPU and MHz, as in "
                            "v100-sxm-16gb@1297MHz",
                            text));
  }
  return Locked{.name = text.substr(0, at), .clock_mhz = mhz};
}

}  // namespace

Result<std::vector<Gpu>> LoadGpus() {
  std::vector<Gpu> gpus;
  ASSIGN_OR_RETURN(const auto all, Gpus().All());
  for (const Gpu* gpu : all) {
    RETURN_IF_ERROR(CheckReferences(*gpu, gpu->name));
    gpus.push_back(*gpu);
  }
  return gpus;
}

const std::vector<std::string>& GpuNames() {
  return Gpus().names();
}

Result<Device> FindDevice(std::string_view text) {
  ASSIGN_OR_RETURN(const Locked locked, SplitClock(text));
  ASSIGN_OR_RETURN(const Gpu* gpu, Gpus().Find(locked.name));
  RETURN_IF_ERROR(CheckReferences(*gpu, locked.name));
  const Gpu* like = nullptr;
  if (!gpu->like.empty()) {
    ASSIGN_OR_RETURN(like, Gpus().Find(gpu->like));
  }
  Device device = MakeDevice(*gpu, like);
  if (locked.clock_mhz) {
    device = WithClock(std::move(device), *locked.clock_mhz);
  }
  return device;
}

}  // namespace hw
}  // namespace stepcast

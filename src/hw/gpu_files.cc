#include "hw/gpu_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "base/embedded.h"
#include "base/file.h"
#include "hw/gpu_names.h"

namespace stepcast {

std::span<const EmbeddedFile> GpuFileTexts();

namespace hw {
namespace {

const Gpu* Find(std::span<const Gpu> gpus, std::string_view name) {
  const auto found = std::ranges::find(gpus, name, &Gpu::name);
  return found == gpus.end() ? nullptr : &*found;
}

Status CheckReferences(std::span<const Gpu> gpus, const Gpu& gpu,
                       std::string_view source) {
  if (!gpu.like.empty() && Find(gpus, gpu.like) == nullptr) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{}: 'like' names '{}', which is no GPU we know",
                            source, gpu.like));
  }
  for (const std::string& name : gpu.borrow) {
    if (Find(gpus, name) == nullptr) {
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
  for (const EmbeddedFile& file : GpuFileTexts()) {
    ASSIGN_OR_RETURN(Gpu gpu, ParseGpu(file.text, file.name));
    gpus.push_back(std::move(gpu));
  }
  std::ranges::sort(gpus, {}, &Gpu::name);
  for (const Gpu& gpu : gpus) {
    RETURN_IF_ERROR(CheckReferences(gpus, gpu, gpu.name));
  }
  return gpus;
}

Result<std::vector<std::string>> GpuNames() {
  ASSIGN_OR_RETURN(const std::vector<Gpu> gpus, LoadGpus());
  std::vector<std::string> names;
  for (const Gpu& gpu : gpus) {
    names.push_back(gpu.name);
  }
  return names;
}

Result<Device> FindDevice(std::string_view text) {
  ASSIGN_OR_RETURN(const Locked locked, SplitClock(text));
  ASSIGN_OR_RETURN(const std::vector<Gpu> gpus, LoadGpus());
  Gpu gpu;
  if (locked.name.ends_with(".toml")) {
    const std::filesystem::path path(locked.name);
    ASSIGN_OR_RETURN(const std::string content, ReadFile(path));
    ASSIGN_OR_RETURN(gpu, ParseGpu(content, path.string()));
    RETURN_IF_ERROR(CheckReferences(gpus, gpu, path.string()));
  } else {
    std::vector<std::string> names;
    for (const Gpu& other : gpus) {
      names.push_back(other.name);
    }
    const auto same = SameGpu(locked.name, names);
    const Gpu* known = Find(gpus, same ? *same : locked.name);
    if (known == nullptr) {
      return Fail(ErrorCode::kNotFound,
                  fmt::format("unknown GPU '{}'; expected a .toml file or one "
                              "of: {}",
                              locked.name, fmt::join(names, ", ")));
    }
    gpu = *known;
  }
  Device device =
      MakeDevice(gpu, gpu.like.empty() ? nullptr : Find(gpus, gpu.like));
  if (locked.clock_mhz) {
    device = WithClock(std::move(device), *locked.clock_mhz);
  }
  return device;
}

}  // namespace hw
}  // namespace stepcast

#include "hw/gpu_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/embedded.h"
#include "base/file.h"
#include "base/nearest.h"
#include "hw/gpu_names.h"

namespace stepcast {

std::span<const EmbeddedFile> GpuFileTexts();

namespace hw {
namespace {

const EmbeddedFile* FindFile(std::string_view name) {
  const auto files = GpuFileTexts();
  const auto found = std::ranges::find(files, name, StemOf);
  return found == files.end() ? nullptr : &*found;
}

// A file is called as its GPU.
Result<Gpu> ParseFile(const EmbeddedFile& file) {
  ASSIGN_OR_RETURN(Gpu gpu, ParseGpu(file.text, file.name));
  CHECK(gpu.name == StemOf(file)) << file.name;
  return gpu;
}

Status CheckReferences(const Gpu& gpu, std::string_view source) {
  if (!gpu.like.empty() && FindFile(gpu.like) == nullptr) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{}: 'like' names '{}', which is no GPU we know",
                            source, gpu.like));
  }
  for (const std::string& name : gpu.borrow) {
    if (FindFile(name) == nullptr) {
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

std::vector<std::string> BuiltInNames() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : GpuFileTexts()) {
    names.emplace_back(StemOf(file));
  }
  std::ranges::sort(names);
  return names;
}

// By its name, or by what else it is called.
Result<const EmbeddedFile*> FindBuiltIn(std::string_view name) {
  if (const EmbeddedFile* file = FindFile(name)) {
    return file;
  }
  const std::vector<std::string> names = BuiltInNames();
  if (const auto same = SameGpu(name, names)) {
    return FindFile(*same);
  }
  const std::vector<std::string> near = NearGpus(name, names);
  const std::vector<std::string_view> views(near.begin(), near.end());
  return Fail(
      ErrorCode::kNotFound,
      near.empty()
          ? fmt::format("unknown GPU '{}'; expected a .toml file or one of: {}",
                        name, fmt::join(names, ", "))
          : fmt::format("unknown GPU '{}'; did you mean {}?", name,
                        OneOf(views)));
}

}  // namespace

Result<std::vector<Gpu>> LoadGpus() {
  std::vector<Gpu> gpus;
  for (const EmbeddedFile& file : GpuFileTexts()) {
    ASSIGN_OR_RETURN(Gpu gpu, ParseFile(file));
    RETURN_IF_ERROR(CheckReferences(gpu, gpu.name));
    gpus.push_back(std::move(gpu));
  }
  std::ranges::sort(gpus, {}, &Gpu::name);
  return gpus;
}

Result<std::vector<std::string>> GpuNames() {
  return BuiltInNames();
}

Result<Device> FindDevice(std::string_view text) {
  ASSIGN_OR_RETURN(const Locked locked, SplitClock(text));
  Gpu gpu;
  if (locked.name.ends_with(".toml")) {
    const std::filesystem::path path(locked.name);
    ASSIGN_OR_RETURN(const std::string content, ReadFile(path));
    ASSIGN_OR_RETURN(gpu, ParseGpu(content, path.string()));
    RETURN_IF_ERROR(CheckReferences(gpu, path.string()));
  } else {
    ASSIGN_OR_RETURN(const EmbeddedFile* file, FindBuiltIn(locked.name));
    ASSIGN_OR_RETURN(gpu, ParseFile(*file));
  }
  std::optional<Gpu> like;
  if (!gpu.like.empty()) {
    ASSIGN_OR_RETURN(like, ParseFile(*FindFile(gpu.like)));
  }
  Device device = MakeDevice(gpu, like ? &*like : nullptr);
  if (locked.clock_mhz) {
    device = WithClock(std::move(device), *locked.clock_mhz);
  }
  return device;
}

}  // namespace hw
}  // namespace stepcast

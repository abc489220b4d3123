#include "hw/gpu_files.h"

#include <algorithm>
#include <charconv>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/catalog.h"
#include "hw/gpu_names.h"
#include "hw/set_figures.h"

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

Result<double> ParseClock(std::string_view clock, std::string_view text) {
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
                            "v100-sxm-16gb@1297MHz, or figures, as in "
                            "v100-sxm-16gb@dram_gbs=1200",
                            text));
  }
  return mhz;
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
  const size_t at = std::min(text.rfind('@'), text.size());
  const std::string_view name = text.substr(0, at);
  ASSIGN_OR_RETURN(const Gpu* published, Gpus().Find(name));
  RETURN_IF_ERROR(CheckReferences(*published, name));
  const Gpu* like = nullptr;
  if (!published->like.empty()) {
    ASSIGN_OR_RETURN(like, Gpus().Find(published->like));
  }
  Gpu gpu = *published;
  bool has_figures = false;
  std::optional<double> clock_mhz;
  size_t comma = at;
  while (comma < text.size()) {
    const size_t begin = comma + 1;
    comma = std::min(text.find(',', begin), text.size());
    const std::string_view part = text.substr(begin, comma - begin);
    if (part.find('=') == std::string_view::npos) {
      ASSIGN_OR_RETURN(clock_mhz, ParseClock(part, text));
      continue;
    }
    RETURN_IF_ERROR(SetFigure(part, "GPU", FigureFields(), gpu));
    has_figures = true;
  }
  const auto make = [&](const Gpu& one) {
    Device device = MakeDevice(one, like);
    return clock_mhz ? WithClock(std::move(device), *clock_mhz) : device;
  };
  Device device = make(gpu);
  if (has_figures) {
    device.name = fmt::format("{}{}", gpu.name, text.substr(at));
    device.published = std::make_shared<const Device>(make(*published));
  }
  return device;
}

}  // namespace hw
}  // namespace stepcast

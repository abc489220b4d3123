#include "hw/platform_files.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/embedded.h"
#include "base/file.h"
#include "base/nearest.h"
#include "hw/gpu_files.h"

namespace stepcast {

std::span<const EmbeddedFile> PlatformFileTexts();

namespace hw {

Result<std::vector<Platform>> LoadPlatforms() {
  std::vector<Platform> platforms;
  for (const EmbeddedFile& file : PlatformFileTexts()) {
    ASSIGN_OR_RETURN(Platform platform, ParsePlatform(file.text, file.name));
    platforms.push_back(std::move(platform));
  }
  std::ranges::sort(platforms, {}, &Platform::name);
  return platforms;
}

namespace {

// A built-in file is called as its platform.
std::string_view NameOf(const EmbeddedFile& file) {
  const std::string_view name = file.name.substr(file.name.rfind('/') + 1);
  return name.substr(0, name.rfind('.'));
}

Result<Platform> FindNamed(std::string_view text) {
  if (text.ends_with(".toml")) {
    const std::filesystem::path path(text);
    ASSIGN_OR_RETURN(const std::string content, ReadFile(path));
    return ParsePlatform(content, path.string());
  }
  std::vector<std::string_view> names;
  for (const EmbeddedFile& file : PlatformFileTexts()) {
    if (NameOf(file) == text) {
      return ParsePlatform(file.text, file.name);
    }
    names.push_back(NameOf(file));
  }
  std::ranges::sort(names);
  const auto nearest = Nearest(text, names);
  return Fail(ErrorCode::kNotFound,
              nearest ? fmt::format("unknown platform '{}'; did you mean {}?",
                                    text, *nearest)
                      : fmt::format("unknown platform '{}'; expected a .toml "
                                    "file or one of: {}",
                                    text, fmt::join(names, ", ")));
}

// "host_memory_gbs=150": the figure as if the file said so.
Status SetFigure(std::string_view text, Platform& platform) {
  const size_t sign = text.find('=');
  const std::string_view key = text.substr(0, sign);
  std::vector<std::string_view> keys;
  for (const PlatformField& field : PlatformFields()) {
    keys.push_back(field.key);
    if (field.key != key || sign == std::string_view::npos) {
      continue;
    }
    const std::string_view number = text.substr(sign + 1);
    double value = 0;
    const auto [end, error] =
        std::from_chars(number.data(), number.data() + number.size(), value);
    if (error != std::errc() || end != number.data() + number.size() ||
        !(value >= field.low && value <= field.high)) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{} is '{}'; expected {} to {}{}{}", key, number,
                              field.low, field.high,
                              field.unit.empty() ? "" : " ", field.unit));
    }
    platform.*field.member = Figure{.value = value, .source = "as asked for"};
    return {};
  }
  return Fail(
      ErrorCode::kInvalidInput,
      sign == std::string_view::npos
          ? fmt::format("'{}' behind a platform; expected KEY=VALUE", text)
          : Unknown("figure of a platform", key, keys));
}

}  // namespace

Result<Platform> FindPlatform(std::string_view text) {
  const size_t at = text.find('@');
  ASSIGN_OR_RETURN(Platform platform, FindNamed(text.substr(0, at)));
  while (at != std::string_view::npos && !text.empty()) {
    text.remove_prefix(text.find_first_of("@,") + 1);
    const size_t comma = text.find(',');
    RETURN_IF_ERROR(SetFigure(text.substr(0, comma), platform));
    text = comma == std::string_view::npos ? std::string_view()
                                           : text.substr(comma);
  }
  return platform;
}

Result<std::vector<Platform>> FindPlatforms(
    std::span<const std::string> texts) {
  std::vector<Platform> platforms;
  for (const std::string& text : texts) {
    ASSIGN_OR_RETURN(Platform platform, FindPlatform(text));
    platforms.push_back(std::move(platform));
  }
  return platforms;
}

Result<Cluster> FindCluster(std::string_view text, int gpus, int nodes) {
  ASSIGN_OR_RETURN(const Platform platform, FindPlatform(text));
  ASSIGN_OR_RETURN(const Device device, FindDevice(platform.gpu));
  const int all = nodes * static_cast<int>(platform.gpus_per_node->value);
  return MakeCluster(platform, device, gpus == 0 ? all : gpus, nodes);
}

}  // namespace hw
}  // namespace stepcast

#include "hw/platform_files.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/embedded.h"
#include "base/file.h"
#include "base/nearest.h"
#include "hw/gpu_files.h"
#include "hw/set_figures.h"

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

}  // namespace

Result<Platform> FindPlatform(std::string_view text) {
  ASSIGN_OR_RETURN(Platform platform, FindNamed(NameBeforeFigures(text)));
  RETURN_IF_ERROR(SetFigures(text, "platform", PlatformFields(), platform));
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

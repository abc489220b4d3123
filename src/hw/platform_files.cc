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

Result<Platform> FindPlatform(std::string_view text) {
  if (text.ends_with(".toml")) {
    const std::filesystem::path path(text);
    ASSIGN_OR_RETURN(const std::string content, ReadFile(path));
    return ParsePlatform(content, path.string());
  }
  ASSIGN_OR_RETURN(const std::vector<Platform> platforms, LoadPlatforms());
  std::vector<std::string_view> names;
  for (const Platform& platform : platforms) {
    if (platform.name == text) {
      return platform;
    }
    names.push_back(platform.name);
  }
  const auto nearest = Nearest(text, names);
  return Fail(ErrorCode::kNotFound,
              nearest ? fmt::format("unknown platform '{}'; did you mean {}?",
                                    text, *nearest)
                      : fmt::format("unknown platform '{}'; expected a .toml "
                                    "file or one of: {}",
                                    text, fmt::join(names, ", ")));
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

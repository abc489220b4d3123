#include "hw/platform_files.h"

#include <span>
#include <string>
#include <utility>

#include "base/catalog.h"
#include "hw/gpu_files.h"
#include "hw/set_figures.h"

namespace stepcast {

std::span<const EmbeddedFile> PlatformFileTexts();

namespace hw {

namespace {

const Catalog<Platform>& Platforms() {
  static const Catalog<Platform> platforms(
      {.what = "platform", .files = PlatformFileTexts()}, &ParsePlatform);
  return platforms;
}

}  // namespace

Result<std::vector<Platform>> LoadPlatforms() {
  ASSIGN_OR_RETURN(const auto all, Platforms().All());
  std::vector<Platform> platforms;
  for (const Platform* platform : all) {
    platforms.push_back(*platform);
  }
  return platforms;
}

Result<Platform> FindPlatform(std::string_view text) {
  ASSIGN_OR_RETURN(const Platform* found,
                   Platforms().Find(NameBeforeFigures(text)));
  Platform platform = *found;
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

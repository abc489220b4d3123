#include "hw/platform_files.h"

#include <memory>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

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

Result<std::string> GpuOn(std::string_view gpu, std::string_view platform) {
  if (platform.find('@') != std::string_view::npos) {
    ASSIGN_OR_RETURN(const Platform found, FindPlatform(platform));
    if (found.pcie_gbs && found.pcie_gbs->source == kAskedFor) {
      return fmt::format("{}{}pcie_gbs={}", gpu,
                         gpu.find('@') == std::string_view::npos ? '@' : ',',
                         found.pcie_gbs->value);
    }
  }
  return std::string(gpu);
}

Result<Cluster> FindCluster(std::string_view text, int gpus, int nodes) {
  ASSIGN_OR_RETURN(const Platform platform, FindPlatform(text));
  ASSIGN_OR_RETURN(const Device device, FindDevice(platform.gpu));
  // One node stands for its domain.
  const int all = nodes == 1
                      ? DomainGpus(platform)
                      : nodes * static_cast<int>(platform.gpus_per_node->value);
  const int used = gpus == 0 ? all : gpus;
  ASSIGN_OR_RETURN(Cluster cluster, MakeCluster(platform, device, used, nodes));
  if (const std::string_view name = NameBeforeFigures(text); name != text) {
    ASSIGN_OR_RETURN(const Platform* plain, Platforms().Find(name));
    // Figures may make of it what the plain one cannot be.
    if (auto published = MakeCluster(*plain, device, used, nodes)) {
      cluster.published =
          std::make_shared<const Cluster>(*std::move(published));
    }
  }
  return cluster;
}

}  // namespace hw
}  // namespace stepcast

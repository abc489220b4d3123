#include "api/profile_device.h"

#include <system_error>

#include "hw/device.h"

namespace stepcast::api {

std::optional<std::filesystem::path> FindIn(
    std::span<const std::filesystem::path> directories, std::string_view name) {
  for (const std::filesystem::path& directory : directories) {
    std::filesystem::path path = directory / name;
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) {
      return path;
    }
  }
  return std::nullopt;
}

Result<std::optional<hw::Device>> FindOwnDevice(
    std::span<const std::filesystem::path> directories) {
  const auto file = FindIn(directories, kDeviceFile);
  if (!file) {
    return std::nullopt;
  }
  ASSIGN_OR_RETURN(hw::Device device, hw::FindDevice(file->string()));
  return device;
}

Result<std::string> GpuOrProfiles(
    const std::string& gpu, std::span<const std::filesystem::path> profiles) {
  const auto file = FindIn(profiles, kDeviceFile);
  if (!file) {
    return gpu;
  }
  ASSIGN_OR_RETURN(const hw::Device device, hw::FindDevice(file->string()));
  return gpu.empty() || gpu == device.name ? file->string() : gpu;
}

std::string OverheadsOrProfiles(
    const std::string& overheads, const std::string& gpu,
    std::span<const std::filesystem::path> profiles) {
  const auto device = FindIn(profiles, kDeviceFile);
  const auto file = FindIn(profiles, kOverheadsFile);
  const bool own = device && file && gpu == device->string();
  return overheads.empty() && own ? file->string() : overheads;
}

}  // namespace stepcast::api

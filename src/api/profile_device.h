// The device that a directory describes: of measurements, or of a profile that
// was fitted to them.
#ifndef STEPCAST_API_PROFILE_DEVICE_H_
#define STEPCAST_API_PROFILE_DEVICE_H_

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "hw/device.h"

namespace stepcast::api {

/// The file that describes a device, and that of what its host takes.
inline constexpr std::string_view kDeviceFile = "device.toml";
inline constexpr std::string_view kOverheadsFile = "overheads.toml";

/// The first of the directories' files of this name; nothing if none has one.
std::optional<std::filesystem::path> FindIn(
    std::span<const std::filesystem::path> directories, std::string_view name);

/// The device that the first of the directories with one describes; nothing if
/// none does.
Result<std::optional<hw::Device>> FindOwnDevice(
    std::span<const std::filesystem::path> directories);

/// What --gpu means with these profiles: their device where none is named or
/// theirs is, else what was named.
Result<std::string> GpuOrProfiles(
    const std::string& gpu, std::span<const std::filesystem::path> profiles);

/// What --overheads means, likewise: the profiles' own for the profiles' device
/// where none is named.
std::string OverheadsOrProfiles(
    const std::string& overheads, const std::string& gpu,
    std::span<const std::filesystem::path> profiles);

}  // namespace stepcast::api

#endif  // STEPCAST_API_PROFILE_DEVICE_H_

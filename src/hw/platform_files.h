// The platforms that are built in, and platforms from files of the user.
#ifndef STEPCAST_HW_PLATFORM_FILES_H_
#define STEPCAST_HW_PLATFORM_FILES_H_

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "hw/cluster.h"
#include "hw/platform.h"

namespace stepcast::hw {

/// Every built-in platform, by name.
Result<std::vector<Platform>> LoadPlatforms();

/// A platform by what the user calls it: a built-in name ("dgx-a100") or a path
/// ending in .toml. An unknown name lists the known ones. Figures behind it
/// replace its own: "zion@host_memory_gbs=500,nic_gbs=6".
Result<Platform> FindPlatform(std::string_view text);

/// Several, in the order given.
Result<std::vector<Platform>> FindPlatforms(std::span<const std::string> texts);

/// The GPU as a platform connects it: "h100-sxm-80gb@pcie_gbs=30" where that
/// rate of the platform is asked for, else as it is.
Result<std::string> GpuOn(std::string_view gpu, std::string_view platform);

/// The same at work, with the GPU that it names. 0 GPUs: all of every node.
Result<Cluster> FindCluster(std::string_view text, int gpus, int nodes);

}  // namespace stepcast::hw

#endif  // STEPCAST_HW_PLATFORM_FILES_H_

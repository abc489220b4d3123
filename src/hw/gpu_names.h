// Which built-in GPU is meant by what drivers, data sheets and people call it.
#ifndef STEPCAST_HW_GPU_NAMES_H_
#define STEPCAST_HW_GPU_NAMES_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast::hw {

/// The one of `names` that is the same device as `text`, which is spelt in
/// another way: "v100-sxm2-16gb" for "v100-sxm-16gb".
std::optional<std::string> SameGpu(std::string_view text,
                                   std::span<const std::string> names);

/// The one of `names` that comes closest to `text` and has the same chip: a
/// driver's "Tesla V100-DGXS-32GB" is taken for "v100-pcie-32gb". Nothing if
/// none has.
std::optional<std::string> NearestGpu(std::string_view text,
                                      std::span<const std::string> names);

/// Those of `names` that someone who writes `text` may mean: all with the same
/// chip ("v100"), else the one with the fewest changed letters, else none.
std::vector<std::string> NearGpus(std::string_view text,
                                  std::span<const std::string> names);

}  // namespace stepcast::hw

#endif  // STEPCAST_HW_GPU_NAMES_H_

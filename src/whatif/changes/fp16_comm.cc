// fp16-comm: collectives move FP32 numbers as FP16.
#include <algorithm>
#include <optional>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "hw/gpu_files.h"
#include "hw/platform_files.h"
#include "whatif/changes/all.h"

namespace stepcast::whatif {
namespace {

// The one that was named, or the smallest that has the GPU.
Result<std::string> PlatformOf(const Place& place) {
  if (!place.platform.empty()) {
    return place.platform;
  }
  ASSIGN_OR_RETURN(const hw::Device device, hw::FindDevice(place.gpu));
  ASSIGN_OR_RETURN(const std::vector<hw::Platform> platforms,
                   hw::LoadPlatforms());
  const hw::Platform* best = nullptr;
  const auto size = [](const hw::Platform& platform) {
    return platform.gpus_per_node ? platform.gpus_per_node->value : 1;
  };
  for (const hw::Platform& platform : platforms) {
    const bool same_chip = hw::FindDevice(platform.gpu)
                               .map([&](const hw::Device& other) {
                                 return other.chip == device.chip;
                               })
                               .value_or(false);
    if (same_chip && size(platform) >= place.gpus &&
        (best == nullptr || size(platform) < size(*best))) {
      best = &platform;
    }
  }
  if (best == nullptr) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("no built-in platform has {} {}; expected "
                            "--platform NAME",
                            place.gpus, device.name));
  }
  return best->name;
}

// The part with half the bytes; nothing if it moves no FP32 numbers.
std::optional<ir::Collective> Halved(const ir::Collective& part) {
  if (part.dtype != ir::DType::kFp32) {
    return std::nullopt;
  }
  ir::Collective halved = part;
  halved.dtype = ir::DType::kFp16;
  halved.bytes.count /= 2;
  return halved;
}

}  // namespace

Status Fp16Comm(const Change& change, StepEditor& editor) {
  RETURN_IF_ERROR(NoValue(change));
  const ir::GraphData& data = editor.data();
  const cost::CollectiveModels* models = nullptr;
  size_t halved_works = 0;
  for (const ir::WorkId id : data.works.ids()) {
    const auto* part = std::get_if<ir::Collective>(&editor.graph().shape(id));
    const auto halved = part != nullptr ? Halved(*part) : std::nullopt;
    if (!halved) {
      continue;
    }
    const int ranks =
        std::max(editor.place().gpus, static_cast<int>(part->group_size));
    if (models == nullptr) {
      Place place = editor.place();
      place.gpus = ranks;
      ASSIGN_OR_RETURN(const std::string platform, PlatformOf(place));
      ASSIGN_OR_RETURN(
          models, editor.predictor().Collectives(platform, ranks, place.nodes));
    }
    const cost::RankGroup group{.ranks = ranks, .nodes = editor.place().nodes};
    const auto from = models->Price(*part, group);
    const auto to = models->Price(*halved, group);
    if (from && to) {
      editor.Reprice(id, *from, *to);
      ++halved_works;
    }
  }
  if (halved_works == 0) {
    return Fail(ErrorCode::kUnsupported,
                "change fp16-comm does not apply: no collective is known to "
                "move FP32 numbers; expected a step of several ranks with "
                "sizes");
  }
  editor.Note(
      fmt::format("{} works of collectives with half the bytes; casts "
                  "are not added",
                  halved_works));
  return {};
}

}  // namespace stepcast::whatif

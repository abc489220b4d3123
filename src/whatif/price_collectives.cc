#include "whatif/price_collectives.h"

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "hw/cluster.h"
#include "hw/device.h"

namespace stepcast::whatif {
namespace {

// The one that was named, or the smallest that has the GPU.
Result<std::string> PlatformOf(const Place& place) {
  if (!place.platform.empty()) {
    return place.platform;
  }
  ASSIGN_OR_RETURN(const hw::Device device, hw::FindDevice(place.gpu));
  ASSIGN_OR_RETURN(const std::vector<hw::Node> platforms, hw::LoadPlatforms());
  const hw::Node* best = nullptr;
  for (const hw::Node& platform : platforms) {
    const bool same_chip = hw::FindDevice(platform.gpu)
                               .map([&](const hw::Device& other) {
                                 return other.chip == device.chip;
                               })
                               .value_or(false);
    if (same_chip && platform.domain_devices >= place.gpus &&
        (best == nullptr || platform.domain_devices < best->domain_devices)) {
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

Result<const cost::CollectiveModels*> ModelsOf(const Place& place,
                                               engine::Predictor& predictor) {
  if (!place.server.empty()) {
    return predictor.ServerCollectives(place.server, place.runtime,
                                       place.nodes);
  }
  ASSIGN_OR_RETURN(const std::string platform, PlatformOf(place));
  return predictor.Collectives(platform, place.gpus, place.nodes);
}

}  // namespace

Status CollectiveRepricer::Reprice(ir::WorkId id, const ir::Collective& to) {
  const auto& from = std::get<ir::Collective>(editor_.graph().shape(id));
  if (models_ == nullptr) {
    Place place = editor_.first_place();
    ranks_ = std::max(place.gpus, static_cast<int>(from.group_size));
    place.gpus = ranks_;
    ASSIGN_OR_RETURN(models_, ModelsOf(place, editor_.predictor()));
  }
  const Place& place = editor_.first_place();
  const cost::RankGroup group{.ranks = ranks_, .nodes = place.nodes};
  const auto before = models_->Price(from, group);
  const auto after = models_->Price(to, group);
  if (before && after) {
    editor_.SetShape(id, editor_.AddShape(to));
    editor_.Reprice(id, *before, *after, place.gpu);
    ++repriced_;
  }
  return {};
}

}  // namespace stepcast::whatif

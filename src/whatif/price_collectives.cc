#include "whatif/price_collectives.h"

#include <algorithm>
#include <variant>

#include <fmt/format.h>

#include "hw/cluster.h"

namespace stepcast::whatif {

Status CollectiveRepricer::Reprice(ir::WorkId id, const ir::Collective& to) {
  const auto& from = std::get<ir::Collective>(editor_.graph().shape(id));
  const engine::Machine& machine = editor_.first_machine();
  if (!machine.cluster) {
    return Fail(
        ErrorCode::kNotFound,
        fmt::format("{} has {} {}; expected --platform NAME of one "
                    "that has",
                    machine.platform.empty() ? "no built-in platform"
                                             : "no node of " + machine.platform,
                    std::max<int64_t>(machine.ranks, from.group_size),
                    machine.gpu.empty() ? "GPUs" : machine.gpu));
  }
  if (models_ == nullptr) {
    ASSIGN_OR_RETURN(models_, editor_.store().Collectives(machine.cluster));
  }
  const cost::RankGroup group{.ranks = machine.cluster->gpu_count(),
                              .nodes = machine.nodes};
  const auto before = models_->Price(from, group);
  const auto after = models_->Price(to, group);
  if (before && after) {
    editor_.SetShape(id, editor_.AddShape(to));
    editor_.Reprice(id, *before, *after, machine.gpu);
    ++repriced_;
  }
  return {};
}

}  // namespace stepcast::whatif

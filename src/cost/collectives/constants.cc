#include "cost/collectives/constants.h"

#include <array>
#include <iterator>
#include <vector>

#include <fmt/format.h>

#include "base/files/toml_read.h"

namespace stepcast::cost {
namespace {

using C = CollectiveConstants;
using K = KindConstants;
using Info = CollectiveConstantInfo;

template <auto kKind, auto kMember>
double* PlaceOf(C& constants) {
  return &(constants.*kKind.*kMember);
}
template <auto kMember>
double* PlaceOf(C& constants) {
  return &(constants.*kMember);
}

constexpr std::string_view kStart = "us before the first byte moves";
constexpr std::string_view kStep = "us for each step of the algorithm";
constexpr std::string_view kLink = "share of a GPU's links that is reached";
constexpr std::string_view kPair = "between two GPUs, over that";
constexpr std::string_view kPcie = "share of PCIe that is reached";
constexpr std::string_view kBlend = "power by which both add up";

// The five kinds with data, six constants each, then the rest.
constexpr std::array kCollectiveInfos = {
    Info{"all_reduce.start_us", PlaceOf<&C::all_reduce, &K::start_us>, 1, 40,
         kStart},
    Info{"all_reduce.step_us", PlaceOf<&C::all_reduce, &K::step_us>, 0.05, 10,
         kStep},
    Info{"all_reduce.link_share", PlaceOf<&C::all_reduce, &K::link_share>, 0.1,
         1.2, kLink},
    Info{"all_reduce.pair_factor", PlaceOf<&C::all_reduce, &K::pair_factor>,
         0.3, 2, kPair},
    Info{"all_reduce.pcie_share", PlaceOf<&C::all_reduce, &K::pcie_share>, 0.1,
         1.2, kPcie},
    Info{"all_reduce.blend", PlaceOf<&C::all_reduce, &K::blend>, 0.35, 4,
         kBlend},
    Info{"all_to_all.start_us", PlaceOf<&C::all_to_all, &K::start_us>, 1, 40,
         kStart},
    Info{"all_to_all.step_us", PlaceOf<&C::all_to_all, &K::step_us>, 0.05, 10,
         kStep},
    Info{"all_to_all.link_share", PlaceOf<&C::all_to_all, &K::link_share>, 0.1,
         1.2, kLink},
    Info{"all_to_all.pair_factor", PlaceOf<&C::all_to_all, &K::pair_factor>,
         0.3, 2, kPair},
    Info{"all_to_all.pcie_share", PlaceOf<&C::all_to_all, &K::pcie_share>, 0.1,
         1.2, kPcie},
    Info{"all_to_all.blend", PlaceOf<&C::all_to_all, &K::blend>, 0.35, 4,
         kBlend},
    Info{"all_gather.start_us", PlaceOf<&C::all_gather, &K::start_us>, 1, 40,
         kStart},
    Info{"all_gather.step_us", PlaceOf<&C::all_gather, &K::step_us>, 0.05, 10,
         kStep},
    Info{"all_gather.link_share", PlaceOf<&C::all_gather, &K::link_share>, 0.1,
         1.2, kLink},
    Info{"all_gather.pair_factor", PlaceOf<&C::all_gather, &K::pair_factor>,
         0.3, 2, kPair},
    Info{"all_gather.pcie_share", PlaceOf<&C::all_gather, &K::pcie_share>, 0.1,
         1.2, kPcie},
    Info{"all_gather.blend", PlaceOf<&C::all_gather, &K::blend>, 0.35, 4,
         kBlend},
    Info{"reduce_scatter.start_us", PlaceOf<&C::reduce_scatter, &K::start_us>,
         1, 40, kStart},
    Info{"reduce_scatter.step_us", PlaceOf<&C::reduce_scatter, &K::step_us>,
         0.05, 10, kStep},
    Info{"reduce_scatter.link_share",
         PlaceOf<&C::reduce_scatter, &K::link_share>, 0.1, 1.2, kLink},
    Info{"reduce_scatter.pair_factor",
         PlaceOf<&C::reduce_scatter, &K::pair_factor>, 0.3, 2, kPair},
    Info{"reduce_scatter.pcie_share",
         PlaceOf<&C::reduce_scatter, &K::pcie_share>, 0.1, 1.2, kPcie},
    Info{"reduce_scatter.blend", PlaceOf<&C::reduce_scatter, &K::blend>, 0.35,
         4, kBlend},
    Info{"send_recv.start_us", PlaceOf<&C::send_recv, &K::start_us>, 1, 40,
         kStart},
    Info{"send_recv.step_us", PlaceOf<&C::send_recv, &K::step_us>, 0.05, 10,
         kStep},
    Info{"send_recv.link_share", PlaceOf<&C::send_recv, &K::link_share>, 0.1,
         1.2, kLink},
    Info{"send_recv.pair_factor", PlaceOf<&C::send_recv, &K::pair_factor>, 0.3,
         2, kPair},
    Info{"send_recv.pcie_share", PlaceOf<&C::send_recv, &K::pcie_share>, 0.1,
         1.2, kPcie},
    Info{"send_recv.blend", PlaceOf<&C::send_recv, &K::blend>, 0.35, 4, kBlend},
    Info{"switch.gain", PlaceOf<&C::switch_gain>, 1, 2,
         "all-reduce of a whole node whose switch adds, over rings"},
    Info{"network.share", PlaceOf<&C::network_share>, 0.3, 1.2,
         "share of an adapter's rate that is reached"},
    Info{"network.step_us", PlaceOf<&C::network_step_us>, 1, 100,
         "us for each step over the network"},
    Info{"network.peer_us", PlaceOf<&C::network_peer_us>, 0.05, 50,
         "us of an all-to-all for each peer on another node"},
    Info{"network.blend", PlaceOf<&C::network_blend>, 0.35, 4, kBlend},
    Info{"spread.log2_p10", PlaceOf<&C::log2_p10>, -4, 0,
         "a tenth of the measured times are at least this far below"},
    Info{"spread.log2_p90", PlaceOf<&C::log2_p90>, 0, 4,
         "a tenth are at least this far above"},
};

}  // namespace

const KindConstants& CollectiveConstants::of(ir::CollectiveKind kind) const {
  switch (kind) {
    case ir::CollectiveKind::kAllToAll:
      return all_to_all;
    case ir::CollectiveKind::kAllGather:
    case ir::CollectiveKind::kBroadcast:
      return all_gather;
    case ir::CollectiveKind::kReduceScatter:
    case ir::CollectiveKind::kReduce:
      return reduce_scatter;
    case ir::CollectiveKind::kSendRecv:
      return send_recv;
    case ir::CollectiveKind::kUnknown:
    case ir::CollectiveKind::kAllReduce:
    case ir::CollectiveKind::kBarrier:
      return all_reduce;
  }
  return all_reduce;
}

std::span<const CollectiveConstantInfo> CollectiveConstantInfos() {
  return kCollectiveInfos;
}

Result<CollectiveConstants> ParseCollectiveConstants(std::string_view text,
                                                     std::string_view source) {
  ASSIGN_OR_RETURN(const toml::table table, ParseToml(text, source));
  std::vector<std::string_view> keys;
  keys.reserve(kCollectiveInfos.size());
  for (const Info& info : kCollectiveInfos) {
    keys.push_back(info.key);
  }
  RETURN_IF_ERROR(CheckKeys(table, keys));
  CollectiveConstants constants;
  for (const Info& info : kCollectiveInfos) {
    const toml::node* node = table.get(info.key);
    if (node == nullptr) {
      return FailAt(table, fmt::format("no '{}'", info.key));
    }
    const auto value = node->value<double>();
    if (!value || !(*value >= info.low && *value <= info.high)) {
      return FailAt(*node, fmt::format("'{}' must be a number from {} to {}",
                                       info.key, info.low, info.high));
    }
    *info.place(constants) = *value;
  }
  return constants;
}

std::string CollectiveConstantsText(const CollectiveConstants& constants,
                                    std::string_view provenance) {
  CollectiveConstants copy = constants;
  std::string text = fmt::format("# {}\n", provenance);
  for (const Info& info : kCollectiveInfos) {
    text += fmt::format("\"{}\" = {:.4f}  # {}\n", info.key, *info.place(copy),
                        info.meaning);
  }
  return text;
}

}  // namespace stepcast::cost

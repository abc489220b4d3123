#include "engine/run/price_activities.h"

#include <algorithm>
#include <variant>

#include "hw/links.h"

namespace stepcast::engine {
namespace {

class Pricer {
 public:
  Pricer(const ir::GraphData& data, const timeline::ActivityTimes* measured,
         const PriceOptions& options)
      : data_(data), measured_(measured), options_(options) {
    priced_.models.emplace_back();
    priced_.prices =
        IdVector<ir::ActivityId, ActivityPrice>(data.activities.size());
  }

  PricedActivities Price(const cost::KernelModels& models);

 private:
  uint16_t NumberOf(std::string_view model);
  ActivityPrice FromEstimate(const cost::Estimate& estimate);
  ActivityPrice FromMeasured(ir::ActivityId id) const;
  void PriceCollectives();
  void PriceHostActivities();
  void ShareUplinks(double pcie_gbs);
  std::optional<cost::Estimate> PriceOne(
      const ir::MatchedCollective& collective) const;
  std::optional<cost::Estimate> PriceOfPart(const ir::Collective& part) const;
  bool IsMeasured(ir::ActivityId id) const {
    return measured_ != nullptr && data_.activities[id].measured.has_value();
  }
  void Cover();

  const ir::GraphData& data_;
  const timeline::ActivityTimes* measured_;
  const PriceOptions& options_;
  PricedActivities priced_;
};

uint16_t Pricer::NumberOf(std::string_view model) {
  const auto found = std::ranges::find(priced_.models, model);
  if (found != priced_.models.end()) {
    return static_cast<uint16_t>(found - priced_.models.begin());
  }
  priced_.models.push_back(model);
  return static_cast<uint16_t>(priced_.models.size() - 1);
}

ActivityPrice Pricer::FromEstimate(const cost::Estimate& estimate) {
  return {.p10_us = estimate.p10_us,
          .p50_us = estimate.p50_us,
          .p90_us = estimate.p90_us,
          .source = estimate.origin,
          .model = NumberOf(estimate.model)};
}

ActivityPrice Pricer::FromMeasured(ir::ActivityId id) const {
  const double us = ToMicroseconds(measured_->activities[id].duration);
  if (options_.same_gpu) {
    return {.p10_us = us,
            .p50_us = us,
            .p90_us = us,
            .source = cost::Origin::kMeasured};
  }
  // How well a bandwidth ratio carries a time to another GPU is not measured
  // here; a third either way is what the formulas' worst families have.
  constexpr double kSpread = 1.33;
  const double scaled = us * options_.measured_factor;
  return {.p10_us = scaled / kSpread,
          .p50_us = scaled,
          .p90_us = scaled * kSpread,
          .source = cost::Origin::kExtrapolated};
}

void Pricer::Cover() {
  double total = 0;
  for (const ActivityPrice& price : priced_.prices) {
    priced_.coverage[static_cast<size_t>(price.source)] += price.p50_us;
    total += price.p50_us;
  }
  for (double& share : priced_.coverage) {
    share = total > 0 ? share / total : 0;
  }
}

// Groups of some of the ranks, all active at once: the ranks of a node, or
// those that have the same place on all nodes, which share the node's adapters.
std::optional<cost::Estimate> Pricer::PriceOfPart(
    const ir::Collective& part) const {
  const CollectivePricing& pricing = options_.collectives;
  const auto size = static_cast<int>(part.group_size);
  if (part.kind != ir::CollectiveKind::kAllToAll) {
    return pricing.models->Price(part, {.ranks = size, .nodes = 1});
  }
  const auto load = cost::LoadOf(part, {.ranks = size, .nodes = size});
  if (!load) {
    return std::nullopt;
  }
  return pricing.models->PriceAmongNodes(
      load->wire_bytes, {.ranks = pricing.ranks, .nodes = pricing.nodes});
}

// The parts of all ranks where they are few enough to be written down, else as
// if all did what the rank with the largest part does.
std::optional<cost::Estimate> Pricer::PriceOne(
    const ir::MatchedCollective& collective) const {
  constexpr int kMostParts = 256;
  const CollectivePricing& pricing = options_.collectives;
  std::vector<ir::Collective> parts;
  const ir::Collective* largest = nullptr;
  for (const ir::ActivityId id : collective.activities) {
    const auto* part =
        std::get_if<ir::Collective>(&data_.shapes[data_.activities[id].shape]);
    if (part == nullptr) {
      return std::nullopt;
    }
    const ir::RankId rank = data_.streams[data_.activities[id].stream].rank;
    const int64_t count =
        pricing.rank_counts.empty() ? 1 : pricing.rank_counts[rank.value];
    if (pricing.ranks <= kMostParts) {
      parts.insert(parts.end(), static_cast<size_t>(count), *part);
    }
    if (largest == nullptr || part->bytes > largest->bytes) {
      largest = part;
    }
  }
  if (largest->group_size > 1 && largest->group_size < pricing.ranks) {
    return PriceOfPart(*largest);
  }
  if (parts.size() == static_cast<size_t>(pricing.ranks)) {
    return pricing.models->Price(parts, pricing.nodes, pricing.hierarchical);
  }
  return pricing.models->Price(*largest,
                               {.ranks = pricing.ranks, .nodes = pricing.nodes},
                               pricing.hierarchical);
}

void Pricer::PriceCollectives() {
  for (const ir::MatchedCollective& collective : data_.collectives) {
    if (const auto estimate = PriceOne(collective)) {
      for (const ir::ActivityId id : collective.activities) {
        if (!(options_.keep_measured && IsMeasured(id))) {
          priced_.prices[id] = FromEstimate(*estimate);
        }
      }
    }
  }
  // Where all ranks do the same, one stands for them all and meets nobody.
  for (const ir::ActivityId id : data_.activities.ids()) {
    const ir::Activity& activity = data_.activities[id];
    if (activity.kind != ir::ActivityKind::kCollective ||
        activity.collective.valid() || IsMeasured(id)) {
      continue;
    }
    if (const auto estimate = PriceOne({.activities = {id}})) {
      priced_.prices[id] = FromEstimate(*estimate);
    }
  }
}

// GPUs behind one uplink copy at the same time, as all ranks do the same: each
// gets its share of the rate.
void Pricer::ShareUplinks(double pcie_gbs) {
  const hw::Cluster& cluster = options_.collectives.models->cluster();
  const double sharing =
      std::min<double>(cluster.node.gpus_per_uplink, cluster.gpus_per_node);
  if (sharing <= 1) {
    return;
  }
  for (const ir::ActivityId id : data_.activities.ids()) {
    const auto* copy =
        std::get_if<ir::Copy>(&data_.shapes[data_.activities[id].shape]);
    const bool crosses =
        copy != nullptr && (copy->kind == ir::CopyKind::kHostToDevice ||
                            copy->kind == ir::CopyKind::kDeviceToHost);
    if (!crosses || IsMeasured(id)) {
      continue;
    }
    const auto bytes = static_cast<double>(copy->bytes.count);
    const double alone = hw::SharedGbs(cluster.node.pcie_gbs, 1, pcie_gbs);
    const double shared = hw::SharedGbs(cluster.node.pcie_gbs,
                                        static_cast<int>(sharing), pcie_gbs);
    const double longer = bytes / 1e3 * (1 / shared - 1 / alone);
    ActivityPrice& price = priced_.prices[id];
    price.p10_us += longer;
    price.p50_us += longer;
    price.p90_us += longer;
  }
}

// What the host moves in its memory and over its network: bytes over what it
// reaches of the rates.
void Pricer::PriceHostActivities() {
  // Rows at random places: STREAM reaches 0.8 of what channels could do, and
  // rows of a few hundred bytes lose about a third of that to opening pages. An
  // assumption: no lookups of hosts were measured here. One process reaches no
  // more than TorchRec's planner counts on for lookups in host memory, 51 GiB/s
  // (planner/constants.py, DDR_MEM_BW).
  constexpr double kMemoryShare = 0.5;
  constexpr double kProcessGbs = 54.8;
  constexpr double kNetworkShare = 0.9;  // After headers of frames and TCP.
  constexpr double kServerUs = 50;       // There and back through two kernels.
  constexpr double kSpread = 1.5;
  const auto price = [&](ir::ActivityId id, double us) {
    priced_.prices[id] = {.p10_us = us / kSpread,
                          .p50_us = us,
                          .p90_us = us * kSpread,
                          .source = cost::Origin::kExtrapolated,
                          .model = NumberOf("host-roofline")};
  };
  const double memory_gbs =
      std::min(kMemoryShare * options_.host.memory_gbs, kProcessGbs);
  for (const ir::ActivityId id : data_.activities.ids()) {
    if (IsMeasured(id)) {
      continue;
    }
    const ir::KernelShape& shape = data_.shapes[data_.activities[id].shape];
    const auto* copy = std::get_if<ir::Copy>(&shape);
    const auto* message = std::get_if<ir::Collective>(&shape);
    if (copy != nullptr && copy->kind == ir::CopyKind::kHostToHost &&
        options_.host.memory_gbs > 0) {
      price(id, static_cast<double>(copy->bytes.count) / (memory_gbs * 1e3));
    } else if (message != nullptr &&
               message->kind == ir::CollectiveKind::kSendRecv &&
               options_.host.nic_gbs > 0) {
      price(id, kServerUs + static_cast<double>(message->bytes.count) /
                                (kNetworkShare * options_.host.nic_gbs * 1e3));
    }
  }
}

PricedActivities Pricer::Price(const cost::KernelModels& models) {
  std::vector<std::optional<cost::Estimate>> estimates(data_.shapes.size());
  models.PriceAll(data_.shapes.items(), estimates);
  std::vector<std::optional<ActivityPrice>> by_shape(data_.shapes.size());
  for (size_t i = 0; i < estimates.size(); ++i) {
    if (estimates[i]) {
      by_shape[i] = FromEstimate(*estimates[i]);
    }
  }
  for (const ir::ActivityId id : data_.activities.ids()) {
    std::optional<ActivityPrice> estimate =
        by_shape[data_.activities[id].shape.value];
    const auto* const fill =
        std::get_if<ir::Fill>(&data_.shapes[data_.activities[id].shape]);
    if (estimate && fill != nullptr &&
        data_.activities[id].kind == ir::ActivityKind::kMemset) {
      estimate = FromEstimate(models.PriceMemset(*fill));
    }
    if (estimate && !(options_.keep_measured && IsMeasured(id))) {
      priced_.prices[id] = *estimate;
    } else if (IsMeasured(id)) {
      priced_.prices[id] = FromMeasured(id);
    }
  }
  if (options_.collectives.models != nullptr) {
    PriceCollectives();
    ShareUplinks(models.machine().device.pcie_gbs);
  }
  PriceHostActivities();
  Cover();
  return std::move(priced_);
}

}  // namespace

PricedActivities PriceActivities(const ir::GraphData& data,
                                 const cost::KernelModels& models,
                                 const timeline::ActivityTimes* measured,
                                 const PriceOptions& options) {
  return Pricer(data, measured, options).Price(models);
}

}  // namespace stepcast::engine

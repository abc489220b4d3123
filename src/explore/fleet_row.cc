#include "explore/fleet_row.h"

#include <string_view>

#include <fmt/format.h>

namespace stepcast::explore {
namespace {

// The columns of a tier, from its processors' on.
void FillTier(const fleet::TierUse& tier, Number cpu, Row& row) {
  const auto first = static_cast<size_t>(cpu);
  row.numbers[first] = tier.cpu;
  row.numbers[first + 1] = tier.memory_bandwidth;
  row.numbers[first + 2] = tier.network;
}

std::string WhatDoesNotFit(const fleet::FleetPrediction& prediction) {
  struct Tier {
    std::string_view name;
    const fleet::TierUse* use = nullptr;
  };
  for (const Tier& tier : {Tier{"trainer", &prediction.trainers},
                           Tier{"sparse server", &prediction.sparse},
                           Tier{"dense server", &prediction.dense}}) {
    if (!tier.use->fits()) {
      return fmt::format("does not fit: {:.1f} GB on a {} of {:.0f} GB",
                         tier.use->memory_bytes / kGiga, tier.name,
                         tier.use->memory_capacity / kGiga);
    }
  }
  return "";
}

}  // namespace

Row FleetRow(const fleet::FleetPrediction& prediction, bool has_interval) {
  Row row;
  row.at(Number::kHostGb) = prediction.trainers.memory_bytes / kGiga;
  row.at(Number::kHostCapacityGb) = prediction.trainers.memory_capacity / kGiga;
  row.at(Number::kServersGb) = 0;
  row.at(Number::kServersCapacityGb) = 0;
  for (const fleet::TierUse* tier : {&prediction.sparse, &prediction.dense}) {
    row.at(Number::kServersGb) += tier->servers * tier->memory_bytes / kGiga;
    row.at(Number::kServersCapacityGb) +=
        tier->servers * tier->memory_capacity / kGiga;
  }
  row.at(Number::kPowerW) = prediction.power_w;
  row.at(Number::kFits) = prediction.fits() ? 1 : 0;
  if (!prediction.fits()) {
    row.note = WhatDoesNotFit(prediction);
    return row;
  }
  row.at(Number::kSamplesPerS) = prediction.samples_per_s;
  row.at(Number::kStepUs) = prediction.iteration_us;
  if (has_interval) {
    row.at(Number::kP10Us) = prediction.iteration_us *
                             prediction.samples_per_s /
                             prediction.samples_per_s_p90;
    row.at(Number::kP50Us) = prediction.iteration_us;
    row.at(Number::kP90Us) = prediction.iteration_us *
                             prediction.samples_per_s /
                             prediction.samples_per_s_p10;
  }
  FillTier(prediction.trainers, Number::kTrainerCpu, row);
  FillTier(prediction.sparse, Number::kSparseCpu, row);
  FillTier(prediction.dense, Number::kDenseCpu, row);
  row.at(Number::kSamplesPerJoule) = prediction.samples_per_joule;
  if (prediction.samples_per_usd) {
    row.at(Number::kSamplesPerDollar) = *prediction.samples_per_usd;
  }
  row.bound_by = prediction.bound_by;
  return row;
}

}  // namespace stepcast::explore

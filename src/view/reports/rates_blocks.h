// What kernels, copies and collectives of a recorded step reach, as blocks.
#ifndef STEPCAST_VIEW_REPORTS_RATES_BLOCKS_H_
#define STEPCAST_VIEW_REPORTS_RATES_BLOCKS_H_

#include <cstdint>
#include <string>

#include "engine/explain/kernel_rates.h"
#include "engine/explain/step_result.h"
#include "engine/explain/traffic.h"
#include "view/doc.h"

namespace stepcast::view {

/// Whose rates they are.
struct RatesOf {
  engine::RateModels with{};  // Without models there are no rates.
  std::string gpu{};          // Theirs.
};

/// Whether times are of the recording, or predicted with the models.
enum class RateTimes : uint8_t { kRecorded, kPredicted };

/// The blocks of a step. For people in a terminal, of a recording: families of
/// kernels and kernels that are slow; the rest is for pages and programs.
void AddRates(const engine::StepResult& result, const engine::Traffic& traffic,
              const RatesOf& rates, RateTimes times, Doc& doc);

/// Of a collective: its buffer, the algorithm's rate and the bus rate.
struct CollectiveCells {
  Value bytes{};
  Value buffer{};  // The same for people.
  Value algorithm_gbs{};
  Value bus_gbs{};
};
CollectiveCells CellsOf(const engine::CollectiveRate* rate);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_REPORTS_RATES_BLOCKS_H_

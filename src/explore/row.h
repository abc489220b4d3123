// What is known of one scenario: numbers and words, a column each.
#ifndef STEPCAST_EXPLORE_ROW_H_
#define STEPCAST_EXPLORE_ROW_H_

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/units.h"

namespace stepcast::explore {

/// The numbers of a row. Shares are between 0 and 1. "Trainers" are the servers
/// that run the model, with GPUs or without; "sparse" and "dense" are servers
/// that hold tables and dense parameters.
enum class Number : uint8_t {
  kSamplesPerS,
  kStepUs,
  kP10Us,
  kP50Us,
  kP90Us,
  kGpuActive,
  kHostBusy,
  kGemmUs,
  kEmbeddingUs,
  kInteractionUs,
  kElementwiseUs,
  kOptimizerUs,
  kOtherUs,
  kCopiesUs,
  kCommunicationUs,
  kIdleHostUs,
  kIdleLaunchUs,
  kIdleSyncUs,
  kIdleWaitUs,
  kHbmGb,
  kHbmCapacityGb,
  kHostGb,
  kHostCapacityGb,
  kServersGb,
  kServersCapacityGb,
  kFits,
  kTrainerCpu,
  kTrainerMemory,
  kTrainerNetwork,
  kSparseCpu,
  kSparseMemory,
  kSparseNetwork,
  kDenseCpu,
  kDenseMemory,
  kDenseNetwork,
  kPowerW,
  kSamplesPerJoule,
  kSamplesPerDollar,
};
inline constexpr size_t kNumberCount = 38;

struct NumberColumn {
  std::string_view name;
  std::string_view unit;
  std::string_view help;
};
/// By Number.
std::span<const NumberColumn> NumberColumns();
/// The number of a column called so.
std::optional<Number> FindNumber(std::string_view name);

struct Row {
  /// By Number; not a number: not known, or not there.
  std::array<double, kNumberCount> numbers = [] {
    std::array<double, kNumberCount> none{};
    none.fill(std::numeric_limits<double>::quiet_NaN());
    return none;
  }();
  std::string bound_by{};  // "embedding", "host", "sparse servers: network".
  std::string note{};      // Why there is no time, what does not fit.

  double at(Number number) const {
    return numbers[static_cast<size_t>(number)];
  }
  double& at(Number number) { return numbers[static_cast<size_t>(number)]; }
  bool fits() const { return at(Number::kFits) == 1; }
};

/// One line that reads back as the same row.
std::string RowText(const Row& row);
/// Nothing if it is no such line.
std::optional<Row> ParseRow(std::string_view text);

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_ROW_H_

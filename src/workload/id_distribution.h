// How often the lookups of a table go to each of its rows.
#ifndef STEPCAST_WORKLOAD_ID_DISTRIBUTION_H_
#define STEPCAST_WORKLOAD_ID_DISTRIBUTION_H_

#include <cstdint>
#include <string_view>
#include <vector>

namespace stepcast::workload {

enum class IdKind {
  kUnknown,    // Nobody says; what prices it assumes something usual.
  kUniform,    // Every row as likely.
  kZipf,       // Density x^-alpha over the rows.
  kHistogram,  // Shares of the rows get shares of the lookups.
  kMeasured,   // Ids as they were recorded.
};

/// "uniform", "zipf", ...: as in the files.
std::string_view Name(IdKind kind);

/// Of all rows, `rows` of them (a share, 0 to 1) get `lookups` of the lookups.
struct HistogramStep {
  double rows = 0;
  double lookups = 0;
  friend bool operator==(const HistogramStep&, const HistogramStep&) = default;
};

struct IdDistribution {
  IdKind kind = IdKind::kUnknown;
  double alpha = 0;                    // Of kZipf.
  std::vector<HistogramStep> steps{};  // Of kHistogram; both sum to 1.
  std::vector<int64_t> ids{};          // Of kMeasured, in order.
  friend bool operator==(const IdDistribution&,
                         const IdDistribution&) = default;
};

}  // namespace stepcast::workload

#endif  // STEPCAST_WORKLOAD_ID_DISTRIBUTION_H_

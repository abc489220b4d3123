// Measured collectives as a fit sees them: one curve a system, kind and group.
#ifndef STEPCAST_LEARN_FIT_COLLECTIVE_POINTS_H_
#define STEPCAST_LEARN_FIT_COLLECTIVE_POINTS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "cost/collectives/load.h"
#include "hw/cluster.h"
#include "hw/node.h"
#include "learn/measured/collective_rows.h"

namespace stepcast::learn {

/// All measurements of one size.
struct SizePoint {
  double wire_bytes = 0;
  double log_us = 0;  // Natural logarithm of the median.
  double weight = 1;  // Less where sizes are close.
};

struct MeasuredCurve {
  uint16_t system = 0;  // Of CollectiveRows::systems.
  ir::CollectiveKind kind = ir::CollectiveKind::kUnknown;
  cost::RankGroup group{};
  bool adds_bytes = false;
  size_t rows = 0;
  std::vector<SizePoint> points{};  // By bytes.
  /// Each row's wire bytes and time.
  std::vector<double> row_bytes{};
  std::vector<double> row_us{};

  cost::CollectiveLoad LoadFor(double wire_bytes) const;
};

/// What a measured row moves.
cost::CollectiveLoad LoadOf(const CollectiveRow& row);

/// The curves of all rows that fitting may see: test rows are left out.
std::vector<MeasuredCurve> GroupCurves(const CollectiveRows& rows);

/// One node of the platform that each system is measured on: the largest of
/// those that name it in 'collectives', `more` before the built-in ones. A
/// system that no platform names is an error.
Result<std::vector<hw::Cluster>> ClustersOf(const CollectiveRows& rows,
                                            std::span<const hw::Node> more);

/// Why rows of a system say nothing of others like it; empty if they do.
std::string_view WhyOdd(std::string_view system, bool over_network);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_FIT_COLLECTIVE_POINTS_H_

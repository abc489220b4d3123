// The device time of each op in the authors' traces of DLRM on V100, compared
// to what is predicted from a model file.
#ifndef STEPCAST_TESTS_ACCURACY_OP_TIMES_H_
#define STEPCAST_TESTS_ACCURACY_OP_TIMES_H_

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace stepcast::accuracy {

/// The kernels, copies and memsets of all ops of one name in a step.
struct OpTime {
  std::string trace;  // "2021-05-14 DLRM_MLPerf"
  std::string op;     // "AddmmBackward"
  double measured_us = 0;
  double predicted_us = 0;
  double share = 0;  // Of all device time that was measured in the step.

  double error_pct() const;
};

/// Ops from so large a share of the step on, by trace, the longest first.
/// `data` has the folder authors.
Result<std::vector<OpTime>> CompareOps(const std::filesystem::path& data,
                                       double least_share);

/// A table in Markdown.
std::string OpTable(std::span<const OpTime> ops);

}  // namespace stepcast::accuracy

#endif  // STEPCAST_TESTS_ACCURACY_OP_TIMES_H_

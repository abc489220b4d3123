// Correcting a formula on a GPU of which only a few rows are known.
#ifndef STEPCAST_FIT_FEW_ROWS_H_
#define STEPCAST_FIT_FEW_ROWS_H_

#include <cstddef>
#include <span>
#include <vector>

#include "cost/machine.h"
#include "fit/fit_constants.h"
#include "fit/training_rows.h"

namespace stepcast::fit {

/// A Gaussian process on the logarithm of measured over formula. It expects the
/// formula to be off by a common factor, by factors that change slowly with the
/// sizes (the first features of a family), and by constants that are a bit
/// different on this GPU.
class FewRows {
 public:
  /// The rows of a case with their features, their formula's machine and the
  /// groups of constants it depends on.
  FewRows(const TrainingRows& rows, const RowGroup& group,
          const cost::Machine& machine,
          std::span<const ConstantGroup> constants);

  /// What the kernels of `asked` take, in microseconds, if only the times of
  /// `known` are known. Both are places in the rows.
  std::vector<double> Correct(std::span<const size_t> known,
                              std::span<const size_t> asked) const;

 private:
  double Covariance(size_t a, size_t b) const;

  const TrainingRows& rows_;
  size_t slope_count_ = 0;
  // By row: the change of log(formula) over the range of each constant.
  std::vector<double> slopes_;
};

}  // namespace stepcast::fit

#endif  // STEPCAST_FIT_FEW_ROWS_H_

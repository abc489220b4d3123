// How far a predicted time is from the measured one.
#ifndef STEPCAST_TESTS_ACCURACY_ERROR_PCT_H_
#define STEPCAST_TESTS_ACCURACY_ERROR_PCT_H_

namespace stepcast::accuracy {

/// In percent of the measured one, with a sign; both in the same unit.
constexpr double ErrorPct(double predicted, double measured) {
  return 100 * (predicted / measured - 1);
}

}  // namespace stepcast::accuracy

#endif  // STEPCAST_TESTS_ACCURACY_ERROR_PCT_H_

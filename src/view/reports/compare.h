// Two steps side by side: where they differ.
#ifndef STEPCAST_VIEW_REPORTS_COMPARE_H_
#define STEPCAST_VIEW_REPORTS_COMPARE_H_

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/units.h"
#include "view/doc.h"
#include "view/reports/breakdown.h"
#include "whatif/case.h"

namespace stepcast::view {

/// A step as far as it is compared.
struct ComparedStep {
  std::string name;  // As the user wrote it.
  Duration step{};
  Duration gpu_active{};
  Duration host_busy{};
  double samples_per_s = 0;  // 0: not known.
  /// Where the slowest rank's time went; sums to the step.
  StepParts parts;
  OpTable ops;  // Empty where only sums are known.
};

ComparedStep CompareSide(const whatif::Case& subject, std::string name);

/// What `stepcast predict --json` wrote.
Result<ComparedStep> ReadPredictionJson(std::string_view text,
                                        std::string name);

struct OpDifference {
  std::string name;
  OpTimes a{};
  OpTimes b{};
  Duration host() const { return b.host - a.host; }
  Duration device() const { return b.device - a.device; }
};

struct Comparison {
  ComparedStep a;
  ComparedStep b;
  std::vector<PartDifference> parts;  // The largest difference first.
  std::vector<OpDifference> ops;      // Likewise, host or device; all ops.
  bool by_op() const { return !a.ops.empty() && !b.ops.empty(); }
  /// Why ops are not compared: "A has sums alone".
  std::string_view why_not_by_op() const {
    return !a.ops.empty()   ? "B has sums alone"
           : !b.ops.empty() ? "A has sums alone"
                            : "both have sums alone";
  }
};

Comparison Compare(ComparedStep a, ComparedStep b);

/// How much longer the second is, in percent; 0 if the first has no length.
double PercentLonger(Duration a, Duration b);

/// `a` and `b` are the sides, null where only sums are known; they must live
/// as long as the document.
Doc ComparisonDoc(const Comparison& comparison, const whatif::Case* a,
                  const whatif::Case* b);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_REPORTS_COMPARE_H_

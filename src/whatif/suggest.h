// Which single changes would help most.
#ifndef STEPCAST_WHATIF_SUGGEST_H_
#define STEPCAST_WHATIF_SUGGEST_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "scenario/resolve.h"
#include "whatif/apply.h"
#include "whatif/case.h"
#include "whatif/change.h"

namespace stepcast::whatif {

/// How sure a gain is, by its interval.
enum class Confidence {
  kHigh,    // Between 0.5 and 1.5 times what is reported.
  kMedium,  // A gain.
  kLow,     // Perhaps none.
};
/// "high", "medium", "low".
std::string_view Name(Confidence confidence);

struct Suggestion {
  Change change;
  Changed changed;
  Confidence confidence = Confidence::kLow;
};

/// A change that was not taken up, and why.
struct Rejected {
  std::string change;
  std::string why;
};

struct Suggestions {
  std::vector<Suggestion> gains;  // The largest first.
  std::vector<Rejected> rejected;
};

/// Tries every change that has values to try, and kernels of the families that
/// take longest at twice the speed. A gain below a thousandth of the step is
/// none.
Suggestions Suggest(const Case& before, scenario::Resolver& resolver);

/// By the interval of the difference; a bound is never sure, nor is a step
/// whose kernels went to another GPU without their sizes.
Confidence ConfidenceOf(const Changed& changed);

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_SUGGEST_H_

// Which actions would help most, alone and two together.
#ifndef STEPCAST_WHATIF_SUGGEST_H_
#define STEPCAST_WHATIF_SUGGEST_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "scenario/resolve.h"
#include "whatif/action.h"
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
  Action action{};
  /// The step after the change has more samples: the gain is that of as many
  /// as before, and `changed` is the step with all of them.
  bool per_sample = false;
};

/// Changes that gain more together than each alone.
struct Combination {
  std::vector<Change> changes;
  Changed changed;
  Confidence confidence = Confidence::kLow;
};

/// A change that was not taken up, and why.
struct Rejected {
  std::string change;
  std::string why;
};

struct Suggestions {
  std::vector<Suggestion> gains;   // The largest first.
  std::vector<Combination> pairs;  // The same.
  std::vector<Rejected> rejected;
  std::vector<std::string> notes;  // What else to ask.
};

/// Tries the changes of ChangesToTry and, for a model, the largest batch that
/// fits and another sharding of its tables; then pairs of the best. A gain
/// below a thousandth of the step is none.
Suggestions Suggest(const Case& before, scenario::Resolver& resolver,
                    bool hypothetical = false);

/// By the interval of the difference; a bound is never sure, nor is a step
/// whose kernels went to another GPU without their sizes. Of a recorded step
/// neither is a gain within what its steps differ by.
Confidence ConfidenceOf(const Case& before, const Change& change,
                        const Changed& changed);

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_SUGGEST_H_

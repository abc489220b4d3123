// Which actions would help most, alone and two together.
#ifndef STEPCAST_WHATIF_SUGGEST_H_
#define STEPCAST_WHATIF_SUGGEST_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "scenario/resolve.h"
#include "whatif/apply.h"
#include "whatif/case.h"
#include "whatif/change.h"

namespace stepcast::whatif {

// What a user would do to have a change: in PyTorch's and TorchRec's terms.

/// To carry a change out in a training script.
enum class Effort : uint8_t {
  kLow,     // A flag or a line.
  kMedium,  // Some places of the code, or tuning.
  kHigh,    // Another design, implementation or machine.
  kNone,    // Nothing that can be done as such: a bound or a supposition.
};
/// "low", "medium", "high", "none".
std::string_view Name(Effort effort);

struct Action {
  std::string text{};   // What to do.
  std::string where{};  // Which ops, phases, ranks; may be empty.
  Effort effort = Effort::kNone;
  std::string_view risk{};  // What may go wrong; may be empty.
};

/// What to do for a change that was tried.
Action ActionOf(const Case& before, const Change& change,
                const Changed& changed);

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

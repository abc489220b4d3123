// What a user would do to have a change: in PyTorch's and TorchRec's terms.
#ifndef STEPCAST_WHATIF_ACTION_H_
#define STEPCAST_WHATIF_ACTION_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "whatif/apply.h"
#include "whatif/case.h"
#include "whatif/change.h"

namespace stepcast::whatif {

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

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_ACTION_H_

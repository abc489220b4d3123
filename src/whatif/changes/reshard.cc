// reshard: tables shared out as a plan says.
#include <fmt/format.h>

#include "plan/load_deal.h"
#include "whatif/changes/all.h"

namespace stepcast::whatif {

Status SetDeal(const Change& change, engine::Request& request) {
  if (change.value.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("change {} names no plan; expected {}=FILE",
                            change.kind->name, change.kind->name));
  }
  return plan::LoadDeal(change.value, request);
}

}  // namespace stepcast::whatif

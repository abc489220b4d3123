// impl: another way of running the model.
#include <string_view>
#include <vector>

#include "base/nearest.h"
#include "whatif/changes/all.h"
#include "workload/impl/implementations.h"

namespace stepcast::whatif {

Status SetImpl(const Change& change, engine::Request& request) {
  std::vector<std::string_view> names;
  for (const workload::Implementation& known : workload::Implementations()) {
    if (known.name == change.value) {
      request.settings.impl = change.value;
      return {};
    }
    names.push_back(known.name);
  }
  return Fail(ErrorCode::kInvalidInput,
              Unknown("implementation", change.value, names));
}

}  // namespace stepcast::whatif

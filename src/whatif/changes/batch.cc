// batch: another number of samples a GPU.
#include <charconv>

#include <fmt/format.h>

#include "whatif/changes/all.h"
#include "workload/model.h"

namespace stepcast::whatif {

Status SetBatch(const Change& change, engine::Request& request) {
  int64_t batch = 0;
  const char* const end = change.value.data() + change.value.size();
  const auto [stop, error] = std::from_chars(change.value.data(), end, batch);
  if (error != std::errc() || stop != end || batch < 1 ||
      batch > workload::kMostBatch) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("change batch is '{}'; expected a whole number "
                            "from 1 to {}",
                            change.value, workload::kMostBatch));
  }
  request.settings.batch = batch;
  return {};
}

}  // namespace stepcast::whatif

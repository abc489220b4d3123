// The parts of the verifier; each relies on those before it.
#ifndef STEPCAST_IR_VERIFY_PARTS_H_
#define STEPCAST_IR_VERIFY_PARTS_H_

#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/result.h"
#include "ir/graph.h"
#include "ir/outline.h"

namespace stepcast::ir {

/// Every id is in range. All that GraphBuilder needs to sort.
Status VerifyIds(const GraphData& data);
/// Ranks, threads, ops with their tensors, calls.
Status VerifyHost(const GraphData& data);
/// Streams, shapes, activities.
Status VerifyDevice(const GraphData& data);
/// Collectives, stream waits, host waits.
Status VerifyWaits(const GraphData& data);

/// "op 12 'aten::addmm': <what>"
template <typename IdType>
tl::unexpected<Error> Broken(const GraphData& data, IdType id,
                             std::string_view what) {
  return Fail(ErrorCode::kInvalidInput,
              fmt::format("{}: {}", Describe(data, id), what));
}

/// The measured time of `id` is one that can be.
template <typename IdType>
Status VerifyTime(const GraphData& data, IdType id,
                  const std::optional<Measured>& measured) {
  if (!measured) {
    return {};
  }
  if (measured->duration < Duration{0}) {
    return Broken(data, id,
                  fmt::format("its duration is {} ns; expected 0 or more",
                              measured->duration.count()));
  }
  const Duration start = measured->start.value_or(Duration{0});
  if (start < -kMaxTime || start > kMaxTime || measured->duration > kMaxTime) {
    return Broken(data, id,
                  fmt::format("its start {} ns or duration {} ns is beyond 31 "
                              "years from the start of the step",
                              start.count(), measured->duration.count()));
  }
  return {};
}

/// Starts that must not go back; those without a time are passed over.
class StartOrder {
 public:
  void Restart() { last_ = Duration::min(); }
  bool Accepts(const std::optional<Measured>& measured) {
    const std::optional<Duration> start = StartOf(measured);
    if (!start) {
      return true;
    }
    const bool in_order = *start >= last_;
    last_ = *start;
    return in_order;
  }

 private:
  Duration last_ = Duration::min();
};

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_VERIFY_PARTS_H_

#include "whatif/step_editor.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace stepcast::whatif {
namespace {

// How well a ratio of bandwidths carries a time to another GPU is not measured
// here; a third either way is what the formulas' worst families have.
constexpr double kRoughSpread = 1.33;

// The spread of a product of two independent factors whose edges these are.
double Joined(double a, double b) {
  const double joined = std::hypot(std::log(a), std::log(b));
  return a < 1 || b < 1 ? std::exp(-joined) : std::exp(joined);
}

engine::PriceSource SourceOf(cost::Origin origin) {
  switch (origin) {
    case cost::Origin::kMeasured:
      return engine::PriceSource::kMeasured;
    case cost::Origin::kFitted:
      return engine::PriceSource::kFitted;
    case cost::Origin::kFormula:
      return engine::PriceSource::kFormula;
    case cost::Origin::kExtrapolated:
      break;
  }
  return engine::PriceSource::kExtrapolated;
}

}  // namespace

Result<const cost::KernelModels*> StepEditor::Models() {
  if (place_.gpu.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "the trace does not name a GPU we know; expected --gpu NAME, "
                "the one it was recorded on");
  }
  return predictor_.Models(place_.gpu);
}

void StepEditor::Reprice(ir::WorkId id, const cost::Estimate& from,
                         const cost::Estimate& to) {
  EditedWork& work = times_.works[id];
  if (from.p50_us <= 0 || to.p50_us <= 0) {
    return;
  }
  if (from.p50_us == to.p50_us && from.model == to.model) {
    return;
  }
  work.duration *= to.p50_us / from.p50_us;
  // Both models are off in their own way; what is measured is not.
  const double low = Joined(to.p10_us / to.p50_us, from.p10_us / from.p50_us);
  const double high = Joined(to.p90_us / to.p50_us, from.p90_us / from.p50_us);
  work.low = std::min(low, 1.0);
  work.high = std::max(high, 1.0);
  work.model = NumberOf(fmt::format("{} of {}", to.model, place_.gpu), times_);
  work.source = SourceOf(to.origin);
}

void StepEditor::RepriceRoughly(ir::WorkId id, double factor) {
  if (factor == 1) {
    return;
  }
  EditedWork& work = times_.works[id];
  work.duration *= factor;
  work.low = 1 / kRoughSpread;
  work.high = kRoughSpread;
  work.model = NumberOf(fmt::format("bandwidth of {}", place_.gpu), times_);
  work.source = engine::PriceSource::kExtrapolated;
}

ir::Phase PhaseOf(const ir::GraphData& data, ir::OpId op) {
  while (op.valid() && data.ops[op].phase == ir::Phase::kUnknown) {
    op = data.ops[op].parent;
  }
  return op.valid() ? data.ops[op].phase : ir::Phase::kUnknown;
}

ir::Phase PhaseOf(const ir::GraphData& data, ir::CallId call) {
  return call.valid() ? PhaseOf(data, data.calls[call].op)
                      : ir::Phase::kUnknown;
}

ir::Phase PhaseOf(const ir::GraphData& data, ir::WorkId work) {
  return PhaseOf(data, data.works[work].call);
}

}  // namespace stepcast::whatif

// fp16-comm: collectives move FP32 numbers as FP16.
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "whatif/changes/all.h"
#include "whatif/price_collectives.h"

namespace stepcast::whatif {
namespace {

// The part with half the bytes; nothing if it moves no FP32 numbers.
std::optional<ir::Collective> Halved(const ir::Collective& part) {
  if (part.dtype != ir::DType::kFp32) {
    return std::nullopt;
  }
  ir::Collective halved = part;
  halved.dtype = ir::DType::kFp16;
  halved.bytes.count /= 2;
  return halved;
}

}  // namespace

Status Fp16Comm(const Change& change, StepEditor& editor) {
  RETURN_IF_ERROR(NoValue(change));
  CollectiveRepricer repricer(editor);
  for (const ir::WorkId id : editor.data().works.ids()) {
    const auto* part = std::get_if<ir::Collective>(&editor.graph().shape(id));
    const auto halved = part != nullptr ? Halved(*part) : std::nullopt;
    if (halved) {
      RETURN_IF_ERROR(repricer.Reprice(id, *halved));
    }
  }
  if (repricer.repriced() == 0) {
    return Fail(ErrorCode::kUnsupported,
                "change fp16-comm does not apply: no collective is known to "
                "move FP32 numbers; expected a step of several ranks with "
                "sizes");
  }
  editor.Note(
      fmt::format("{} works of collectives with half the bytes; casts "
                  "are not added",
                  repricer.repriced()));
  return {};
}

}  // namespace stepcast::whatif

// fp16-comm: collectives move FP32 numbers as FP16.
#include <optional>
#include <variant>

#include <fmt/format.h>

#include "whatif/changes/all.h"
#include "whatif/step_editor.h"

namespace stepcast::whatif {
namespace {

// Half the bytes of what began in FP32; nothing if it moves no such numbers.
std::optional<ir::Collective> Halved(const ir::Collective& first,
                                     const ir::Collective& now) {
  if (first.dtype != ir::DType::kFp32) {
    return std::nullopt;
  }
  ir::Collective halved = now;
  if (now.dtype == ir::DType::kFp32) {
    halved.dtype = ir::DType::kFp16;
    halved.bytes.count /= 2;
  }
  return halved;
}

}  // namespace

Status Fp16Comm(const Change& change, StepEditor& editor) {
  RETURN_IF_ERROR(NoValue(change));
  CollectiveRepricer repricer(editor);
  for (const ir::ActivityId id : editor.data().activities.ids()) {
    const auto* first = std::get_if<ir::Collective>(&editor.graph().shape(id));
    const auto halved =
        first != nullptr
            ? Halved(*first, std::get<ir::Collective>(editor.shape(id)))
            : std::nullopt;
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
      fmt::format("{} collective kernels move half the bytes; casts "
                  "are not added",
                  repricer.repriced()));
  return {};
}

}  // namespace stepcast::whatif

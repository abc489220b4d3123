#include "fit/fit_shared.h"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "fit/fit_constants.h"
#include "fit/leave_out.h"
#include "fit/measured_gpu.h"
#include "fit/spreads.h"

namespace stepcast::fit {
namespace {

Status CheckChips(const std::vector<MeasuredGpu>& gpus) {
  std::set<std::string> chips;
  for (const MeasuredGpu& gpu : gpus) {
    chips.insert(gpu.device.chip);
  }
  constexpr size_t kFewestToShare = 3;
  if (chips.size() < kFewestToShare) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("what GPUs share cannot be told from {} chip(s): "
                            "give rows of at least {}",
                            chips.size(), kFewestToShare));
  }
  return {};
}

std::string By(const std::string& command) {
  return fmt::format("Fitted by: {}", command);
}

}  // namespace

Result<cost::Constants> FitSharedConstants(const measurements::KernelRows& rows,
                                           size_t threads) {
  ASSIGN_OR_RETURN(const std::vector<MeasuredGpu> gpus,
                   MeasureGpus(rows, cost::Constants(), threads));
  RETURN_IF_ERROR(CheckChips(gpus));
  std::vector<const MeasuredGpu*> all;
  all.reserve(gpus.size());
  for (const MeasuredGpu& gpu : gpus) {
    all.push_back(&gpu);
  }
  return FitConstants(all, cost::Constants(), threads);
}

Result<cost::FormulaSpreads> FitSharedSpreads(
    const measurements::KernelRows& rows, size_t threads) {
  ASSIGN_OR_RETURN(const std::vector<MeasuredGpu> gpus,
                   MeasureGpus(rows, cost::Constants(), threads));
  RETURN_IF_ERROR(CheckChips(gpus));
  ASSIGN_OR_RETURN(LeaveOutTable table, LeaveOneOut(rows, threads));
  return std::move(table.spreads);
}

ProfileFile FileOf(const cost::Constants& constants,
                   const std::string& command) {
  return {.path = "constants.toml",
          .text = ConstantsText(constants, By(command))};
}

ProfileFile FileOf(const cost::FormulaSpreads& spreads,
                   const std::string& command) {
  return {.path = "spreads.toml", .text = SpreadsText(spreads, By(command))};
}

}  // namespace stepcast::fit

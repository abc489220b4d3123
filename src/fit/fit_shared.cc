#include "fit/fit_shared.h"

#include <set>
#include <utility>

#include <fmt/format.h>

#include "fit/fit_constants.h"
#include "fit/leave_out.h"
#include "fit/measured_gpu.h"
#include "fit/spreads.h"

namespace stepcast::fit {

Result<SharedFit> FitShared(const measurements::KernelRows& rows,
                            size_t threads) {
  ASSIGN_OR_RETURN(const std::vector<MeasuredGpu> gpus,
                   MeasureGpus(rows, cost::Constants(), threads));
  std::set<std::string> chips;
  std::vector<const MeasuredGpu*> all;
  for (const MeasuredGpu& gpu : gpus) {
    chips.insert(gpu.device.chip);
    all.push_back(&gpu);
  }
  constexpr size_t kFewestChips = 3;
  if (chips.size() < kFewestChips) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("what GPUs share cannot be told from {} chip(s): "
                            "give rows of at least {}",
                            chips.size(), kFewestChips));
  }
  SharedFit shared;
  shared.constants = FitConstants(all, cost::Constants(), threads);
  ASSIGN_OR_RETURN(LeaveOutTable table, LeaveOneOut(rows, threads));
  shared.spreads = std::move(table.spreads);
  return shared;
}

std::vector<ProfileFile> FilesOf(const SharedFit& shared,
                                 const std::string& command) {
  const std::string by = fmt::format("Fitted by: {}", command);
  return {
      {.path = "constants.toml", .text = ConstantsText(shared.constants, by)},
      {.path = "spreads.toml", .text = SpreadsText(shared.spreads, by)}};
}

}  // namespace stepcast::fit

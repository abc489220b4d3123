#include "report/verdict.h"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/format.h>

#include "report/breakdown.h"
#include "report/text_parts.h"

namespace stepcast::report {
namespace {

using engine::PathKind;

struct Bound {
  Duration time{};
  std::string text{};
};

// The path begins on the rank that the others waited for.
std::string LateStart(const PathSummary& path) {
  return path.hops.size() > 1
             ? fmt::format("held up by rank {}, which starts late",
                           path.hops.front().rank)
             : "held up before its step began";
}

}  // namespace

std::string Verdict(const PathSummary& path, const engine::RankAccount& account,
                    std::string_view active) {
  const auto on_path = [&](PathKind kind) {
    return path.kinds[static_cast<size_t>(kind)];
  };
  // Launching and coming back from a wait are the host's as well: a faster GPU
  // would not shorten them.
  const std::array<Bound, 7> bounds = {{
      {on_path(PathKind::kHost) + on_path(PathKind::kLaunch) +
           on_path(PathKind::kSync),
       "bound by the host"},
      {on_path(PathKind::kKernel), "bound by kernels"},
      {on_path(PathKind::kCollective), "bound by communication"},
      {on_path(PathKind::kCopy), "bound by copies"},
      {path.waits.step_start, LateStart(path)},
      {path.waits.thread_start, "held up by a thread that starts late"},
      {path.waits.step_before, "held up by work of the step before"},
  }};
  const Bound& most = *std::ranges::max_element(bounds, {}, &Bound::time);
  std::string text =
      fmt::format("{}: {} of the critical path; {} {} of the step", most.text,
                  PercentText(most.time, path.length), active,
                  PercentText(account.gpu_active, account.step));
  if (const auto kernels = KernelTimes(account); !kernels.empty()) {
    text += fmt::format(", most of its kernels are {}", kernels.front().first);
  }
  return text;
}

}  // namespace stepcast::report

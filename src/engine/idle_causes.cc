#include "engine/idle_causes.h"

#include <algorithm>

namespace stepcast::engine {
namespace {

using lower::TaskOrigin;

// How much of [begin, end) the host came back from waits, walking back over
// the lane from `task`.
Duration ReturnTime(const lower::Lowered& lowered,
                    const sim::Schedule& schedule, sim::TaskId task,
                    Duration begin, Duration end) {
  Duration total{};
  while (task.valid()) {
    const sim::Placement& placement = schedule.placements[task];
    if (placement.end <= begin) {
      break;
    }
    if (lowered.origins[task].kind == TaskOrigin::Kind::kReturn) {
      const Duration from = std::max(placement.start, begin);
      const Duration to = std::min(placement.end, end);
      total += std::max(to - from, Duration{});
    }
    task = lowered.tasks.previous(task);
  }
  return total;
}

// The task behind which the launch of `work` came; invalid for what no call
// launched.
sim::TaskId LauncherOf(const lower::Lowered& lowered, sim::TaskId work) {
  for (const sim::Dependency& wait : lowered.tasks.waits(work)) {
    if (wait.kind == static_cast<uint8_t>(lower::Wait::kLaunch)) {
      return wait.before;
    }
  }
  return {};
}

}  // namespace

void AddIdle(const lower::Lowered& lowered, const sim::Schedule& schedule,
             sim::TaskId next, Duration begin, Duration end, IdleTime& idle) {
  const sim::TaskId launcher =
      next.valid() ? LauncherOf(lowered, next) : sim::TaskId{};
  if (!launcher.valid()) {
    idle.host += end - begin;  // The host ran out of works.
    return;
  }
  // Until the call the host was not there, from then on it is the device.
  const Duration called =
      std::clamp(schedule.placements[launcher].end, begin, end);
  const Duration returning =
      ReturnTime(lowered, schedule, launcher, begin, called);
  idle.launch += end - called;
  idle.sync += returning;
  idle.host += called - begin - returning;
}

}  // namespace stepcast::engine

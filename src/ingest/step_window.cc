#include "ingest/step_window.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace stepcast::ingest {
namespace {

struct Candidate {
  Duration longest{};
  size_t ranks = 0;
};

uint32_t FindStep(const LinkedTrace& linked, int64_t number) {
  const auto found = std::ranges::find(linked.steps, number, &Step::number);
  return found == linked.steps.end()
             ? kNoEvent
             : static_cast<uint32_t>(found - linked.steps.begin());
}

std::string KnownSteps(const LinkedTrace& linked) {
  constexpr size_t kMostShown = 8;
  std::string text;
  for (size_t i = 0; i < linked.steps.size() && i < kMostShown; ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", linked.steps[i].number);
  }
  return text + (linked.steps.size() > kMostShown ? ", ..." : "");
}

// The number of the step of median length among those all ranks have.
std::optional<int64_t> MedianStep(std::span<const RankTrace> ranks) {
  std::map<int64_t, Candidate> candidates;
  size_t rank_count = 0;
  for (const RankTrace& rank : ranks) {
    if (!rank.profiler) {
      continue;
    }
    ++rank_count;
    for (const Step& step : rank.profiler->steps) {
      Candidate& candidate = candidates[step.number];
      candidate.longest = std::max(candidate.longest, step.duration);
      ++candidate.ranks;
    }
  }
  std::vector<std::pair<Duration, int64_t>> common;
  for (const auto& [number, candidate] : candidates) {
    if (candidate.ranks >= rank_count) {
      common.emplace_back(candidate.longest, number);
    }
  }
  if (common.empty()) {
    return std::nullopt;
  }
  std::ranges::sort(common);
  return common[(common.size() - 1) / 2].second;
}

}  // namespace

Result<std::vector<uint32_t>> ChooseStep(std::span<const RankTrace> ranks,
                                         std::optional<int64_t> number) {
  const bool any = std::ranges::any_of(
      ranks, [](const RankTrace& rank) { return rank.profiler.has_value(); });
  if (any && !number) {
    number = MedianStep(ranks);
    if (!number) {
      return Fail(ErrorCode::kInvalidInput,
                  "the ranks have no step in common; expected traces of the "
                  "same steps");
    }
  }
  std::vector<uint32_t> chosen;
  for (const RankTrace& rank : ranks) {
    chosen.push_back(rank.profiler ? FindStep(*rank.profiler, *number)
                                   : kNoEvent);
    if (rank.profiler && chosen.back() == kNoEvent) {
      return Fail(
          ErrorCode::kInvalidInput,
          fmt::format("{}: has no step {}; expected one of {}",
                      rank.paths.front(), *number, KnownSteps(*rank.profiler)));
    }
  }
  return chosen;
}

StepWindow CutStep(const LinkedTrace& linked, const Step& step) {
  const ProfilerTrace& trace = linked.trace;
  StepWindow window{.step = step};
  const auto starts_inside = [&](const auto& event) {
    return event.start >= step.start &&
           (event.start < step.end() || step.duration == Duration{});
  };
  for (uint32_t i = 0; i < trace.host_events.size(); ++i) {
    if (starts_inside(trace.host_events[i]) &&
        !(linked.steps_marked && i == step.marker)) {
      window.host_events.push_back(i);
    }
  }
  std::vector<bool> in_window(trace.runtime_events.size());
  for (uint32_t i = 0; i < trace.runtime_events.size(); ++i) {
    if (starts_inside(trace.runtime_events[i])) {
      window.calls.push_back(i);
      in_window[i] = true;
    }
  }
  std::ranges::stable_sort(window.calls, {}, [&](uint32_t i) {
    return trace.runtime_events[i].start;
  });
  for (uint32_t i = 0; i < trace.device_events.size(); ++i) {
    const DeviceEvent& event = trace.device_events[i];
    const uint32_t call = linked.work_call[i];
    const bool launched = call != kNoEvent && in_window[call];
    const bool left_over =
        (call == kNoEvent || trace.runtime_events[call].start < step.start) &&
        event.start < step.end() && event.start + event.duration > step.start;
    if (launched || left_over) {
      window.works.push_back(i);
    }
  }
  return window;
}

}  // namespace stepcast::ingest

#include "ingest/step_window.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace stepcast::ingest {
namespace {

// A step as far as choosing one goes.
struct Choice {
  int64_t number = -1;
  int64_t length = 0;  // Nanoseconds, or ops of an execution trace.
  bool empty = false;
};

// By step: whether no op starts in it.
std::vector<bool> FindEmpty(const LinkedTrace& linked) {
  std::vector<bool> empty(linked.steps.size(), true);
  for (const HostEvent& event : linked.trace.host_events) {
    const auto next =
        std::ranges::upper_bound(linked.steps, event.start, {}, &Step::start);
    if (event.kind == HostEventKind::kOp && next != linked.steps.begin()) {
      empty[static_cast<size_t>(next - linked.steps.begin()) - 1] = false;
    }
  }
  return empty;
}

std::vector<Choice> ChoicesOf(const RankTrace& rank) {
  std::vector<Choice> choices;
  if (rank.profiler) {
    const std::vector<bool> empty = FindEmpty(*rank.profiler);
    for (const Step& step : rank.profiler->steps) {
      choices.push_back({.number = step.number,
                         .length = step.duration.count(),
                         .empty = empty[choices.size()]});
    }
  } else if (rank.execution) {
    for (const ExecutionStep& step : rank.execution->steps) {
      choices.push_back({.number = step.number, .length = step.ops});
    }
  }
  return choices;
}

std::string KnownSteps(std::span<const Choice> choices) {
  constexpr size_t kMostShown = 8;
  std::string text;
  for (size_t i = 0; i < choices.size() && i < kMostShown; ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", choices[i].number);
  }
  return text + (choices.size() > kMostShown ? ", ..." : "");
}

// The number of the step of median length among those all ranks have.
std::optional<int64_t> MedianStep(std::span<const std::vector<Choice>> ranks) {
  struct Candidate {
    int64_t longest = 0;
    size_t ranks = 0;
    bool empty = false;
  };
  std::map<int64_t, Candidate> candidates;
  for (const std::vector<Choice>& choices : ranks) {
    for (const Choice& choice : choices) {
      Candidate& candidate = candidates[choice.number];
      candidate.longest = std::max(candidate.longest, choice.length);
      candidate.empty = candidate.empty || choice.empty;
      ++candidate.ranks;
    }
  }
  std::vector<std::tuple<bool, int64_t, int64_t>> common;
  for (const auto& [number, candidate] : candidates) {
    if (candidate.ranks >= ranks.size()) {
      common.emplace_back(candidate.empty, candidate.longest, number);
    }
  }
  if (common.empty()) {
    return std::nullopt;
  }
  std::ranges::sort(common);
  const auto full = static_cast<size_t>(std::ranges::count(
      common, false,
      [](const auto& candidate) { return std::get<bool>(candidate); }));
  const size_t count = full > 0 ? full : common.size();
  return std::get<2>(common[(count - 1) / 2]);
}

}  // namespace

Result<std::vector<uint32_t>> ChooseStep(std::span<const RankTrace> ranks,
                                         std::optional<int64_t> number) {
  const bool timed = std::ranges::any_of(
      ranks, [](const RankTrace& rank) { return rank.profiler.has_value(); });
  std::vector<std::vector<Choice>> choices;  // By rank.
  std::vector<std::vector<Choice>> asked;    // Of those that decide.
  for (const RankTrace& rank : ranks) {
    choices.push_back(ChoicesOf(rank));
    if (timed ? rank.profiler.has_value() : !choices.back().empty()) {
      asked.push_back(choices.back());
    }
  }
  if (!asked.empty() && !number) {
    number = MedianStep(asked);
    if (!number) {
      return Fail(ErrorCode::kInvalidInput,
                  "the ranks have no step in common; expected traces of the "
                  "same steps");
    }
  }
  std::vector<uint32_t> chosen;
  for (size_t i = 0; i < ranks.size(); ++i) {
    const auto found =
        number ? std::ranges::find(choices[i], *number, &Choice::number)
               : choices[i].end();
    const bool has = found != choices[i].end();
    if (!has && (ranks[i].profiler || !choices[i].empty())) {
      return Fail(
          ErrorCode::kInvalidInput,
          fmt::format("{}: has no step {}; expected one of {}",
                      ranks[i].paths.front(), *number, KnownSteps(choices[i])));
    }
    chosen.push_back(has ? static_cast<uint32_t>(found - choices[i].begin())
                         : kNoEvent);
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

#include "trace/link/find_steps.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "trace/read/oddities.h"

namespace stepcast::trace {
namespace {

// A step as far as choosing one goes.
struct Choice {
  int64_t number = -1;
  int64_t length = 0;    // Nanoseconds, or ops of an execution trace.
  bool follows = false;  // Another one: its length is a distance.
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

// By step: when the host and all that it had launched were done.
std::vector<Duration> EndsOf(const LinkedTrace& linked) {
  std::vector<Duration> ends;
  for (const Step& step : linked.steps) {
    ends.push_back(step.end());
  }
  for (size_t i = 0; i < linked.trace.device_events.size(); ++i) {
    const uint32_t call = linked.activity_call[i];
    if (call == kNoEvent) {
      continue;
    }
    const Duration launched = linked.trace.runtime_events[call].start;
    const auto next =
        std::ranges::upper_bound(linked.steps, launched, {}, &Step::start);
    if (next != linked.steps.begin() && launched < std::prev(next)->end()) {
      const DeviceEvent& event = linked.trace.device_events[i];
      Duration& end =
          ends[static_cast<size_t>(next - linked.steps.begin()) - 1];
      end = std::max(end, event.start + event.duration);
    }
  }
  return ends;
}

// A step is as long as the ends of it and of the step before are apart; the
// first, as the host took. Where the host runs ahead, its part says little.
std::vector<Choice> ChoicesOf(const RankTrace& rank) {
  std::vector<Choice> choices;
  if (rank.profiler) {
    const std::vector<bool> empty = FindEmpty(*rank.profiler);
    const std::vector<Duration> ends = EndsOf(*rank.profiler);
    for (size_t i = 0; i < ends.size(); ++i) {
      const Step& step = rank.profiler->steps[i];
      const bool follows =
          i > 0 && rank.profiler->steps[i - 1].number + 1 == step.number;
      const Duration length = follows ? ends[i] - ends[i - 1] : step.duration;
      choices.push_back({.number = step.number,
                         .length = length.count(),
                         .follows = follows,
                         .empty = empty[i]});
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

// The number of the step of median length among those all ranks have; the
// first of the recording and those without ops only where there are no others.
std::optional<int64_t> MedianStep(std::span<const std::vector<Choice>> ranks) {
  struct Candidate {
    int64_t longest = 0;
    size_t ranks = 0;
    bool first = false;  // What came before is not known.
    bool empty = false;
  };
  std::map<int64_t, Candidate> candidates;
  for (const std::vector<Choice>& choices : ranks) {
    for (const Choice& choice : choices) {
      Candidate& candidate = candidates[choice.number];
      candidate.longest = std::max(candidate.longest, choice.length);
      candidate.first = candidate.first || !choice.follows;
      candidate.empty = candidate.empty || choice.empty;
      ++candidate.ranks;
    }
  }
  // The worst sort last.
  using Key = std::tuple<bool, bool, int64_t, int64_t>;
  std::vector<Key> common;
  for (const auto& [number, candidate] : candidates) {
    if (candidate.ranks >= ranks.size()) {
      common.emplace_back(candidate.empty, candidate.first, candidate.longest,
                          number);
    }
  }
  if (common.empty()) {
    return std::nullopt;
  }
  std::ranges::sort(common);
  const auto alike = [&](const Key& key) {
    return std::get<0>(key) == std::get<0>(common.front()) &&
           std::get<1>(key) == std::get<1>(common.front());
  };
  const auto count = static_cast<size_t>(std::ranges::count_if(common, alike));
  return std::get<3>(common[(count - 1) / 2]);
}

}  // namespace

std::map<int64_t, Duration> StepDistances(std::span<const RankTrace> ranks) {
  std::map<int64_t, std::pair<size_t, Duration>> found;  // On so many ranks.
  for (const RankTrace& rank : ranks) {
    for (const Choice& choice : ChoicesOf(rank)) {
      if (rank.profiler && choice.follows) {
        auto& [count, longest] = found[choice.number];
        ++count;
        longest = std::max(longest, Duration(choice.length));
      }
    }
  }
  std::map<int64_t, Duration> distances;
  for (const auto& [number, distance] : found) {
    if (distance.first == ranks.size()) {
      distances.emplace(number, distance.second);
    }
  }
  return distances;
}

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
    const uint32_t call = linked.activity_call[i];
    const bool launched = call != kNoEvent && in_window[call];
    const bool left_over =
        (call == kNoEvent || trace.runtime_events[call].start < step.start) &&
        event.start < step.end() && event.start + event.duration > step.start;
    if (launched || left_over) {
      window.activities.push_back(i);
    }
  }
  return window;
}

namespace {

// The numbers of a rank's steps, in their order.
std::vector<int64_t> NumbersOf(const RankTrace& rank) {
  std::vector<int64_t> numbers;
  if (rank.profiler) {
    for (const Step& step : rank.profiler->steps) {
      numbers.push_back(step.number);
    }
  } else if (rank.execution) {
    for (const ExecutionStep& step : rank.execution->steps) {
      numbers.push_back(step.number);
    }
  }
  return numbers;
}

}  // namespace

Result<std::optional<int64_t>> StepNumber(std::span<const RankTrace> ranks,
                                          std::optional<int64_t> wanted) {
  ASSIGN_OR_RETURN(const std::vector<uint32_t> steps,
                   ChooseStep(ranks, wanted));
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (steps[i] != kNoEvent) {
      return NumbersOf(ranks[i])[steps[i]];
    }
  }
  if (wanted) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("step {} is not there: no trace numbers its steps",
                            *wanted));
  }
  return std::nullopt;
}

std::vector<std::optional<int64_t>> CommonSteps(
    std::span<const RankTrace> ranks) {
  std::vector<std::vector<int64_t>> numbered;  // Of ranks that have some.
  for (const RankTrace& rank : ranks) {
    numbered.push_back(NumbersOf(rank));
  }
  std::erase_if(numbered, [](const auto& numbers) { return numbers.empty(); });
  std::vector<std::optional<int64_t>> common;
  const std::vector<int64_t> first =
      numbered.empty() ? std::vector<int64_t>() : numbered.front();
  for (const int64_t number : first) {
    const bool everywhere =
        std::ranges::all_of(numbered, [&](const auto& numbers) {
          return std::ranges::find(numbers, number) != numbers.end();
        });
    if (everywhere && std::ranges::find(common, number) == common.end()) {
      common.emplace_back(number);
    }
  }
  return common;
}

namespace {

// For every distinct name: whether a rule holds for it. Names repeat.
template <typename Rule>
std::vector<bool> NamesWhere(const LinkedTrace& linked, Rule rule) {
  const StringPool& strings = linked.trace.strings;
  std::vector<bool> answer(strings.size());
  std::vector<bool> asked(strings.size());
  for (const HostEvent& event : linked.trace.host_events) {
    if (!asked[event.name.value]) {
      asked[event.name.value] = true;
      answer[event.name.value] = rule(strings.view(event.name));
    }
  }
  return answer;
}

bool FindMarkedSteps(LinkedTrace& linked, const Rules& rules) {
  const auto is_step = NamesWhere(
      linked, [&](std::string_view name) { return rules.IsStep(name); });
  const auto& events = linked.trace.host_events;
  for (uint32_t i = 0; i < events.size(); ++i) {
    if (is_step[events[i].name.value]) {
      linked.steps.push_back(
          {.number = StepNumberIn(linked.trace.strings.view(events[i].name)),
           .marker = i,
           .thread = events[i].thread,
           .start = events[i].start,
           .duration = events[i].duration});
    }
  }
  std::ranges::stable_sort(linked.steps, {}, &Step::start);
  return !linked.steps.empty();
}

// The name that ends steps: the one seen most often; of several in every step,
// the one that comes last.
StringId StepEndName(const LinkedTrace& linked,
                     const std::vector<bool>& is_end) {
  struct Seen {
    int64_t count = 0;
    Duration first{};
  };
  std::vector<Seen> seen(linked.trace.strings.size());
  StringId best{};
  const auto better = [&](StringId a, StringId b) {
    const Seen& left = seen[a.value];
    const Seen& right = seen[b.value];
    return left.count != right.count ? left.count > right.count
                                     : left.first > right.first;
  };
  for (const HostEvent& event : linked.trace.host_events) {
    if (is_end[event.name.value]) {
      Seen& entry = seen[event.name.value];
      entry.first = entry.count == 0 ? event.start : entry.first;
      ++entry.count;
    }
  }
  for (uint32_t name = 0; name < seen.size(); ++name) {
    if (seen[name].count > 0 &&
        (!best.valid() || better(StringId{name}, best))) {
      best = StringId{name};
    }
  }
  return best;
}

bool FindStepEnds(LinkedTrace& linked, const Rules& rules) {
  const auto is_end = NamesWhere(
      linked, [&](std::string_view name) { return rules.IsStepEnd(name); });
  const StringId name = StepEndName(linked, is_end);
  if (!name.valid()) {
    return false;
  }
  const auto& events = linked.trace.host_events;
  std::vector<uint32_t> ends;
  Duration begin = Duration::max();
  for (uint32_t i = 0; i < events.size(); ++i) {
    if (events[i].name == name) {
      ends.push_back(i);
    }
    begin = std::min(begin, events[i].start);
  }
  std::ranges::stable_sort(ends, {}, [&](uint32_t i) {
    return events[i].start + events[i].duration;
  });
  for (const uint32_t i : ends) {
    const Duration end = events[i].start + events[i].duration;
    linked.steps.push_back({.number = static_cast<int64_t>(linked.steps.size()),
                            .marker = i,
                            .thread = events[i].thread,
                            .start = begin,
                            .duration = end - begin});
    begin = end;
  }
  return true;
}

void TakeWholeTrace(LinkedTrace& linked) {
  Duration begin = Duration::max();
  Duration end = Duration::min();
  const auto extend = [&](const auto& events) {
    for (const auto& event : events) {
      begin = std::min(begin, event.start);
      end = std::max(end, event.start + event.duration);
    }
  };
  extend(linked.trace.host_events);
  extend(linked.trace.runtime_events);
  extend(linked.trace.device_events);
  if (begin <= end) {
    const uint32_t thread = linked.trace.host_events.empty()
                                ? 0
                                : linked.trace.host_events.front().thread;
    linked.steps.push_back(
        {.thread = thread, .start = begin, .duration = end - begin});
  }
}

}  // namespace

int64_t StepNumberIn(std::string_view name) {
  const size_t mark = name.rfind('#');
  if (mark == std::string_view::npos) {
    return -1;
  }
  const std::string_view digits = name.substr(mark + 1);
  const char* end = digits.data() + digits.size();
  int64_t number = -1;
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  return error == std::errc() && stop == end ? number : -1;
}

void FindSteps(LinkedTrace& linked, const Rules& rules,
               Diagnostics& diagnostics) {
  linked.steps_marked = FindMarkedSteps(linked, rules);
  if (linked.steps_marked || FindStepEnds(linked, rules)) {
    return;
  }
  diagnostics.Add(kNoSteps);
  TakeWholeTrace(linked);
}

}  // namespace stepcast::trace

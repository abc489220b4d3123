#include "ingest/find_steps.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "ingest/oddities.h"

namespace stepcast::ingest {
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

}  // namespace stepcast::ingest

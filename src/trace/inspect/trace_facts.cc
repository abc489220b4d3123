#include "trace/inspect/trace_facts.h"

#include <algorithm>
#include <set>
#include <unordered_set>
#include <utility>
#include <variant>

#include "base/check.h"
#include "base/stats.h"

namespace stepcast::trace {
namespace {

Interval IntervalOf(const DeviceEvent& event) {
  return {.start = event.start, .end = event.start + event.duration};
}

// The time of `covered` (a union: sorted and disjoint) inside the window.
Duration Overlap(const std::vector<Interval>& covered, const Interval& window) {
  auto at = std::ranges::upper_bound(covered, window.start, {}, &Interval::end);
  Duration sum{};
  for (; at != covered.end() && at->start < window.end; ++at) {
    sum += std::min(at->end, window.end) - std::max(at->start, window.start);
  }
  return sum;
}

// "ProfilerStep#12" without its number.
std::string WithoutNumber(std::string_view name) {
  const size_t mark = name.rfind('#');
  const bool numbered =
      mark != std::string_view::npos && mark + 1 < name.size() &&
      name.find_first_not_of("0123456789", mark + 1) == std::string_view::npos;
  return std::string(numbered ? name.substr(0, mark) : name);
}

void FindSteps(const LinkedTrace& linked, const std::vector<Interval>& busy,
               TraceFacts& facts) {
  if (linked.steps.empty()) {
    return;
  }
  const uint32_t marker = linked.steps.front().marker;
  if (marker != kNoEvent) {
    facts.step_source =
        linked.steps_marked ? StepSource::kMarked : StepSource::kStepEnd;
    facts.step_marker = WithoutNumber(
        linked.trace.strings.view(linked.trace.host_events[marker].name));
  }
  const Duration first = linked.steps.front().start;
  for (const Step& step : linked.steps) {
    facts.steps.push_back(
        {.number = step.number,
         .start = step.start - first,
         .duration = step.duration,
         .busy = Overlap(busy, {.start = step.start, .end = step.end()})});
  }
}

void CountHost(const ProfilerTrace& trace, TraceFacts& facts) {
  std::vector<bool> has_ops(trace.threads.size());
  for (const HostEvent& event : trace.host_events) {
    if (event.kind == HostEventKind::kAnnotation) {
      ++facts.annotations;
      continue;
    }
    ++facts.ops;
    has_ops[event.thread] = true;
    const bool has_dims =
        event.arguments >= 0 &&
        trace.arguments[static_cast<size_t>(event.arguments)].dims !=
            StringPool::kEmpty;
    facts.ops_with_shapes += has_dims ? 1 : 0;
  }
  facts.threads_with_ops = std::ranges::count(has_ops, true);
  facts.runtime_calls = static_cast<int64_t>(trace.runtime_events.size());
  facts.sync_events = static_cast<int64_t>(trace.sync_events.size());
}

void CountDevice(const LinkedTrace& linked, TraceFacts& facts) {
  std::set<std::pair<int32_t, int64_t>> streams;
  for (const DeviceEvent& event : linked.trace.device_events) {
    streams.insert({event.device, event.stream});
    ++(event.kind == DeviceEventKind::kKernel ? facts.kernels : facts.copies);
  }
  facts.streams = static_cast<int64_t>(streams.size());
  facts.orphans = std::ranges::count(linked.activity_call, kNoEvent);
}

ExternalIds FindExternalIds(const ProfilerTrace& trace) {
  const auto& events = trace.device_events;
  ExternalIds ids{.is_correlation =
                      !events.empty() &&
                      std::ranges::all_of(events, [](const DeviceEvent& event) {
                        return event.external_id >= 0 &&
                               event.external_id == event.correlation;
                      })};
  std::unordered_set<int64_t> op_ids;
  for (const HostEvent& event : trace.host_events) {
    if (event.kind == HostEventKind::kOp && event.external_id >= 0) {
      op_ids.insert(event.external_id);
    }
  }
  ids.linked = std::ranges::count_if(events, [&](const DeviceEvent& event) {
    return op_ids.contains(event.external_id);
  });
  return ids;
}

std::vector<NamedCount> ListSkipped(const SkippedEvents& skipped) {
  std::vector<NamedCount> list = {
      {.name = "flows", .count = skipped.flows},
      {.name = "metadata", .count = skipped.metadata},
      {.name = "instants", .count = skipped.instants},
      {.name = "counters", .count = skipped.counters},
      {.name = "python_functions", .count = skipped.python},
      {.name = "gpu_annotations", .count = skipped.gpu_annotations},
      {.name = "other", .count = skipped.other}};
  std::erase_if(list, [](const NamedCount& kind) { return kind.count == 0; });
  return list;
}

}  // namespace

std::string_view Name(StepSource source) {
  switch (source) {
    case StepSource::kMarked:
      return "marked";
    case StepSource::kStepEnd:
      return "step_end";
    case StepSource::kWholeTrace:
      break;
  }
  return "whole_trace";
}

TraceFacts FindTraceFacts(const LinkedTrace& linked,
                          const Classification& classified) {
  const auto& events = linked.trace.device_events;
  CHECK(classified.shape_of.size() == events.size());
  std::vector<Interval> all;
  std::vector<Interval> collectives;
  Duration begin = Duration::max();
  Duration end = Duration::min();
  for (size_t i = 0; i < events.size(); ++i) {
    const Interval interval = IntervalOf(events[i]);
    all.push_back(interval);
    if (std::holds_alternative<ir::Collective>(classified.of(i))) {
      collectives.push_back(interval);
    }
    begin = std::min(begin, interval.start);
    end = std::max(end, interval.end);
  }
  const std::vector<Interval> busy = Union(std::move(all));
  TraceFacts facts{
      .span = events.empty() ? Duration{} : end - begin,
      .busy = TotalLength(busy),
      .collective_busy = TotalLength(Union(std::move(collectives))),
      .external_ids = FindExternalIds(linked.trace),
      .skipped = ListSkipped(linked.trace.skipped)};
  FindSteps(linked, busy, facts);
  CountHost(linked.trace, facts);
  CountDevice(linked, facts);
  return facts;
}

}  // namespace stepcast::trace

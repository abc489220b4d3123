#include "trace/build/phases.h"

#include <algorithm>
#include <optional>

#include "base/text/text_table.h"
#include "trace/read/oddities.h"

namespace stepcast::trace {
namespace {

constexpr uint32_t kTop = 0xFFFFFFFF;

// Asks the rules once for each distinct name.
class PhaseOfName {
 public:
  PhaseOfName(const StringPool& strings, const Rules& rules)
      : strings_(strings), rules_(rules), known_(strings.size()) {}

  std::optional<ir::Phase> Find(StringId name) {
    auto& entry = known_[name.value];
    if (!entry.asked) {
      entry = {.asked = true, .phase = rules_.FindPhase(strings_.view(name))};
    }
    return entry.phase;
  }

 private:
  struct Entry {
    bool asked = false;
    std::optional<ir::Phase> phase{};
  };

  const StringPool& strings_;
  const Rules& rules_;
  std::vector<Entry> known_;
};

}  // namespace

std::vector<PhaseInput> PhaseInputs(const LinkedTrace& linked) {
  std::vector<PhaseInput> inputs;
  inputs.reserve(linked.trace.host_events.size());
  for (size_t i = 0; i < linked.trace.host_events.size(); ++i) {
    const HostEvent& event = linked.trace.host_events[i];
    inputs.push_back({.name = event.name,
                      .thread = event.thread,
                      .parent = linked.parent[i],
                      .sequence = event.sequence,
                      .is_op = event.kind == HostEventKind::kOp});
  }
  return inputs;
}

std::vector<bool> FindAutogradThreads(const std::vector<PhaseInput>& events,
                                      const StringPool& strings,
                                      const Rules& rules,
                                      uint32_t thread_count) {
  struct Counts {
    int64_t ops = 0;
    int64_t backward = 0;
    int64_t forward = 0;
  };
  std::vector<Counts> counts(thread_count);
  PhaseOfName phase_of(strings, rules);
  for (const PhaseInput& event : events) {
    const bool top_op =
        event.is_op && (event.parent == kTop || !events[event.parent].is_op);
    if (top_op && event.thread < thread_count) {
      Counts& count = counts[event.thread];
      const bool backward = phase_of.Find(event.name) == ir::Phase::kBackward;
      ++count.ops;
      count.backward += backward ? 1 : 0;
      count.forward += !backward && event.sequence >= 0 ? 1 : 0;
    }
  }
  std::vector<bool> autograd(thread_count);
  for (uint32_t i = 0; i < thread_count; ++i) {
    autograd[i] =
        counts[i].backward * 2 > counts[i].ops && counts[i].forward == 0;
  }
  return autograd;
}

void CountRangesWithoutPhase(const std::vector<PhaseInput>& events,
                             const StringPool& strings, const Rules& rules,
                             Diagnostics& diagnostics) {
  constexpr uint32_t kNone = kTop;
  std::vector<uint32_t> range(events.size(), kNone);  // The innermost around.
  bool any = false;
  for (uint32_t i = 0; i < events.size(); ++i) {
    const PhaseInput& event = events[i];
    if (!event.is_op && rules.IsFrameworkRange(strings.view(event.name))) {
      range[i] = i;
      any = true;
    } else if (event.parent != kTop) {
      range[i] = range[event.parent];
    }
  }
  if (!any) {
    return;
  }
  const std::vector<ir::Phase> phases = FindPhases(events, strings, rules);
  std::vector<bool> counted(events.size());
  for (uint32_t i = 0; i < events.size(); ++i) {
    if (events[i].is_op && phases[i] == ir::Phase::kUnknown &&
        range[i] != kNone && !counted[range[i]]) {
      counted[range[i]] = true;
      diagnostics.Add(kRangeWithoutPhase,
                      Printable(strings.view(events[range[i]].name)));
    }
  }
}

std::vector<ir::Phase> FindPhases(const std::vector<PhaseInput>& events,
                                  const StringPool& strings,
                                  const Rules& rules) {
  uint32_t thread_count = 0;
  for (const PhaseInput& event : events) {
    thread_count = std::max(thread_count, event.thread + 1);
  }
  const auto autograd =
      FindAutogradThreads(events, strings, rules, thread_count);
  PhaseOfName phase_of(strings, rules);
  std::vector<ir::Phase> phases(events.size(), ir::Phase::kUnknown);
  for (size_t i = 0; i < events.size(); ++i) {
    const PhaseInput& event = events[i];
    const auto named = phase_of.Find(event.name);
    if (named) {
      phases[i] = *named;
    } else if (event.parent != kTop &&
               phases[event.parent] != ir::Phase::kUnknown) {
      phases[i] = phases[event.parent];
    } else if (autograd[event.thread]) {
      phases[i] = ir::Phase::kBackward;
    } else if (event.sequence >= 0) {
      phases[i] = ir::Phase::kForward;
    }
  }
  return phases;
}

}  // namespace stepcast::trace

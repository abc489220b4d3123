#include "tests/testing/check_linked.h"

#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace stepcast::testing {
namespace {

using trace::kNoEvent;
using trace::LinkedTrace;
using trace::ProfilerTrace;

bool IsText(StringId id, const ProfilerTrace& trace) {
  return id.value < trace.strings.size();
}

template <typename Event>
bool HasTimes(const Event& event) {
  return event.start >= Duration{} && event.duration >= Duration{} &&
         event.start + event.duration >= event.start;
}

std::string FindInHostEvents(const LinkedTrace& linked) {
  const ProfilerTrace& trace = linked.trace;
  const auto arguments = static_cast<int64_t>(trace.arguments.size());
  for (size_t i = 0; i < trace.host_events.size(); ++i) {
    const auto& event = trace.host_events[i];
    const uint32_t parent = linked.parent[i];
    if (!HasTimes(event) || !IsText(event.name, trace) ||
        event.thread >= trace.threads.size() || event.arguments < -1 ||
        event.arguments >= arguments) {
      return fmt::format("host event {} refers to nothing", i);
    }
    if (parent != kNoEvent &&
        (parent >= i || trace.host_events[parent].thread != event.thread ||
         trace.host_events[parent].start > event.start)) {
      return fmt::format("host event {} has the parent {}", i, parent);
    }
    if (i > 0 && (trace.host_events[i - 1].thread > event.thread ||
                  (trace.host_events[i - 1].thread == event.thread &&
                   trace.host_events[i - 1].start > event.start))) {
      return fmt::format("host event {} is out of order", i);
    }
  }
  return {};
}

std::string FindInCalls(const LinkedTrace& linked) {
  const ProfilerTrace& trace = linked.trace;
  for (size_t i = 0; i < trace.runtime_events.size(); ++i) {
    const auto& call = trace.runtime_events[i];
    const uint32_t op = linked.call_op[i];
    if (!HasTimes(call) || !IsText(call.name, trace) ||
        call.thread >= trace.threads.size()) {
      return fmt::format("call {} refers to nothing", i);
    }
    if (op != kNoEvent && (op >= trace.host_events.size() ||
                           trace.host_events[op].thread != call.thread ||
                           trace.host_events[op].start > call.start)) {
      return fmt::format("call {} is in op {}", i, op);
    }
  }
  return {};
}

std::string FindInActivity(const LinkedTrace& linked) {
  const ProfilerTrace& trace = linked.trace;
  for (size_t i = 0; i < trace.device_events.size(); ++i) {
    const auto& activity = trace.device_events[i];
    const uint32_t call = linked.activity_call[i];
    if (!HasTimes(activity) || !IsText(activity.name, trace) ||
        activity.device < 0 || !IsText(activity.grid, trace) ||
        !IsText(activity.block, trace) || !IsText(activity.collective, trace)) {
      return fmt::format("device event {} refers to nothing", i);
    }
    if (call != kNoEvent &&
        (call >= trace.runtime_events.size() ||
         trace.runtime_events[call].correlation != activity.correlation)) {
      return fmt::format("device event {} is tied to call {}", i, call);
    }
  }
  return {};
}

std::string FindInSteps(const LinkedTrace& linked) {
  for (size_t i = 0; i < linked.steps.size(); ++i) {
    const trace::Step& step = linked.steps[i];
    const bool is_marked =
        step.marker != kNoEvent && step.marker < linked.parent.size();
    if (!HasTimes(step) || (step.marker != kNoEvent && !is_marked)) {
      return fmt::format("step {} refers to nothing", i);
    }
    if (i > 0 && linked.steps[i - 1].start > step.start) {
      return fmt::format("step {} is out of order", i);
    }
  }
  return {};
}

}  // namespace

std::string FindBrokenLink(const LinkedTrace& linked) {
  const ProfilerTrace& trace = linked.trace;
  if (linked.parent.size() != trace.host_events.size() ||
      linked.call_op.size() != trace.runtime_events.size() ||
      linked.activity_call.size() != trace.device_events.size()) {
    return "a list of links is too long or too short";
  }
  for (const auto& arguments : trace.arguments) {
    if (!IsText(arguments.dims, trace) || !IsText(arguments.types, trace) ||
        !IsText(arguments.values, trace) ||
        !IsText(arguments.collective, trace)) {
      return "arguments refer to nothing";
    }
  }
  for (const auto find :
       {FindInHostEvents, FindInCalls, FindInActivity, FindInSteps}) {
    if (std::string wrong = find(linked); !wrong.empty()) {
      return wrong;
    }
  }
  return {};
}

}  // namespace stepcast::testing

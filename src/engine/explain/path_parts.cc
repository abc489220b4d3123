#include "engine/explain/path_parts.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace stepcast::engine {

std::string ShortOpName(std::string_view name) {
  constexpr std::array<std::string_view, 2> kEngine = {
      "autograd::engine::evaluate_function: ", "torch::autograd::"};
  for (const std::string_view prefix : kEngine) {
    if (name.starts_with(prefix) && name.size() > prefix.size()) {
      name.remove_prefix(prefix.size());
    }
  }
  return std::string(name);
}

std::string ShortActivityName(std::string_view name) {
  constexpr std::string_view kReturned = "void ";
  constexpr std::string_view kUnnamed = "(anonymous namespace)::";
  if (name.starts_with("Memcpy") || name.starts_with("Memset")) {
    return std::string(name);
  }
  const std::string_view whole = name;
  if (name.starts_with(kReturned)) {
    name.remove_prefix(kReturned.size());
  }
  // Up to the template's or the function's arguments, from the last space on.
  size_t end = 0;
  size_t begin = 0;
  while (end < name.size() && name[end] != '<') {
    if (name.substr(end).starts_with(kUnnamed)) {
      end += kUnnamed.size();
      begin = end;
    } else if (name.substr(end).starts_with("::")) {
      end += 2;
      begin = end;
    } else if (name[end] == '(') {
      break;
    } else {
      ++end;
    }
  }
  const std::string_view found = name.substr(begin, end - begin);
  return std::string(found.empty() ? whole : found);
}

namespace {

using sim::PathStep;
using timeline::TaskOrigin;

PathSubject OfSegment(const ir::GraphData& data,
                      const timeline::HostSegment& segment, bool returning) {
  const StringId op =
      segment.op.valid() ? data.ops[segment.op].name : StringPool::kEmpty;
  switch (segment.kind) {
    case cost::HostKind::kCall:
      return {.kind = returning ? PathKind::kSync : PathKind::kHost,
              .phrase = returning ? PathPhrase::kReturning : PathPhrase::kIn,
              .name = data.calls[segment.call].name};
    case cost::HostKind::kBetweenOps:
      return {.phrase = segment.op.valid() ? PathPhrase::kBefore
                                           : PathPhrase::kBetweenOps,
              .name = op};
    case cost::HostKind::kHandoff:
      return {.phrase = PathPhrase::kBetweenThreads};
    default:
      return {.name = op};
  }
}

PathSubject OfTask(const ir::GraphData& data, const timeline::HostPlan& plan,
                   const TaskOrigin& origin) {
  if (origin.kind == TaskOrigin::Kind::kStart) {
    return {.kind = PathKind::kWait, .phrase = PathPhrase::kStepStart};
  }
  if (origin.kind != TaskOrigin::Kind::kActivity) {
    return OfSegment(data, plan.threads[origin.thread][origin.segment],
                     origin.kind == TaskOrigin::Kind::kReturn);
  }
  const ir::Activity& activity = data.activities[origin.activity];
  switch (activity.kind) {
    case ir::ActivityKind::kKernel:
      return {.kind = PathKind::kKernel, .name = activity.name};
    case ir::ActivityKind::kMemcpy:
    case ir::ActivityKind::kMemset:
      return {.kind = PathKind::kCopy, .name = activity.name};
    case ir::ActivityKind::kCollective:
      break;
  }
  return {.kind = PathKind::kCollective, .name = activity.name};
}

// What held the task back until its release.
PathSubject OfRelease(const ir::GraphData& data, const TaskOrigin& origin) {
  PathPhrase phrase = PathPhrase::kStepBefore;
  if (origin.kind != TaskOrigin::Kind::kActivity) {
    phrase = data.threads[origin.thread].role == ir::ThreadRole::kMain
                 ? PathPhrase::kStepStart
                 : PathPhrase::kThreadStart;
  }
  return {.kind = PathKind::kWait, .phrase = phrase};
}

PathSubject OfDelay(const ir::GraphData& data, const TaskOrigin& origin,
                    timeline::Wait wait) {
  if (wait == timeline::Wait::kLaunch) {
    return {.kind = PathKind::kLaunch,
            .phrase = PathPhrase::kLaunching,
            .name = data.activities[origin.activity].name};
  }
  return {.kind = PathKind::kLaunch, .phrase = PathPhrase::kBetweenStreams};
}

PathSubject SubjectOf(const ir::GraphData& data, const timeline::HostPlan& plan,
                      const TaskOrigin& origin, const PathStep& step) {
  switch (step.kind) {
    case PathStep::Kind::kTask:
      return OfTask(data, plan, origin);
    case PathStep::Kind::kRelease:
      return OfRelease(data, origin);
    case PathStep::Kind::kGap:
      return {.kind = PathKind::kLaunch,
              .phrase = PathPhrase::kBetweenActivities};
    case PathStep::Kind::kDelay:
      break;
  }
  return OfDelay(data, origin, static_cast<timeline::Wait>(step.dependency));
}

}  // namespace

std::string_view Name(PathKind kind) {
  constexpr std::array<std::string_view, kPathKindCount> kNames = {
      "host", "launch", "kernel", "copy", "collective", "sync", "wait"};
  return kNames[static_cast<size_t>(kind)];
}

std::string Text(const ir::Graph& graph, const PathSubject& subject) {
  const bool device =
      subject.kind == PathKind::kLaunch || subject.kind == PathKind::kKernel ||
      subject.kind == PathKind::kCopy || subject.kind == PathKind::kCollective;
  const std::string name = device ? ShortActivityName(graph.text(subject.name))
                                  : ShortOpName(graph.text(subject.name));
  switch (subject.phrase) {
    case PathPhrase::kIn:
      return fmt::format("in {}", name);
    case PathPhrase::kBefore:
      return fmt::format("before {}", name);
    case PathPhrase::kBetweenOps:
      return "between ops";
    case PathPhrase::kBetweenThreads:
      return "between threads";
    case PathPhrase::kReturning:
      return fmt::format("returning from {}", name);
    case PathPhrase::kLaunching:
      return fmt::format("launching {}", name);
    case PathPhrase::kBetweenActivities:
      return "between activities";
    case PathPhrase::kBetweenStreams:
      return "between streams";
    case PathPhrase::kStepStart:
      return "before its step began";
    case PathPhrase::kThreadStart:
      return "before its thread started";
    case PathPhrase::kStepBefore:
      break;
  }
  return "after the previous step";
}

std::vector<PathPart> DescribePath(const ir::GraphData& data,
                                   const timeline::HostPlan& plan,
                                   const timeline::Lowered& lowered,
                                   std::span<const sim::PathStep> path) {
  std::vector<PathPart> parts;
  parts.reserve(path.size());
  for (const PathStep& step : path) {
    const TaskOrigin& origin = lowered.origins[step.task];
    parts.push_back({.subject = SubjectOf(data, plan, origin, step),
                     .rank = origin.rank,
                     .task = step.task,
                     .begin = step.begin,
                     .end = step.end});
  }
  return parts;
}

std::vector<PathPart> DescribePath(const StepResult& result) {
  return DescribePath(result.graph->data(), result.plan, result.lowered,
                      result.critical_path);
}

std::vector<PathPart> PathInStep(const StepResult& result) {
  const StepSpan span = result.slowest_span();
  std::vector<PathPart> parts = DescribePath(result);
  for (PathPart& part : parts) {
    part.begin = std::clamp(part.begin, span.begin, span.end);
    part.end = std::clamp(part.end, span.begin, span.end);
  }
  std::erase_if(parts,
                [](const PathPart& part) { return part.begin == part.end; });
  return parts;
}

}  // namespace stepcast::engine

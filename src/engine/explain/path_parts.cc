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

std::string ShortWorkName(std::string_view name) {
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

PathSubject OfPiece(const ir::GraphData& data, const timeline::HostPiece& piece,
                    bool returning) {
  const StringId op =
      piece.op.valid() ? data.ops[piece.op].name : StringPool::kEmpty;
  switch (piece.kind) {
    case cost::HostKind::kCall:
      return {.kind = returning ? PathKind::kSync : PathKind::kHost,
              .phrase = returning ? PathPhrase::kReturning : PathPhrase::kIn,
              .name = data.calls[piece.call].name};
    case cost::HostKind::kBetweenOps:
      return {.phrase = piece.op.valid() ? PathPhrase::kBefore
                                         : PathPhrase::kBetweenOps,
              .name = op};
    case cost::HostKind::kHandOver:
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
  if (origin.kind != TaskOrigin::Kind::kWork) {
    return OfPiece(data, plan.threads[origin.thread][origin.piece],
                   origin.kind == TaskOrigin::Kind::kReturn);
  }
  const ir::Work& work = data.works[origin.work];
  switch (work.kind) {
    case ir::WorkKind::kKernel:
      return {.kind = PathKind::kKernel, .name = work.name};
    case ir::WorkKind::kMemcpy:
    case ir::WorkKind::kMemset:
      return {.kind = PathKind::kCopy, .name = work.name};
    case ir::WorkKind::kCollective:
      break;
  }
  return {.kind = PathKind::kCollective, .name = work.name};
}

// What held the task back until its release.
PathSubject OfRelease(const ir::GraphData& data, const TaskOrigin& origin) {
  PathPhrase phrase = PathPhrase::kStepBefore;
  if (origin.kind != TaskOrigin::Kind::kWork) {
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
            .name = data.works[origin.work].name};
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
      return {.kind = PathKind::kLaunch, .phrase = PathPhrase::kBetweenWorks};
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
  const std::string name = device ? ShortWorkName(graph.text(subject.name))
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
    case PathPhrase::kBetweenWorks:
      return "between works";
    case PathPhrase::kBetweenStreams:
      return "between streams";
    case PathPhrase::kStepStart:
      return "before its step began";
    case PathPhrase::kThreadStart:
      return "before its thread started";
    case PathPhrase::kStepBefore:
      break;
  }
  return "behind the step before";
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

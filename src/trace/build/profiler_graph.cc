#include "trace/build/profiler_graph.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "trace/build/find_waits.h"
#include "trace/build/phases.h"
#include "trace/classify/request.h"
#include "trace/read/arguments.h"
#include "trace/read/oddities.h"

namespace stepcast::trace {
namespace {

Arguments ArgumentsOf(const ExecutionTrace& trace, uint32_t node) {
  return ParseArguments(trace.nodes[node].arguments, trace.strings);
}

}  // namespace

bool IsHostOnly(const ExecutionTrace& trace) {
  bool on_host = false;
  for (uint32_t i = 0; i < trace.nodes.size(); ++i) {
    const Arguments arguments = ArgumentsOf(trace, i);
    if (trace.nodes[i].kind == NodeKind::kDevice ||
        HasTensor(arguments.inputs, ir::Device::kGpu) ||
        HasTensor(arguments.outputs, ir::Device::kGpu)) {
      return false;
    }
    on_host = on_host || HasTensor(arguments.inputs, ir::Device::kCpu);
  }
  return on_host;
}

void KeepOutermost(const ExecutionTrace& trace, std::vector<bool>& launches) {
  // Parents come before their children.
  std::vector<bool> inside(trace.nodes.size());
  for (uint32_t i = 0; i < trace.nodes.size(); ++i) {
    const uint32_t parent = trace.nodes[i].parent;
    inside[i] = parent < i && (inside[parent] || launches[parent]);
    if (inside[i]) {
      launches[i] = false;
    }
  }
}

Arguments OnDevice(Arguments arguments) {
  for (std::vector<Argument>* list : {&arguments.inputs, &arguments.outputs}) {
    for (Argument& argument : *list) {
      for (ir::Tensor& tensor : argument.tensors) {
        tensor.device = ir::Device::kGpu;
      }
    }
  }
  return arguments;
}

std::optional<ir::Index> SparseUpdate(const ExecutionTrace& trace,
                                      uint32_t node) {
  const Arguments arguments = ArgumentsOf(trace, node);
  const ir::Tensor* table =
      arguments.inputs.empty() || arguments.inputs[0].tensors.empty()
          ? nullptr
          : arguments.inputs[0].tensors.data();
  if (table == nullptr || table->dims.size() != 2) {
    return std::nullopt;
  }
  for (uint32_t i = node + 1; i < trace.nodes.size(); ++i) {
    const ExecutionNode& child = trace.nodes[i];
    if (child.parent == node &&
        trace.strings.view(child.name) == "aten::_values") {
      const Arguments values = ArgumentsOf(trace, i);
      if (!values.outputs.empty() && !values.outputs[0].tensors.empty()) {
        const ir::Tensor& taken = values.outputs[0].tensors[0];
        return ir::Index{.elements = ElementCount(taken),
                         .source = ElementCount(*table),
                         .scatter = true,
                         .accumulate = true,
                         .slice = table->dims[1],
                         .dtype = table->dtype};
      }
    }
    if (child.parent < node || child.parent == ExecutionNode::kNoParent) {
      break;  // After the op.
    }
  }
  return std::nullopt;
}

namespace {

class ProfilerRankAdder {
 public:
  ProfilerRankAdder(const RankTrace& rank, const Step& step, const Rules& rules,
                    const ProfilerFacts& facts, ir::GraphBuilder& builder)
      : rank_(rank),
        linked_(*rank.profiler),
        trace_(linked_.trace),
        rules_(rules),
        facts_(facts),
        builder_(builder),
        window_(CutStep(linked_, step)),
        ids_{.ops = std::vector<ir::OpId>(trace_.host_events.size()),
             .calls = std::vector<ir::CallId>(trace_.runtime_events.size()),
             .activities =
                 std::vector<ir::ActivityId>(trace_.device_events.size())} {}

  AddedRank Run(Duration zero, Diagnostics& diagnostics) {
    AddRank(zero);
    AddThreads();
    AddOps();
    AddStreams();
    AddCalls(facts_.syncs, diagnostics);
    AddActivities();
    AddWaits(linked_, window_, kinds_, facts_.syncs, ids_, builder_);
    AddHostCollectives();
    return std::move(added_);
  }

 private:
  ir::Measured At(Duration start, Duration duration) const {
    return {.start = start - window_.step.start, .duration = duration};
  }

  void AddRank(Duration zero) {
    const TraceInfo& info = trace_.info;
    ir::Rank rank{.number = rank_.rank};
    // The device that ran the work, by number; else the only one there is.
    const int64_t used =
        window_.activities.empty()
            ? 0
            : trace_.device_events[window_.activities.front()].device;
    for (const DeviceInfo& device : info.devices) {
      if (device.number == used || info.devices.size() == 1) {
        rank.gpu = builder_.Intern(device.name);
      }
    }
    rank.step =
        ir::Measured{.start = info.base_time + window_.step.start - zero,
                     .duration = window_.step.duration};
    added_.rank = builder_.AddRank(rank);
  }

  void AddThreads() {
    std::vector<bool> used(trace_.threads.size());
    for (const uint32_t event : window_.host_events) {
      used[trace_.host_events[event].thread] = true;
    }
    for (const uint32_t call : window_.calls) {
      used[trace_.runtime_events[call].thread] = true;
    }
    threads_.resize(trace_.threads.size());
    for (uint32_t i = 0; i < trace_.threads.size(); ++i) {
      if (used[i]) {
        const bool is_main =
            !trace_.host_events.empty() && i == window_.step.thread;
        threads_[i] = builder_.AddThread(
            {.rank = added_.rank,
             .role = is_main              ? ir::ThreadRole::kMain
                     : facts_.autograd[i] ? ir::ThreadRole::kAutograd
                                          : ir::ThreadRole::kOther,
             .name = builder_.Intern(trace_.threads[i].thread)});
      }
    }
  }

  void AddOps() {
    ArgumentTable arguments(rank_);
    for (const uint32_t i : window_.host_events) {
      const HostEvent& event = trace_.host_events[i];
      ir::Op op{.name = builder_.Intern(trace_.strings.view(event.name)),
                .kind = event.kind == HostEventKind::kOp
                            ? ir::OpKind::kOp
                            : ir::OpKind::kAnnotation,
                .thread = threads_[event.thread],
                .phase = facts_.phases[i],
                .sequence = event.sequence,
                .measured = At(event.start, event.duration)};
      // A parent outside the window, as the step's own range, is none.
      if (linked_.parent[i] != kNoEvent) {
        op.parent = ids_.ops[linked_.parent[i]];
      }
      if (!facts_.places.of_events.empty()) {
        const PythonPlace place = facts_.places.of_events[i];
        op.modules = builder_.Intern(facts_.places.texts[place.modules]);
        op.site = builder_.Intern(facts_.places.texts[place.site]);
      }
      const Arguments* found = arguments.Find(i);
      ids_.ops[i] = found == nullptr
                        ? builder_.AddOp(op)
                        : builder_.AddOp(op, CopyTensors(found->inputs),
                                         CopyTensors(found->outputs));
    }
  }

  void AddStreams() {
    for (const uint32_t activity : window_.activities) {
      StreamOf(trace_.device_events[activity]);
    }
  }

  ir::StreamId StreamOf(const DeviceEvent& event) {
    const std::pair<int64_t, int64_t> key(event.device, event.stream);
    const auto found = ids_.streams.find(key);
    if (found != ids_.streams.end()) {
      return found->second;
    }
    const ir::StreamId id = builder_.AddStream(
        {.rank = added_.rank, .device = event.device, .number = event.stream});
    ids_.streams.emplace(key, id);
    return id;
  }

  void AddCalls(const SyncFacts& syncs, Diagnostics& diagnostics) {
    std::vector<bool> launches(trace_.runtime_events.size());
    for (const uint32_t activity : window_.activities) {
      if (linked_.activity_call[activity] != kNoEvent) {
        launches[linked_.activity_call[activity]] = true;
      }
    }
    kinds_.assign(trace_.runtime_events.size(), ir::CallKind::kOther);
    for (const uint32_t i : window_.calls) {
      const RuntimeEvent& event = trace_.runtime_events[i];
      const std::string_view name = trace_.strings.view(event.name);
      const CallRule* rule = rules_.FindCall(name);
      if (rule == nullptr) {
        diagnostics.Add(kUnknownCall, name);
      }
      kinds_[i] = rule != nullptr ? rule->kind : ir::CallKind::kOther;
      if (launches[i] && kinds_[i] != ir::CallKind::kGraphLaunch) {
        kinds_[i] = ir::CallKind::kLaunch;
      }
      if (!launches[i] && (rule == nullptr || !rule->relevant)) {
        continue;
      }
      ir::Call call{.name = builder_.Intern(name),
                    .kind = kinds_[i],
                    .thread = threads_[event.thread],
                    .measured = At(event.start, event.duration)};
      if (linked_.call_op[i] != kNoEvent) {
        call.op = ids_.ops[linked_.call_op[i]];
      }
      SetSync(syncs, i, call);
      ids_.calls[i] = builder_.AddCall(call);
    }
  }

  // What the profiler itself recorded about a waiting call.
  void SetSync(const SyncFacts& syncs, uint32_t index, ir::Call& call) {
    const auto found = syncs.of_call.find(index);
    if (found == syncs.of_call.end()) {
      return;
    }
    const SyncFact& fact = found->second;
    for (const auto& [key, id] : ids_.streams) {
      if (key.second == fact.stream) {
        call.stream = id;
      }
    }
    if (fact.record_call != kNoEvent) {
      call.event = ids_.calls[fact.record_call];
    }
  }

  void AddActivities() {
    std::vector<std::pair<Duration, LaunchedCollective>> collectives;
    for (const uint32_t i : window_.activities) {
      const DeviceEvent& event = trace_.device_events[i];
      const ir::KernelShape& shape = facts_.shapes.of(i);
      const auto* collective = std::get_if<ir::Collective>(&shape);
      ir::Activity activity{
          .name = builder_.Intern(trace_.strings.view(event.name)),
          .kind = collective != nullptr ? ir::ActivityKind::kCollective
                                        : ActivityKindOf(event.kind),
          .stream = StreamOf(event),
          .measured = At(event.start, event.duration)};
      const uint32_t call = linked_.activity_call[i];
      if (call != kNoEvent) {
        activity.call =
            ids_.calls[call];  // Invalid if launched before the step.
      }
      ids_.activities[i] = builder_.AddActivity(activity, shape);
      if (collective != nullptr && activity.call.valid()) {
        collectives.push_back(
            {trace_.runtime_events[call].start,
             {.activity = ids_.activities[i], .shape = *collective}});
      }
    }
    std::ranges::stable_sort(collectives, {},
                             [](const auto& entry) { return entry.first; });
    for (auto& [start, collective] : collectives) {
      added_.collectives.push_back(std::move(collective));
    }
  }

  // The op that contains a call of the host's own collectives.
  ir::OpId OpOf(uint32_t event) const {
    return event == kNoEvent ? ir::OpId() : ids_.ops[event];
  }

  // Each thread that runs collectives is a stream; they are asked for by a call
  // of no length, and waited for where the thread that asked pauses.
  void AddHostCollectives() {
    const HostCollectives& host = facts_.host_collectives;
    std::vector<ir::ActivityId> activities(host.list.size());
    std::map<uint32_t, ir::StreamId> streams;  // By thread.
    for (size_t i = 0; i < host.list.size(); ++i) {
      const HostCollective& item = host.list[i];
      if (!ids_.ops[item.op].valid()) {
        continue;
      }
      const HostEvent& range = trace_.host_events[item.range];
      const auto [stream, is_new] = streams.try_emplace(range.thread);
      if (is_new) {
        stream->second = builder_.AddStream(
            {.rank = added_.rank,
             .number = static_cast<int64_t>(streams.size()) - 1});
      }
      const ir::CallId call = builder_.AddCall(
          {.name = builder_.Intern("ask for a collective"),
           .kind = ir::CallKind::kLaunch,
           .thread = threads_[trace_.host_events[item.op].thread],
           .op = ids_.ops[item.op],
           .measured = At(item.asked, Duration{})});
      activities[i] = builder_.AddActivity(
          {.name = builder_.Intern(trace_.strings.view(range.name)),
           .kind = ir::ActivityKind::kCollective,
           .stream = stream->second,
           .call = call,
           .measured = At(item.start, item.end - item.start)},
          item.shape);
      added_.collectives.push_back(
          {.activity = activities[i], .shape = item.shape});
    }
    for (const HostPause& pause : host.pauses) {
      AddPause(pause, activities);
    }
  }

  void AddPause(const HostPause& pause,
                const std::vector<ir::ActivityId>& activities) {
    const bool inside = pause.start >= window_.step.start &&
                        pause.end <= window_.step.end() &&
                        threads_[pause.thread].valid();
    if (!inside || !activities[pause.collectives.front()].valid()) {
      return;
    }
    const ir::CallId call = builder_.AddCall(
        {.name = builder_.Intern("wait for a collective"),
         .kind = ir::CallKind::kStreamSync,
         .thread = threads_[pause.thread],
         .op = OpOf(pause.event),
         .measured = At(pause.start, pause.end - pause.start)});
    for (const uint32_t i : pause.collectives) {
      if (activities[i].valid()) {
        builder_.AddHostWait(
            {.before = activities[i], .call = call, .inferred = true});
      }
    }
  }

  static ir::ActivityKind ActivityKindOf(DeviceEventKind kind) {
    switch (kind) {
      case DeviceEventKind::kKernel:
        return ir::ActivityKind::kKernel;
      case DeviceEventKind::kMemcpy:
        return ir::ActivityKind::kMemcpy;
      case DeviceEventKind::kMemset:
        return ir::ActivityKind::kMemset;
    }
    return ir::ActivityKind::kKernel;
  }

  const RankTrace& rank_;
  const LinkedTrace& linked_;
  const ProfilerTrace& trace_;
  const Rules& rules_;
  const ProfilerFacts& facts_;
  ir::GraphBuilder& builder_;
  StepWindow window_;
  GraphIds ids_;
  AddedRank added_;
  std::vector<ir::ThreadId> threads_;
  std::vector<ir::CallKind> kinds_;
};

}  // namespace

ProfilerFacts ReadFacts(const RankTrace& rank, const Rules& rules) {
  const LinkedTrace& linked = *rank.profiler;
  const ProfilerTrace& trace = linked.trace;
  const std::vector<PhaseInput> inputs = PhaseInputs(linked);
  return {.phases = FindPhases(inputs, trace.strings, rules),
          .autograd =
              FindAutogradThreads(inputs, trace.strings, rules,
                                  static_cast<uint32_t>(trace.threads.size())),
          .syncs = ReadSyncs(linked),
          .places = FindPythonPlaces(linked),
          .shapes = ClassifyAll(rank, rules),
          .host_collectives = FindHostCollectives(rank, rules)};
}

AddedRank AddProfilerRank(const RankTrace& rank, const PlacedStep& placed,
                          const Rules& rules, const ProfilerFacts& facts,
                          ir::GraphBuilder& builder, Diagnostics& diagnostics) {
  return ProfilerRankAdder(rank, placed.step, rules, facts, builder)
      .Run(placed.zero, diagnostics);
}

}  // namespace stepcast::trace

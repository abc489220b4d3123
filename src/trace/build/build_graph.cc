#include "trace/build/build_graph.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/diagnostics.h"
#include "ir/graph_builder.h"
#include "trace/build/find_waits.h"
#include "trace/build/phases.h"
#include "trace/build/profiler_graph.h"
#include "trace/classify/classify.h"
#include "trace/classify/rules.h"
#include "trace/link/execution_steps.h"
#include "trace/link/find_steps.h"
#include "trace/link/link.h"
#include "trace/read/arguments.h"
#include "trace/read/layouts.h"
#include "trace/read/load.h"
#include "trace/read/oddities.h"

namespace stepcast::trace {
namespace {

// Puts one rank's execution trace into a graph.

// PyTorch's default stream in a trace with one device.
constexpr int64_t kDefaultStream = 7;

bool IsHostNode(const ExecutionNode& node) {
  return node.kind == NodeKind::kOp || node.kind == NodeKind::kAnnotation;
}

class ExecutionRankAdder {
 public:
  ExecutionRankAdder(const RankTrace& rank, const ExecutionStep* step,
                     const Rules& rules, ir::GraphBuilder& builder)
      : rank_(rank),
        execution_(*rank.execution),
        rules_(rules),
        builder_(builder),
        inside_(step != nullptr
                    ? NodesOf(execution_, *step)
                    : std::vector<bool>(execution_.nodes.size(), true)),
        ops_(execution_.nodes.size()),
        launches_(FindLaunchers(execution_, rules)),
        host_only_(IsHostOnly(execution_)),
        arguments_(execution_.nodes.size()) {}

  AddedRank Run() {
    added_.rank = builder_.AddRank({.number = rank_.rank});
    if (host_only_) {
      KeepOutermost(execution_, launches_);
      layouts_ = FindLayouts(execution_);
    }
    FindZero();
    AddThreads();
    AddOps();
    const bool linked =
        std::ranges::any_of(execution_.nodes, [](const ExecutionNode& node) {
          return node.kind == NodeKind::kDevice;
        });
    // Threads share streams, which run activities in the order they were
    // launched.
    for (const uint32_t i : OrderOfStart(execution_)) {
      if (!inside_[i]) {
        continue;
      }
      if (linked && execution_.nodes[i].kind == NodeKind::kDevice) {
        AddDeviceNode(i);
      } else if (!linked && launches_[i]) {
        AddExpectedActivities(i);
      }
    }
    return std::move(added_);
  }

 private:
  void FindZero() {
    for (uint32_t i = 0; i < execution_.nodes.size(); ++i) {
      const ExecutionNode& node = execution_.nodes[i];
      if (inside_[i] && node.start && IsHostNode(node)) {
        zero_ = std::min(zero_.value_or(*node.start), *node.start);
      }
    }
  }

  std::optional<ir::Measured> MeasuredOf(const ExecutionNode& node) const {
    if (!node.duration) {
      return std::nullopt;
    }
    ir::Measured measured{.duration = *node.duration};
    if (node.start) {
      measured.start = *node.start - zero_.value_or(Duration{});
    }
    return measured;
  }

  void AddThreads() {
    std::map<int64_t, uint32_t> numbers;
    for (const ExecutionNode& node : execution_.nodes) {
      if (IsHostNode(node)) {
        numbers.emplace(node.thread, 0);
      }
    }
    uint32_t count = 0;
    for (auto& [thread, number] : numbers) {
      number = count++;
    }
    const std::vector<PhaseInput> inputs = PhaseInputs(numbers);
    phases_ = FindPhases(inputs, execution_.strings, rules_);
    partners_ = FindPartners(inputs, execution_.strings, phases_, rules_);
    const auto autograd =
        FindAutogradThreads(inputs, execution_.strings, rules_, count);
    bool has_main = false;
    for (const auto& [thread, number] : numbers) {
      // Recorders number threads from the one that started them.
      const bool is_main = !autograd[number] && !has_main;
      has_main = has_main || is_main;
      threads_[thread] = builder_.AddThread(
          {.rank = added_.rank,
           .role = is_main            ? ir::ThreadRole::kMain
                   : autograd[number] ? ir::ThreadRole::kAutograd
                                      : ir::ThreadRole::kOther,
           .name = builder_.Intern(fmt::format("{}", thread))});
    }
  }

  // Nodes that are not host events stay in the list, so that positions agree.
  std::vector<PhaseInput> PhaseInputs(
      const std::map<int64_t, uint32_t>& numbers) const {
    std::vector<PhaseInput> inputs;
    inputs.reserve(execution_.nodes.size());
    for (const ExecutionNode& node : execution_.nodes) {
      PhaseInput input{.name = node.name,
                       .parent = node.parent,
                       .sequence = node.sequence,
                       .is_op = node.kind == NodeKind::kOp};
      if (const auto found = numbers.find(node.thread);
          found != numbers.end()) {
        input.thread = found->second;
      }
      if (node.kind == NodeKind::kRoot || node.kind == NodeKind::kDevice) {
        input.name = StringPool::kEmpty;
      }
      inputs.push_back(input);
    }
    return inputs;
  }

  const Arguments& ArgumentsOf(uint32_t node) {
    if (!arguments_[node]) {
      arguments_[node] =
          ParseArguments(execution_.nodes[node].arguments, execution_.strings);
    }
    return *arguments_[node];
  }

  void AddOps() {
    for (uint32_t i = 0; i < execution_.nodes.size(); ++i) {
      const ExecutionNode& node = execution_.nodes[i];
      if (!inside_[i] || !IsHostNode(node)) {
        continue;
      }
      ir::Op op{.name = builder_.Intern(execution_.strings.view(node.name)),
                .kind = node.kind == NodeKind::kOp ? ir::OpKind::kOp
                                                   : ir::OpKind::kAnnotation,
                .thread = threads_[node.thread],
                .phase = phases_[i],
                .sequence = node.sequence,
                .measured = MeasuredOf(node)};
      const bool has_parent = node.parent != ExecutionNode::kNoParent &&
                              IsHostNode(execution_.nodes[node.parent]);
      if (has_parent) {
        // A parent on another thread is only where the work came from.
        if (execution_.nodes[node.parent].thread == node.thread) {
          op.parent = ops_[node.parent];
        }
      }
      const Arguments& arguments = ArgumentsOf(i);
      ops_[i] = builder_.AddOp(op, CopyTensors(arguments.inputs),
                               CopyTensors(arguments.outputs));
    }
  }

  ir::StreamId StreamOf(int64_t number) {
    const auto found = streams_.find(number);
    if (found != streams_.end()) {
      return found->second;
    }
    const ir::StreamId id =
        builder_.AddStream({.rank = added_.rank, .number = number});
    streams_.emplace(number, id);
    return id;
  }

  // The launch that an op must have made; its own time is not recorded.
  ir::CallId AddLaunch(uint32_t node) {
    return builder_.AddCall({.name = builder_.Intern("launch"),
                             .kind = ir::CallKind::kLaunch,
                             .thread = threads_[execution_.nodes[node].thread],
                             .op = ops_[node]});
  }

  void AddActivity(std::string_view name, ir::Activity activity,
                   const ir::KernelShape& shape) {
    activity.name = builder_.Intern(name);
    const auto* collective = std::get_if<ir::Collective>(&shape);
    if (collective != nullptr) {
      activity.kind = ir::ActivityKind::kCollective;
    }
    const ir::ActivityId id = builder_.AddActivity(activity, shape);
    if (collective != nullptr) {
      added_.collectives.push_back({.activity = id, .shape = *collective});
    }
  }

  // The op and the ones around it, innermost first.
  std::vector<OpContext> ContextsOf(uint32_t op) {
    std::vector<OpContext> contexts;
    for (; op != ExecutionNode::kNoParent && contexts.size() < kMostLevels;
         op = execution_.nodes[op].parent) {
      if (IsHostNode(execution_.nodes[op])) {
        contexts.push_back(
            {.name = execution_.strings.view(execution_.nodes[op].name),
             .arguments = &ArgumentsOf(op)});
      }
    }
    return contexts;
  }

  // Of the op or, without one, of the nearest op around it.
  OpContext PartnerOf(uint32_t op) {
    for (; op != ExecutionNode::kNoParent; op = execution_.nodes[op].parent) {
      if (const uint32_t partner = partners_[op]; partner != kNoEvent) {
        return {.name = execution_.strings.view(execution_.nodes[partner].name),
                .arguments = &ArgumentsOf(partner)};
      }
    }
    return {};
  }

  void AddDeviceNode(uint32_t index) {
    const ExecutionNode& node = execution_.nodes[index];
    const std::vector<OpContext> contexts = ContextsOf(node.parent);
    const std::string_view name = execution_.strings.view(node.name);
    const DeviceFacts facts{
        .name = name,
        .kind = node.device_kind,
        .bytes = node.bytes,
        .collective = execution_.strings.view(node.arguments.collective),
        .partner = PartnerOf(node.parent),
        .world_size = execution_.info.world_size.value_or(0)};
    ir::Activity activity{
        .kind = node.device_kind == DeviceEventKind::kKernel
                    ? ir::ActivityKind::kKernel
                : node.device_kind == DeviceEventKind::kMemcpy
                    ? ir::ActivityKind::kMemcpy
                    : ir::ActivityKind::kMemset,
        .stream = StreamOf(node.stream < 0 ? kDefaultStream : node.stream),
        .measured = MeasuredOf(node)};
    if (node.parent != ExecutionNode::kNoParent && ops_[node.parent].valid()) {
      activity.call = AddLaunch(node.parent);
    }
    AddActivity(name, activity, ClassifyDevice(rules_, facts, contexts));
  }

  void AddExpectedActivities(uint32_t index) {
    const Arguments arguments =
        host_only_ ? OnDevice(ArgumentsOf(index)) : ArgumentsOf(index);
    if (!HasTensor(arguments.inputs, ir::Device::kGpu) &&
        !HasTensor(arguments.outputs, ir::Device::kGpu)) {
      return;
    }
    const std::string_view name =
        execution_.strings.view(execution_.nodes[index].name);
    const OpContext context{.name = name, .arguments = &arguments};
    std::vector<ir::KernelShape> shapes =
        ClassifyOp(rules_, context, PartnerOf(index),
                   execution_.info.world_size.value_or(0));
    if (const auto update =
            host_only_ ? SparseUpdate(execution_, index) : std::nullopt) {
      shapes = {*update};
    }
    for (ir::KernelShape& shape : shapes) {
      if (auto* product = std::get_if<ir::Gemm>(&shape);
          host_only_ && product) {
        product->transpose_a |= layouts_[index].a_transposed;
        product->transpose_b |= layouts_[index].b_transposed;
      }
      AddActivity(
          name, {.stream = StreamOf(kDefaultStream), .call = AddLaunch(index)},
          shape);
    }
  }

  const RankTrace& rank_;
  const ExecutionTrace& execution_;
  const Rules& rules_;
  ir::GraphBuilder& builder_;
  AddedRank added_;
  std::optional<Duration> zero_;
  std::vector<bool> inside_;  // By node: part of the step.
  std::vector<ir::OpId> ops_;
  std::vector<bool> launches_;
  bool host_only_;
  std::vector<FactorLayout> layouts_;  // If host_only_.
  std::vector<std::optional<Arguments>> arguments_;
  std::vector<ir::Phase> phases_;
  std::vector<uint32_t> partners_;
  std::map<int64_t, ir::ThreadId> threads_;
  std::map<int64_t, ir::StreamId> streams_;
};

AddedRank AddExecutionRank(const RankTrace& rank, const ExecutionStep* step,
                           const Rules& rules, ir::GraphBuilder& builder) {
  return ExecutionRankAdder(rank, step, rules, builder).Run();
}

// Finds which works on different ranks are one collective.

// How many collectives from the first on have the same kind on every rank.
size_t CommonLength(std::span<const AddedRank> ranks) {
  size_t length = ranks.front().collectives.size();
  for (const AddedRank& rank : ranks) {
    const auto& first = ranks.front().collectives;
    const auto& other = rank.collectives;
    length = std::min(length, other.size());
    for (size_t i = 0; i < length; ++i) {
      if (first[i].shape.kind != other[i].shape.kind) {
        length = i;
      }
    }
  }
  return length;
}

void MatchCollectives(std::span<const AddedRank> ranks,
                      ir::GraphBuilder& builder, Diagnostics& diagnostics) {
  if (ranks.size() < 2) {
    return;
  }
  const size_t length = CommonLength(ranks);
  for (size_t i = 0; i < length; ++i) {
    ir::MatchedCollective matched{.kind =
                                      ranks.front().collectives[i].shape.kind};
    for (const AddedRank& rank : ranks) {
      matched.activities.push_back(rank.collectives[i].activity);
    }
    builder.AddCollective(std::move(matched));
  }
  for (size_t i = 0; i < ranks.size(); ++i) {
    const size_t left = ranks[i].collectives.size() - length;
    if (left > 0) {
      diagnostics.Add(kUnmatchedCollective,
                      fmt::format("{} on the rank at place {}", left, i),
                      static_cast<int64_t>(left));
    }
  }
}

Duration EpochStart(const LinkedTrace& linked, uint32_t step) {
  return linked.trace.info.base_time + linked.steps[step].start;
}

}  // namespace

GraphMaker::GraphMaker(std::span<const RankTrace> ranks, const Rules& rules)
    : ranks_(ranks), rules_(rules), facts_(ranks.size()) {
  for (size_t i = 0; i < ranks_.size(); ++i) {
    if (ranks_[i].profiler) {
      facts_[i] = ReadFacts(ranks_[i], rules);
    }
  }
}

GraphMaker::~GraphMaker() = default;

Result<ir::Graph> GraphMaker::Make(const BuildOptions& options,
                                   Diagnostics& diagnostics) const {
  for (const RankTrace& rank : ranks_) {
    if (rank.graph && ranks_.size() == 1) {
      return *rank.graph;
    }
    if (rank.graph) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{}: a graph file holds all ranks already; give "
                              "it alone",
                              rank.paths.front()));
    }
  }
  ASSIGN_OR_RETURN(const std::vector<uint32_t> steps,
                   ChooseStep(ranks_, options.step));
  Duration zero = Duration::max();
  for (size_t i = 0; i < ranks_.size(); ++i) {
    if (ranks_[i].profiler) {
      zero = std::min(zero, EpochStart(*ranks_[i].profiler, steps[i]));
    }
  }
  ir::GraphBuilder builder;
  std::vector<AddedRank> added;
  for (size_t i = 0; i < ranks_.size(); ++i) {
    const RankTrace& rank = ranks_[i];
    if (rank.profiler) {
      builder.set_source(rank.profiler->trace.info.format);
      added.push_back(AddProfilerRank(
          rank, {.step = rank.profiler->steps[steps[i]], .zero = zero}, rules_,
          facts_[i], builder, diagnostics));
    } else {
      builder.set_source(rank.execution->info.format);
      const ExecutionStep* step =
          steps[i] == kNoEvent ? nullptr : &rank.execution->steps[steps[i]];
      added.push_back(AddExecutionRank(rank, step, rules_, builder));
    }
  }
  MatchCollectives(added, builder, diagnostics);
  return std::move(builder).Build();
}

Result<ir::Graph> BuildGraph(std::span<const RankTrace> ranks,
                             const Rules& rules, const BuildOptions& options,
                             Diagnostics& diagnostics) {
  return GraphMaker(ranks, rules).Make(options, diagnostics);
}

}  // namespace stepcast::trace

#include "trace/read/chakra/write_chakra.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/text/join.h"
#include "trace/read/chakra/chakra.pb.h"
#include "trace/read/chakra/chakra_nodes.h"
#include "trace/read/torch_et/parsed_node.h"

namespace stepcast::trace {
namespace {

struct CommType {
  std::string_view name{};  // As PyTorch calls it.
  std::optional<chakra::CollectiveType> type{};
};

CommType CommTypeOf(ir::CollectiveKind kind) {
  switch (kind) {
    case ir::CollectiveKind::kAllReduce:
      return {.name = "allreduce", .type = chakra::ALL_REDUCE};
    case ir::CollectiveKind::kAllToAll:
      return {.name = "all_to_all", .type = chakra::ALL_TO_ALL};
    case ir::CollectiveKind::kAllGather:
      return {.name = "all_gather", .type = chakra::ALL_GATHER};
    case ir::CollectiveKind::kReduceScatter:
      return {.name = "reduce_scatter", .type = chakra::REDUCE_SCATTER};
    case ir::CollectiveKind::kBroadcast:
      return {.name = "broadcast", .type = chakra::BROADCAST};
    case ir::CollectiveKind::kReduce:
      return {.name = "reduce", .type = chakra::REDUCE};
    case ir::CollectiveKind::kBarrier:
      return {.name = "barrier", .type = chakra::BARRIER};
    case ir::CollectiveKind::kSendRecv:
      return {.name = "send", .type = std::nullopt};
    case ir::CollectiveKind::kUnknown:
      break;
  }
  return {};
}

}  // namespace

void AddCollective(const ir::Collective& collective, chakra::Node& node) {
  const CommType comm = CommTypeOf(collective.kind);
  if (comm.type) {
    AddInteger("comm_type", *comm.type, node);
  }
  AddInteger("comm_size", collective.bytes.count, node);
  if (comm.name.empty()) {
    return;
  }
  AddText("collective_name", comm.name, node);
  AddText("dtype", TorchDType(collective.dtype), node);
  const int64_t element = std::max<int64_t>(1, ir::SizeOf(collective.dtype));
  AddInteger("in_msg_nelems", collective.bytes.count / element, node);
  const auto splits = [&](std::string_view name,
                          const std::vector<int64_t>& list) {
    AddText(name, fmt::format("[{}]", Join(list, ", ")), node);
  };
  splits("in_split_size", collective.send_splits);
  splits("out_split_size", collective.receive_splits);
  if (collective.group_size > 0) {
    AddInteger("pg_size", collective.group_size, node);
  }
}

namespace {

// What we write follows this version of Chakra and of PyTorch's schema.
constexpr std::string_view kChakraVersion = "0.0.4";
constexpr std::string_view kSchema = "1.1.1-chakra.0.0.4";

void AppendDelimited(const google::protobuf::MessageLite& message,
                     std::string& out) {
  uint64_t size = message.ByteSizeLong();
  while (size >= 0x80) {
    out += static_cast<char>(size | 0x80U);
    size >>= 7;
  }
  out += static_cast<char>(size);
  message.AppendToString(&out);
}

uint64_t Microseconds(Duration time) {
  // Rounded; a graph's clock starts with its step, Chakra's has no negatives.
  return static_cast<uint64_t>(
      std::max<int64_t>(0, (time.count() + 500) / 1000));
}

void AddTimes(const ir::Measured& measured, Duration own, chakra::Node& node) {
  node.set_duration_micros(Microseconds(own));
  if (measured.start) {
    node.set_start_time_micros(Microseconds(*measured.start));
    AddInteger("start_time_nanos", measured.start->count(), node);
  }
  AddInteger("duration_nanos", measured.duration.count(), node);
}

// The category a profiler would give it.
std::string_view CategoryOf(ir::ActivityKind kind) {
  switch (kind) {
    case ir::ActivityKind::kMemcpy:
      return "gpu_memcpy";
    case ir::ActivityKind::kMemset:
      return "gpu_memset";
    case ir::ActivityKind::kKernel:
    case ir::ActivityKind::kCollective:
      break;
  }
  return "kernel";
}

class Writer {
 public:
  Writer(const ir::Graph& graph, ir::RankId rank)
      : graph_(graph), data_(graph.data()), rank_(rank) {}

  Result<std::string> Write() {
    Collect();
    if (ops_.empty() && activities_.empty()) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("rank {} has neither ops nor device work",
                              data_.ranks[rank_].number));
    }
    std::string out;
    AppendDelimited(Metadata(), out);
    for (const ir::ActivityId activity : activities_) {
      if (!LauncherOf(activity).valid()) {
        AppendDelimited(ActivityNode(activity), out);
      }
    }
    for (const ir::OpId op : ops_) {
      AppendDelimited(OpNode(op), out);
      for (const ir::ActivityId activity : launched_[op]) {
        AppendDelimited(ActivityNode(activity), out);
      }
    }
    return out;
  }

 private:
  // Node ids count from 1: first the ops of the rank, then its activities.
  void Collect() {
    int64_t next_id = 1;
    op_ids_ = IdVector<ir::OpId, int64_t>(data_.ops.size());
    last_below_ = IdVector<ir::OpId, ir::OpId>(data_.ops.size());
    of_children_ = IdVector<ir::OpId, Duration>(data_.ops.size());
    launched_ =
        IdVector<ir::OpId, std::vector<ir::ActivityId>>(data_.ops.size());
    waits_ = IdVector<ir::OpId, std::vector<ir::ActivityId>>(data_.ops.size());
    activity_ids_ = IdVector<ir::ActivityId, int64_t>(data_.activities.size());
    activities_before_ = IdVector<ir::ActivityId, std::vector<ir::ActivityId>>(
        data_.activities.size());
    for (const ir::OpId op : data_.ops.ids()) {
      if (data_.threads[data_.ops[op].thread].rank == rank_) {
        op_ids_[op] = next_id++;
        ops_.push_back(op);
      }
    }
    for (const ir::ActivityId activity : data_.activities.ids()) {
      if (data_.streams[data_.activities[activity].stream].rank == rank_) {
        activity_ids_[activity] = next_id++;
        activities_.push_back(activity);
        if (const ir::OpId op = LauncherOf(activity); op.valid()) {
          launched_[op].push_back(activity);
        }
      }
    }
    CollectThreads();
    CollectNesting();
    CollectWaits();
  }

  // Threads count from 1, as PyTorch's recorder counts them.
  void CollectThreads() {
    int64_t next = 1;
    thread_numbers_ = IdVector<ir::ThreadId, int64_t>(data_.threads.size());
    for (const ir::ThreadId thread : data_.threads.ids()) {
      if (data_.threads[thread].rank == rank_) {
        thread_numbers_[thread] = next++;
      }
    }
  }

  // Ops are in pre-order, so backwards an op comes after all below it.
  void CollectNesting() {
    for (auto it = ops_.rbegin(); it != ops_.rend(); ++it) {
      const ir::Op& op = data_.ops[*it];
      if (!last_below_[*it].valid()) {
        last_below_[*it] = *it;
      }
      if (!op.parent.valid()) {
        continue;
      }
      if (!last_below_[op.parent].valid()) {
        last_below_[op.parent] = last_below_[*it];
      }
      if (op.measured) {
        of_children_[op.parent] =
            SumOfTimes(of_children_[op.parent], op.measured->duration);
      }
    }
  }

  void CollectWaits() {
    for (const ir::StreamWait& wait : data_.stream_waits) {
      activities_before_[wait.after].push_back(wait.before);
    }
    // The op that goes on after a wait is the first one after the op that
    // waits, with all in it.
    for (const ir::HostWait& wait : data_.host_waits) {
      const ir::OpId op = data_.calls[wait.call].op;
      if (!op.valid() || op_ids_[op] == 0) {
        continue;
      }
      const ir::OpId next{last_below_[op].value + 1};
      if (next.value < data_.ops.size() &&
          data_.ops[next].thread == data_.ops[op].thread) {
        waits_[next].push_back(wait.before);
      }
    }
  }

  ir::OpId LauncherOf(ir::ActivityId activity) const {
    const ir::CallId call = data_.activities[activity].call;
    return call.valid() ? data_.calls[call].op : ir::OpId{};
  }

  chakra::GlobalMetadata Metadata() const {
    chakra::GlobalMetadata metadata;
    metadata.set_version(std::string(kChakraVersion));
    AddText("schema", kSchema, metadata);
    const int64_t number = data_.ranks[rank_].number;
    AddInteger("rank", number, metadata);
    int64_t world = data_.ranks.size();
    for (const ir::ActivityId activity : activities_) {
      if (const auto* collective =
              std::get_if<ir::Collective>(&graph_.shape(activity))) {
        world = std::max(world, collective->group_size);
      }
    }
    if (number < world) {
      AddInteger("world_size", world, metadata);
    }
    return metadata;
  }

  chakra::Node OpNode(ir::OpId id) const {
    const ir::Op& op = data_.ops[id];
    chakra::Node node;
    node.set_id(static_cast<uint64_t>(op_ids_[id]));
    node.set_name(std::string(graph_.text(op.name)));
    node.set_type(chakra::COMP_NODE);
    if (op.parent.valid()) {
      node.add_control_dependencies(Id(op_ids_[op.parent]));
    }
    if (id.value > 0) {
      const ir::OpId before{id.value - 1};
      if (data_.ops[before].thread == op.thread) {
        node.add_data_dependencies(Id(op_ids_[before]));
      }
    }
    for (const ir::ActivityId activity : waits_[id]) {
      node.add_data_dependencies(Id(activity_ids_[activity]));
    }
    WriteTensors(data_, op.inputs, *node.mutable_inputs());
    WriteTensors(data_, op.outputs, *node.mutable_outputs());
    AddBool("is_cpu_op", true, node);
    AddInteger("rf_id", op_ids_[id], node);
    AddInteger("seq_id", op.sequence, node);
    AddInteger("scope", op.kind == ir::OpKind::kAnnotation ? kUserScope : 0,
               node);
    AddInteger("tid", thread_numbers_[op.thread], node);
    if (op.measured) {
      AddTimes(*op.measured, op.measured->duration - of_children_[id], node);
    }
    return node;
  }

  chakra::Node ActivityNode(ir::ActivityId id) const {
    const ir::Activity& activity = data_.activities[id];
    chakra::Node node;
    node.set_id(static_cast<uint64_t>(activity_ids_[id]));
    node.set_name(std::string(graph_.text(activity.name)));
    node.set_type(chakra::COMP_NODE);
    if (const ir::OpId op = LauncherOf(id); op.valid()) {
      node.add_control_dependencies(Id(op_ids_[op]));
    }
    if (id.value > 0) {
      const ir::ActivityId before{id.value - 1};
      if (data_.activities[before].stream == activity.stream) {
        node.add_data_dependencies(Id(activity_ids_[before]));
      }
    }
    for (const ir::ActivityId before : activities_before_[id]) {
      node.add_data_dependencies(Id(activity_ids_[before]));
    }
    AddBool("is_cpu_op", false, node);
    AddInteger("stream", data_.streams[activity.stream].number, node);
    AddText("cat", CategoryOf(activity.kind), node);
    WriteShape(id, node);
    if (activity.measured) {
      AddTimes(*activity.measured, activity.measured->duration, node);
    }
    return node;
  }

  void WriteShape(ir::ActivityId id, chakra::Node& node) const {
    const ir::KernelShape& shape = graph_.shape(id);
    if (data_.activities[id].kind == ir::ActivityKind::kCollective) {
      node.set_type(chakra::COMM_COLL_NODE);
    }
    if (const auto* collective = std::get_if<ir::Collective>(&shape)) {
      if (collective->kind == ir::CollectiveKind::kSendRecv) {
        node.set_type(chakra::COMM_SEND_NODE);
      }
      AddCollective(*collective, node);
    } else if (const auto* copy = std::get_if<ir::Copy>(&shape)) {
      AddInteger("tensor_size", copy->bytes.count, node);
    } else if (const auto* fill = std::get_if<ir::Fill>(&shape)) {
      AddInteger("tensor_size", fill->bytes.count, node);
    }
  }

  static uint64_t Id(int64_t id) { return static_cast<uint64_t>(id); }

  const ir::Graph& graph_;
  const ir::GraphData& data_;
  ir::RankId rank_;
  IdVector<ir::ThreadId, int64_t> thread_numbers_;
  std::vector<ir::OpId> ops_;                // Of the rank.
  IdVector<ir::OpId, int64_t> op_ids_;       // 0: of another rank.
  IdVector<ir::OpId, ir::OpId> last_below_;  // The op itself if it has none.
  IdVector<ir::OpId, Duration> of_children_;
  IdVector<ir::OpId, std::vector<ir::ActivityId>> launched_;
  IdVector<ir::OpId, std::vector<ir::ActivityId>> waits_;
  std::vector<ir::ActivityId> activities_;  // Of the rank.
  IdVector<ir::ActivityId, int64_t> activity_ids_;
  IdVector<ir::ActivityId, std::vector<ir::ActivityId>> activities_before_;
};

}  // namespace

Result<std::string> WriteChakra(const ir::Graph& graph, ir::RankId rank) {
  return Writer(graph, rank).Write();
}

}  // namespace stepcast::trace

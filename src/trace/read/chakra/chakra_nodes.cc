#include "trace/read/chakra/chakra_nodes.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text/join.h"
#include "trace/read/chakra/chakra.pb.h"
#include "trace/read/oddities.h"

namespace stepcast::trace {
namespace {

struct TorchNames {
  ir::DType dtype{};
  std::string_view scalar{};  // ScalarType
  std::string_view cpp{};     // In "Tensor(...)".
};
constexpr std::array<TorchNames, 12> kTorchNames = {{
    {ir::DType::kFp64, "Double", "double"},
    {ir::DType::kFp32, "Float", "float"},
    {ir::DType::kTf32, "Float", "float"},
    {ir::DType::kFp16, "Half", "c10::Half"},
    {ir::DType::kBf16, "BFloat16", "c10::BFloat16"},
    {ir::DType::kFp8, "Float8_e4m3fn", "c10::Float8_e4m3fn"},
    {ir::DType::kInt64, "Long", "long int"},
    {ir::DType::kInt32, "Int", "int"},
    {ir::DType::kInt16, "Short", "short int"},
    {ir::DType::kInt8, "Char", "signed char"},
    {ir::DType::kUint8, "Byte", "unsigned char"},
    {ir::DType::kBool, "Bool", "bool"},
}};

const TorchNames* FindNames(ir::DType dtype) {
  for (const TorchNames& names : kTorchNames) {
    if (names.dtype == dtype) {
      return &names;
    }
  }
  return nullptr;
}

std::string_view DeviceName(ir::Device device) {
  switch (device) {
    case ir::Device::kCpu:
      return "cpu";
    case ir::Device::kGpu:
      return "cuda:0";
    case ir::Device::kUnknown:
      break;
  }
  return "";
}

// 0 if the product does not fit.
int64_t ElementsOf(const ir::Tensor& tensor) {
  int64_t elements = 1;
  for (const int64_t dim : tensor.dims) {
    if (__builtin_mul_overflow(elements, dim, &elements)) {
      return 0;
    }
  }
  return elements;
}

}  // namespace

std::string_view TorchDType(ir::DType dtype) {
  const TorchNames* names = FindNames(dtype);
  // Without a type, sizes are counted in bytes.
  return names != nullptr ? names->scalar : "Byte";
}

void WriteTensors(const ir::GraphData& graph, IdRange<ir::TensorId> tensors,
                  chakra::InputsOutputs& out) {
  std::vector<std::string> values;
  std::vector<std::string> shapes;
  std::vector<std::string> types;
  for (const ir::TensorId id : tensors) {
    const ir::Tensor& tensor = graph.tensors[id];
    const TorchNames* names = FindNames(tensor.dtype);
    values.push_back(fmt::format("[{}, {}, 0, {}, {}, '{}']", id.value,
                                 tensor.storage, ElementsOf(tensor),
                                 ir::SizeOf(tensor.dtype),
                                 DeviceName(tensor.device)));
    shapes.push_back(fmt::format("[{}]", Join(tensor.dims, ", ")));
    types.push_back(
        fmt::format("'Tensor({})'", names != nullptr ? names->cpp : ""));
  }
  out.set_values(fmt::format("[{}]", Join(values, ", ")));
  out.set_shapes(fmt::format("[{}]", Join(shapes, ", ")));
  out.set_types(fmt::format("[{}]", Join(types, ", ")));
}

namespace {

struct CollectiveName {
  chakra::CollectiveType type{};
  std::string_view name{};  // As PyTorch calls it.
};
constexpr std::array<CollectiveName, 10> kCollectiveNames = {{
    {chakra::ALL_REDUCE, "allreduce"},
    {chakra::REDUCE, "reduce"},
    {chakra::ALL_GATHER, "all_gather"},
    {chakra::GATHER, "gather"},
    {chakra::SCATTER, "scatter"},
    {chakra::BROADCAST, "broadcast"},
    {chakra::ALL_TO_ALL, "all_to_all"},
    {chakra::REDUCE_SCATTER, "reduce_scatter"},
    {chakra::REDUCE_SCATTER_BLOCK, "reduce_scatter"},
    {chakra::BARRIER, "barrier"},
}};

std::string_view CollectiveNameOf(const ChakraNode& node) {
  if (node.type == chakra::COMM_SEND_NODE) {
    return "send";
  }
  if (node.type == chakra::COMM_RECV_NODE) {
    return "recv";
  }
  for (const CollectiveName& entry : kCollectiveNames) {
    if (node.comm_type == entry.type) {
      return entry.name;
    }
  }
  return {};
}

// Nodes of generated traces do not say where they run: it is the device.
bool IsDevice(const ChakraNode& node) {
  return !node.is_cpu_op.value_or(node.type == chakra::INVALID_NODE ||
                                  node.type == chakra::METADATA_NODE);
}

DeviceEventKind DeviceKindOf(const ChakraNode& node, std::string_view name) {
  if (node.device_kind) {
    return *node.device_kind;
  }
  if (name.starts_with("Memset")) {
    return DeviceEventKind::kMemset;
  }
  const bool moves =
      node.type == chakra::MEM_LOAD_NODE || node.type == chakra::MEM_STORE_NODE;
  return moves || name.starts_with("Memcpy") ? DeviceEventKind::kMemcpy
                                             : DeviceEventKind::kKernel;
}

// "aten::copy_" of "aten::copy_(1)"; the whole name if it is not a part.
std::string_view WithoutPart(std::string_view name) {
  if (!name.ends_with(')')) {
    return name;
  }
  const size_t open = name.rfind('(');
  if (open == std::string_view::npos || open == 0 || open + 2 >= name.size()) {
    return name;
  }
  const std::string_view digits = name.substr(open + 1, name.size() - open - 2);
  return digits.find_first_not_of("0123456789") == std::string_view::npos
             ? name.substr(0, open)
             : name;
}

}  // namespace

Status ChakraNodes::Add(const ChakraNode& node) {
  constexpr size_t kMost = std::numeric_limits<uint32_t>::max();
  if (trace_.dependencies.size() + node.data_dependencies.size() > kMost) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("has more than {} dependencies", kMost));
  }
  ParsedNode parsed = node.parsed;
  parsed.node.data_dependencies = {
      .first = static_cast<uint32_t>(trace_.dependencies.size()),
      .count = static_cast<uint32_t>(node.data_dependencies.size())};
  trace_.dependencies.insert(trace_.dependencies.end(),
                             node.data_dependencies.begin(),
                             node.data_dependencies.end());
  if (!node.control_dependencies.empty()) {
    parsed.parent = node.control_dependencies.front();
  }
  CollectiveFields collective = node.collective;
  if (IsDevice(node)) {
    ReadDevice(node, parsed.node, collective);
  } else {
    parsed.node.kind =
        HostNodeKind(trace_.strings.view(parsed.node.name), parsed.node.scope);
  }
  has_nanoseconds_ = has_nanoseconds_ || node.has_nanoseconds;
  collectives_.Add(parsed, nodes_.size(), trace_.strings, collective);
  nodes_.push_back(parsed);
  return {};
}

void ChakraNodes::ReadDevice(const ChakraNode& node, ExecutionNode& device,
                             CollectiveFields& collective) const {
  const StringPool& strings = trace_.strings;
  device.kind = NodeKind::kDevice;
  device.device_kind = DeviceKindOf(node, strings.view(device.name));
  if (device.stream < 0 && device.record_id < 0) {
    // A profiler's event: its thread is the stream. Where the launching op's
    // attributes were copied instead, the stream is not known.
    device.stream = device.thread;
  }
  if (device.device_kind != DeviceEventKind::kKernel) {
    device.bytes = node.memory_bytes.value_or(-1);
  }
  if (!collective.name.empty()) {
    return;
  }
  collective.name = CollectiveNameOf(node);
  if (collective.name.empty() || !node.comm_bytes) {
    return;
  }
  const auto tensor = FirstTensor(strings.view(device.arguments.values),
                                  strings.view(device.arguments.types));
  const bool known = tensor && tensor->element_bytes > 0;
  collective.dtype = known ? tensor->dtype : "Byte";
  collective.in_elements =
      *node.comm_bytes / (known ? tensor->element_bytes : 1);
}

void ChakraNodes::Finish() {
  const bool split = JoinParts();
  FindParents(split);
  FillDeviceTimes();
  collectives_.Finish(nodes_, trace_.strings, trace_.info);
  ArrangeNodes(std::move(nodes_), trace_, diagnostics_);
  if (!has_nanoseconds_) {
    AddUpHostTimes();
  }
}

// The parts of an op have one record id. True if there are any.
bool ChakraNodes::JoinParts() {
  std::map<std::pair<StringId, int64_t>, std::vector<size_t>> ops;
  for (size_t i = 0; i < nodes_.size(); ++i) {
    const ExecutionNode& node = nodes_[i].node;
    const std::string_view name = trace_.strings.view(node.name);
    const std::string_view whole = WithoutPart(name);
    if (node.kind != NodeKind::kDevice && whole.size() != name.size()) {
      const StringId id = trace_.strings.Intern(whole);
      ops[{id, node.record_id}].push_back(i);
    }
  }
  bool split = false;
  for (const auto& [key, parts] : ops) {
    if (parts.size() < 2) {
      continue;
    }
    split = true;
    for (const size_t part : parts) {
      nodes_[part].node.name = key.first;
    }
  }
  return split;
}

void ChakraNodes::FindParents(bool split) {
  const NodeIndex index(nodes_);
  int64_t stale = 0;
  for (ParsedNode& parsed : nodes_) {
    if (parsed.node.kind == NodeKind::kDevice) {
      const auto parent =
          parsed.parent ? index.Find(*parsed.parent) : std::nullopt;
      const bool usable =
          parent && nodes_[*parent].node.kind != NodeKind::kDevice;
      if (split || !usable) {
        const auto op = LaunchingOp(parsed.node, index);
        parsed.parent = op ? op : parsed.parent;
      }
    } else if (split && parsed.parent) {
      parsed.parent.reset();
      ++stale;
    }
  }
  diagnostics_.Add(kStaleParents, {}, stale);
}

std::optional<int64_t> ChakraNodes::LaunchingOp(const ExecutionNode& device,
                                                const NodeIndex& index) const {
  for (const auto at : device.data_dependencies) {
    const auto node = index.Find(trace_.dependencies[at.value]);
    if (node && nodes_[*node].node.kind != NodeKind::kDevice) {
      return nodes_[*node].node.id;
    }
  }
  return std::nullopt;
}

void ChakraNodes::FillDeviceTimes() {
  const auto is_device = [](const ParsedNode& parsed) {
    return parsed.node.kind == NodeKind::kDevice;
  };
  const bool any = std::ranges::any_of(nodes_, [&](const ParsedNode& parsed) {
    return is_device(parsed) && parsed.node.duration;
  });
  for (ParsedNode& parsed : nodes_) {
    if (any && is_device(parsed) && !parsed.node.duration) {
      parsed.node.duration = Duration(0);
    }
  }
}

// Children that together last longer than their parent show that the times
// leave out the children.
void ChakraNodes::AddUpHostTimes() {
  constexpr Duration kRounding = std::chrono::microseconds(1);
  std::vector<ExecutionNode>& nodes = trace_.nodes;
  std::vector<Duration> of_children(nodes.size());
  std::vector<Duration> rounding(nodes.size(), kRounding);
  const auto for_each_child = [&](auto&& visit) {
    // Backwards, children come before their parents.
    for (size_t i = nodes.size(); i-- > 0;) {
      const bool nested = nodes[i].parent != ExecutionNode::kNoParent;
      if (nodes[i].kind != NodeKind::kDevice) {
        visit(nodes[i], i, nested ? nodes[i].parent : nodes.size());
      }
    }
  };
  bool exclusive = false;
  for_each_child([&](const ExecutionNode& node, size_t i, size_t parent) {
    const Duration own = node.duration.value_or(Duration::max());
    exclusive = exclusive || of_children[i] > SumOfTimes(own, rounding[i]);
    if (parent < nodes.size()) {
      of_children[parent] =
          SumOfTimes(of_children[parent], node.duration.value_or(Duration(0)));
      rounding[parent] += kRounding;
    }
  });
  if (!exclusive) {
    return;
  }
  std::ranges::fill(of_children, Duration(0));
  for_each_child([&](ExecutionNode& node, size_t i, size_t parent) {
    const Duration whole =
        SumOfTimes(of_children[i], node.duration.value_or(Duration(0)));
    if (node.duration) {
      node.duration = whole;
    }
    if (parent < nodes.size()) {
      of_children[parent] = SumOfTimes(of_children[parent], whole);
    }
  });
}

}  // namespace stepcast::trace

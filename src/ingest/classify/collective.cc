// Collectives: kind, size, group and splits from the recorder's own record or
// from the ops around the launch.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "ingest/classify/collective_record.h"
#include "ingest/classify/sizers.h"
#include "ir/names.h"

namespace stepcast::ingest {
namespace {

using ir::CollectiveKind;

struct NamedKind {
  std::string_view part;  // Of a name without '_', in lower case.
  CollectiveKind kind = CollectiveKind::kUnknown;
};

// As in "allreduce", "_reduce_scatter_base", "all_to_allv", "coalesced".
// The first part found decides.
constexpr std::array<NamedKind, 14> kNamedKinds = {{
    {"allreduce", CollectiveKind::kAllReduce},
    {"alltoall", CollectiveKind::kAllToAll},
    {"allgather", CollectiveKind::kAllGather},
    {"reducescatter", CollectiveKind::kReduceScatter},
    {"broadcast", CollectiveKind::kBroadcast},
    {"barrier", CollectiveKind::kBarrier},
    {"gather", CollectiveKind::kSendRecv},
    {"scatter", CollectiveKind::kSendRecv},
    {"reduce", CollectiveKind::kReduce},
    {"sendrecv", CollectiveKind::kSendRecv},
    {"send", CollectiveKind::kSendRecv},
    {"recv", CollectiveKind::kSendRecv},
    {"isend", CollectiveKind::kSendRecv},
    {"irecv", CollectiveKind::kSendRecv},
}};

CollectiveKind KindFromName(std::string_view name) {
  std::string plain;
  for (const char c : name) {
    if (c != '_') {
      plain.push_back(static_cast<char>(c >= 'A' && c <= 'Z' ? c | 0x20 : c));
    }
  }
  for (const NamedKind& row : kNamedKinds) {
    if (plain.find(row.part) != std::string::npos) {
      return row.kind;
    }
  }
  return CollectiveKind::kUnknown;
}

// Elements to or from each peer. PyTorch counts rows of the tensor's first
// dimension. Even splits carry no news.
std::vector<int64_t> Splits(const std::vector<int64_t>& rows,
                            int64_t elements) {
  int64_t sum = 0;
  for (const int64_t count : rows) {
    if (count < 0 || __builtin_add_overflow(sum, count, &sum)) {
      return {};
    }
  }
  const bool even = std::ranges::adjacent_find(
                        rows, std::ranges::not_equal_to()) == rows.end();
  if (even || sum == 0) {
    return {};
  }
  const int64_t row = elements > 0 && elements % sum == 0 ? elements / sum : 1;
  std::vector<int64_t> splits;
  splits.reserve(rows.size());
  for (const int64_t count : rows) {
    splits.push_back(Times(count, row));
  }
  return splits;
}

void ReadRecord(const CollectiveRecord& record, ir::Collective& out) {
  out.kind = KindFromName(record.name);
  out.dtype = ir::DTypeFromTorch(record.dtype);
  out.group_size = std::max<int64_t>(record.group_size, 0);
  out.bytes = {Times(record.in_elements, ir::SizeOf(out.dtype))};
  out.send_splits = Splits(record.in_splits, record.in_elements);
  out.receive_splits = Splits(record.out_splits, record.out_elements);
  if (out.group_size == 0) {
    out.group_size = static_cast<int64_t>(
        std::max(record.in_splits.size(), record.out_splits.size()));
  }
}

bool IsWait(std::string_view name) {
  return name == "wait";
}

// The record nearest to the launch: of the kernel, or of an op around it.
std::optional<CollectiveRecord> FindRecord(const SizeRequest& request) {
  auto record = ParseCollectiveRecord(request.facts.collective);
  if (record) {
    return record;
  }
  for (const RuledOp& ruled : request.ops) {
    record = ParseCollectiveRecord(ruled.op.arguments->collective);
    if (record && !IsWait(record->name)) {
      return record;
    }
  }
  return std::nullopt;
}

// Where an op keeps the tensors this rank sends.
bool SendsSecond(std::string_view name) {
  // c10d::alltoall_base_(output, input, ...) and the like; "nccl:..."
  // annotations have the input alone.
  constexpr std::array<std::string_view, 5> kOutputFirst = {
      "alltoall_base", "_allgather_base", "_reduce_scatter_base", "allgather",
      "reduce_scatter"};
  return name.starts_with("c10d::") &&
         std::ranges::find(kOutputFirst, PlainName(name)) != kOutputFirst.end();
}

// The kind and the bytes from the names and tensors of ops: nccl:all_reduce,
// record_param_comms, c10d::allreduce_.
void ReadOps(const SizeRequest& request, ir::Collective& out) {
  for (const RuledOp& ruled : request.ops) {
    if (!ruled.IsFamily("collective")) {
      continue;
    }
    const std::string_view name = ruled.op.name;
    if (out.kind == CollectiveKind::kUnknown) {
      const size_t colon = name.rfind(':');
      out.kind = KindFromName(
          name.substr(colon == std::string_view::npos ? 0 : colon + 1));
    }
    const size_t position = SendsSecond(name) ? 1 : 0;
    const auto& inputs = ruled.op.arguments->inputs;
    if (out.bytes.count > 0 || position >= inputs.size()) {
      continue;
    }
    int64_t bytes = 0;
    for (const ir::Tensor& tensor : inputs[position].tensors) {
      bytes = Plus(bytes, BytesOf(tensor).count);
      out.dtype = tensor.dtype;
    }
    out.bytes = {bytes};
  }
}

}  // namespace

ir::KernelShape SizeCollective(const SizeRequest& request) {
  ir::Collective collective;
  if (const auto record = FindRecord(request)) {
    ReadRecord(*record, collective);
  } else {
    ReadOps(request, collective);
  }
  const CollectiveKind kernel = ir::FromName<CollectiveKind>(request.detail)
                                    .value_or(CollectiveKind::kUnknown);
  // NCCL builds other collectives from sends and receives, and some releases
  // run any grouped collective under that name. A kernel of another kind than
  // the op's belongs to another launch, and the op's numbers with it.
  const bool fits = kernel == CollectiveKind::kUnknown ||
                    kernel == CollectiveKind::kSendRecv ||
                    collective.kind == CollectiveKind::kUnknown ||
                    collective.kind == CollectiveKind::kBarrier ||
                    collective.kind == kernel;
  if (!fits) {
    collective = {};
  }
  if (collective.kind == CollectiveKind::kUnknown) {
    collective.kind = kernel;
  }
  if (collective.group_size == 0) {
    collective.group_size = std::max<int64_t>(request.facts.world_size, 0);
  }
  return collective;
}

}  // namespace stepcast::ingest

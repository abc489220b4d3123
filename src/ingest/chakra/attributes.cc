#include "ingest/chakra/attributes.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "base/join.h"
#include "ingest/chakra/tensor_text.h"

namespace stepcast::ingest {
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

}  // namespace stepcast::ingest

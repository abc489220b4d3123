// Collectives: kind, size, group and splits from the recorder's own record or
// from the ops around the launch.
#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/text/value_text.h"
#include "ir/names.h"
#include "trace/classify/collective_record.h"
#include "trace/classify/sizers.h"

namespace stepcast::trace {
namespace {

// The members of a JSON object one by one. Values are found by their brackets
// and quotes alone; what is in them is for ParseValue to judge.
class Members {
 public:
  explicit Members(std::string_view object) : rest_(object) {
    SkipSpace();
    open_ = Take('{');
  }

  struct Member {
    std::string_view key;
    std::string_view value;
  };

  std::optional<Member> Next() {
    SkipSpace();
    if (!open_ || rest_.empty() || rest_.front() == '}') {
      return std::nullopt;
    }
    Take(',');
    SkipSpace();
    const std::string_view key = TakeValue();
    SkipSpace();
    if (key.size() < 2 || key.front() != '"' || !Take(':')) {
      return std::nullopt;
    }
    SkipSpace();
    const std::string_view value = TakeValue();
    if (value.empty()) {
      return std::nullopt;
    }
    return Member{.key = key.substr(1, key.size() - 2), .value = value};
  }

 private:
  void SkipSpace() {
    const size_t at = rest_.find_first_not_of(" \t\n\r");
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at);
  }

  bool Take(char c) {
    if (!rest_.starts_with(c)) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }

  // Up to the comma, colon or bracket that ends the value; empty if the text
  // ends first.
  std::string_view TakeValue() {
    int64_t depth = 0;
    bool quoted = false;
    for (size_t at = 0; at < rest_.size(); ++at) {
      const char c = rest_[at];
      if (quoted) {
        at += c == '\\' ? 1 : 0;
        quoted = c != '"';
        continue;
      }
      const bool ends = c == ',' || c == ':' || c == '}' || c == ']';
      if (ends && depth == 0) {
        const std::string_view value = rest_.substr(0, at);
        rest_.remove_prefix(at);
        return Trimmed(value);
      }
      quoted = c == '"';
      depth += c == '[' || c == '{' ? 1 : 0;
      depth -= c == ']' || c == '}' ? 1 : 0;
    }
    rest_ = {};
    return {};
  }

  static std::string_view Trimmed(std::string_view text) {
    const size_t last = text.find_last_not_of(" \t\n\r");
    return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
  }

  std::string_view rest_;
  bool open_ = false;
};

void ReadInt(std::string_view text, int64_t& out) {
  if (const auto value = ParseValue(text); value && value->is_int()) {
    out = value->integer;
  }
}

void ReadString(std::string_view text, std::string& out) {
  if (const auto value = ParseValue(text); value && value->is_string()) {
    out = value->text;
  }
}

// Lists come as JSON or, in most releases, as JSON inside a string.
void ReadInts(std::string_view text, std::vector<int64_t>& out) {
  auto value = ParseValue(text);
  if (value && value->is_string()) {
    value = ParseValue(value->text);
  }
  if (value) {
    out = AsIntList(*value).value_or(std::vector<int64_t>());
  }
}

}  // namespace

std::optional<CollectiveRecord> ParseCollectiveRecord(std::string_view text) {
  CollectiveRecord record;
  Members members(text);
  while (const auto member = members.Next()) {
    const auto& [key, value] = *member;
    if (key == "Collective name") {
      ReadString(value, record.name);
    } else if (key == "dtype") {
      ReadString(value, record.dtype);
    } else if (key == "In msg nelems") {
      ReadInt(value, record.in_elements);
    } else if (key == "Out msg nelems") {
      ReadInt(value, record.out_elements);
    } else if (key == "Group size") {
      ReadInt(value, record.group_size);
    } else if (key == "In split size") {
      ReadInts(value, record.in_splits);
    } else if (key == "Out split size") {
      ReadInts(value, record.out_splits);
    }
  }
  return record.name.empty() ? std::nullopt : std::optional(record);
}

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
  constexpr std::array<std::string_view, 6> kOutputFirst = {
      "alltoall_base", "_allgather_base", "_reduce_scatter_base",
      "allgather",     "reduce_scatter",  "alltoall"};
  return name.starts_with("c10d::") &&
         std::ranges::find(kOutputFirst, PlainName(name)) != kOutputFirst.end();
}

// c10d::alltoall_base_(output, input, group, output splits, input splits, ...):
// rows to and from each peer, and so the number of peers.
void ReadSplits(const OpContext& op, ir::Collective& out) {
  constexpr size_t kOutSplits = 3;
  constexpr size_t kInSplits = 4;
  const auto receive = IntsAt(*op.arguments, kOutSplits);
  const auto send = IntsAt(*op.arguments, kInSplits);
  const ir::Tensor* output = TensorAt(*op.arguments, 0);
  const ir::Tensor* input = TensorAt(*op.arguments, 1);
  if (!op.name.starts_with("c10d::") || PlainName(op.name) != "alltoall_base" ||
      !receive || !send || output == nullptr || input == nullptr) {
    return;
  }
  out.send_splits = Splits(*send, ElementCount(*input));
  out.receive_splits = Splits(*receive, ElementCount(*output));
  out.group_size = std::ssize(send->empty() ? *receive : *send);
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
    ReadSplits(ruled.op, out);
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

}  // namespace stepcast::trace

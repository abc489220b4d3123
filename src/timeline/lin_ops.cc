#include "timeline/lin_ops.h"

#include <algorithm>
#include <array>
#include <span>

#include "cost/overheads/op_names.h"
#include "timeline/host_plan.h"
#include "timeline/predicted_plan.h"

namespace stepcast::timeline {
namespace {

// Ops with a kernel model in 2022, by plain name (op_names.h); each may have a
// model of its backward pass, too.
constexpr std::array<std::string_view, 30> k2022 = {"linear",
                                                    "addmm",
                                                    "bmm",
                                                    "matmul",
                                                    "conv2d",
                                                    "Convolution",
                                                    "CudnnConvolution",
                                                    "batch_norm",
                                                    "CudnnBatchNorm",
                                                    "LookupFunction",
                                                    "index",
                                                    "relu",
                                                    "sigmoid",
                                                    "binary_cross_entropy",
                                                    "mse_loss",
                                                    "MseLoss",
                                                    "avg_pool2d",
                                                    "max_pool2d",
                                                    "add",
                                                    "__and__",
                                                    "sub",
                                                    "mul",
                                                    "div",
                                                    "cat",
                                                    "sum",
                                                    "to",
                                                    "ones_like",
                                                    "zero",
                                                    "contiguous",
                                                    "AccumulateGrad"};
// ... and what 2024 added.
constexpr std::array<std::string_view, 20> k2024 = {
    "einsum",    "conv1d",     "layer_norm",   "NativeLayerNorm",
    "gelu",      "softmax",    "dropout",      "NativeDropout",
    "tanh",      "pow",        "index_select", "copy",
    "Unsqueeze", "Split",      "View",         "T",
    "Mm",        "all_to_all", "all_reduce",   "nccl"};
// Parts of names that only 2024 models: collectives, FBGEMM's lookups.
constexpr std::array<std::string_view, 7> k2024Parts = {
    "split_embedding_codegen_lookup",
    "SplitLookupFunction",
    "record_param_comms",
    "alltoall",
    "allreduce",
    "copy_bucket_to_grad",
    "All2All"};
constexpr std::array<std::string_view, 3> kSkipped = {
    "SliceBackward", "FusedDropoutBackward", "distribute emb data"};

// "addmm" of "AddmmBackward", with the first letter in lower case.
bool HasForward(std::span<const std::string_view> list, std::string_view name) {
  constexpr std::string_view kBackwardMark = "Backward";
  if (!name.ends_with(kBackwardMark)) {
    return cost::HasName(list, name);
  }
  name.remove_suffix(kBackwardMark.size());
  return std::ranges::any_of(list, [&](std::string_view known) {
    return known.size() == name.size() &&
           (known == name || (known.substr(1) == name.substr(1) &&
                              known[0] == (name[0] | 0x20)));
  });
}

bool IsLaunch(const ir::Call& call) {
  return call.kind == ir::CallKind::kLaunch ||
         call.kind == ir::CallKind::kGraphLaunch;
}

class Converter {
 public:
  Converter(const ir::GraphData& data, ir::RankId rank,
            const IdVector<ir::WorkId, Duration>& works, LinVariant variant)
      : data_(data),
        rank_(rank),
        times_(works),
        variant_(variant),
        tops_(TopLevelOps(data)) {}

  std::vector<LinOp> Convert();

 private:
  std::vector<ir::OpId> Order() const;
  void FindContents();
  LinOp OpOf(ir::OpId id) const;

  const ir::GraphData& data_;
  const ir::RankId rank_;
  const IdVector<ir::WorkId, Duration>& times_;
  const LinVariant variant_;
  const IdVector<ir::OpId, ir::OpId> tops_;
  IdVector<ir::OpId, std::vector<ir::CallId>> calls_;  // Of top-level ops.
  IdVector<ir::OpId, char> broadcasts_;                // Something inside.
  IdVector<ir::CallId, std::vector<ir::WorkId>> works_;
  IdVector<ir::WorkId, char> waits_;  // For a collective.
};

// Top-level ops in the order the host comes to them.
std::vector<ir::OpId> Converter::Order() const {
  std::vector<ir::OpId> order;
  bool timed = true;
  for (const ir::OpId id : data_.ops.ids()) {
    if (tops_[id] == id && data_.threads[data_.ops[id].thread].rank == rank_) {
      order.push_back(id);
      timed = timed && ir::StartOf(data_.ops[id].measured).has_value();
    }
  }
  if (timed) {
    std::ranges::stable_sort(
        order, {}, [&](ir::OpId id) { return *data_.ops[id].measured->start; });
    return order;
  }
  order.clear();
  const HostPlan plan = OrderedPlan(data_);
  const auto add = [&](ir::ThreadId thread, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const HostPiece& piece = plan.threads[thread][i];
      if (piece.kind == cost::HostKind::kNoLaunch ||
          piece.kind == cost::HostKind::kAfterLaunch) {
        order.push_back(piece.op);
      }
    }
  };
  for (const ir::ThreadId thread : data_.threads.ids()) {
    if (data_.threads[thread].rank != rank_ ||
        data_.threads[thread].role == ir::ThreadRole::kAutograd) {
      continue;
    }
    size_t done = 0;
    for (size_t i = 0; i + 1 < plan.hand_overs.size(); ++i) {
      const HandOver& over = plan.hand_overs[i];
      if (over.from == thread) {
        add(thread, done, over.from_piece);
        done = over.from_piece;
        // The way back is next to it.
        add(over.to, over.to_piece, plan.hand_overs[i + 1].from_piece + 1);
      }
    }
    add(thread, done, plan.threads[thread].size());
  }
  return order;
}

void Converter::FindContents() {
  calls_ = IdVector<ir::OpId, std::vector<ir::CallId>>(data_.ops.size());
  broadcasts_ = IdVector<ir::OpId, char>(data_.ops.size());
  works_ = IdVector<ir::CallId, std::vector<ir::WorkId>>(data_.calls.size());
  waits_ = IdVector<ir::WorkId, char>(data_.works.size());
  for (const ir::OpId id : data_.ops.ids()) {
    if (tops_[id].valid() &&
        data_.strings.view(data_.ops[id].name).find("broadcast") !=
            std::string_view::npos) {
      broadcasts_[tops_[id]] = 1;
    }
  }
  for (const ir::CallId id : data_.calls.ids()) {
    const ir::Call& call = data_.calls[id];
    if (IsLaunch(call) && call.op.valid() && tops_[call.op].valid()) {
      calls_[tops_[call.op]].push_back(id);
    }
  }
  for (const ir::WorkId id : data_.works.ids()) {
    if (data_.works[id].call.valid()) {
      works_[data_.works[id].call].push_back(id);
    }
  }
  for (const ir::StreamWait& wait : data_.stream_waits) {
    if (data_.works[wait.before].kind == ir::WorkKind::kCollective) {
      waits_[wait.after] = 1;
    }
  }
}

LinOp Converter::OpOf(ir::OpId id) const {
  LinOp op;
  op.name = data_.strings.view(data_.ops[id].name);
  op.modelled = IsModelled(op.name, variant_);
  const uint32_t next = id.value + 1;
  op.has_children =
      next < data_.ops.size() && data_.ops[ir::OpId{next}].parent == id;
  for (const ir::CallId call : calls_[id]) {
    op.launches.emplace_back(data_.strings.view(data_.calls[call].name));
    LinKernel kernel;
    for (const ir::WorkId work : works_[call]) {  // Many of a graph launch.
      kernel.us += ToMicroseconds(times_[work]);
      kernel.communication =
          kernel.communication ||
          data_.works[work].kind == ir::WorkKind::kCollective;
      op.waits_for_collective = op.waits_for_collective || waits_[work] != 0;
    }
    op.kernels.push_back(kernel);
  }
  return op;
}

std::vector<LinOp> Converter::Convert() {
  FindContents();
  std::vector<LinOp> ops;
  for (const ir::OpId id : Order()) {
    LinOp op = OpOf(id);
    const bool silent_collective =
        variant_ == LinVariant::k2024 &&
        (broadcasts_[id] != 0 ||
         (op.name == "record_param_comms" && !op.has_children));
    if (!silent_collective && !IsPassedOver(op.name, variant_)) {
      ops.push_back(std::move(op));
    }
  }
  return ops;
}

}  // namespace

bool IsModelled(std::string_view op, LinVariant variant) {
  const std::string_view plain = cost::PlainOpName(op);
  if (op.starts_with("Optimizer.") || HasForward(k2022, plain)) {
    return true;
  }
  return variant == LinVariant::k2024 &&
         (HasForward(k2024, plain) ||
          std::ranges::any_of(k2024Parts, [&](std::string_view part) {
            return plain.find(part) != std::string_view::npos;
          }));
}

bool IsPassedOver(std::string_view op, LinVariant variant) {
  return variant != LinVariant::k2021 &&
         cost::HasName(kSkipped, cost::PlainOpName(op));
}

std::vector<LinOp> LinOpsOf(const ir::GraphData& data, ir::RankId rank,
                            const IdVector<ir::WorkId, Duration>& works,
                            LinVariant variant) {
  return Converter(data, rank, works, variant).Convert();
}

}  // namespace stepcast::timeline

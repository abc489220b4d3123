// What a user would do to have a change.

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/text/glob.h"
#include "base/text/join.h"
#include "engine/explain/limits.h"
#include "engine/explain/path_parts.h"
#include "hw/device.h"
#include "ir/names.h"
#include "ir/shape.h"
#include "whatif/places.h"
#include "whatif/step_times.h"
#include "whatif/suggest.h"
#include "whatif/task_filler.h"

namespace stepcast::whatif {
namespace {

struct Tried {
  const Case& before;
  const Change& change;
  const Changed& changed;
};

// Calls that wait, by the op they are in or their own name, or by what is
// around them if the pattern begins with a star; the first that fits counts.
struct SyncAdvice {
  std::string_view glob;
  std::string_view text;
};
constexpr std::string_view kNoItem =
    "avoid `.item()`, `float(t)`, `bool(t)` and `print(t)` in the step: keep "
    "the value on the device and read it every N steps";
constexpr std::string_view kNoDataShapes =
    "shapes that depend on data make the host wait: use masks "
    "(`torch.where`) or give the size";
constexpr std::string_view kNonBlocking =
    "`non_blocking=True` with page-locked memory in `.to()` and `.copy_()`, "
    "and read what comes to the host later";
constexpr std::string_view kPipelined =
    "TorchRec reads the sizes of what it exchanges on the host: let "
    "`TrainPipelineSparseDist` do it a batch ahead";
constexpr std::string_view kIndices =
    "index with tensors that are on the device already (`register_buffer`), "
    "not with masks or indices from the host";
constexpr SyncAdvice kSyncAdvice[] = {
    {.glob = "*KJT*", .text = kPipelined},
    {.glob = "*All2All*", .text = kPipelined},
    {.glob = "*AllToAll*", .text = kPipelined},
    {.glob = "*sparse_data_dist*", .text = kPipelined},
    {.glob = "*SparseDataDist*", .text = kPipelined},
    {.glob = "aten::item", .text = kNoItem},
    {.glob = "aten::_local_scalar_dense", .text = kNoItem},
    {.glob = "aten::is_nonzero", .text = kNoItem},
    {.glob = "aten::nonzero*", .text = kNoDataShapes},
    {.glob = "aten::masked_select*", .text = kNoDataShapes},
    {.glob = "aten::*unique*", .text = kNoDataShapes},
    {.glob = "aten::index*", .text = kIndices},
    {.glob = "*IndexBackward*", .text = kIndices},
    {.glob = "aten::repeat_interleave*",
     .text = "give `output_size=` to `repeat_interleave`"},
    {.glob = "aten::to", .text = kNonBlocking},
    {.glob = "aten::_to_copy", .text = kNonBlocking},
    {.glob = "aten::copy_", .text = kNonBlocking},
    {.glob = "aten::cpu", .text = kNonBlocking},
    {.glob = "*Memcpy*", .text = kNonBlocking},
    {.glob = "*DeviceSynchronize",
     .text = "take `torch.cuda.synchronize()` out of the step; one that the "
             "profiler makes at its end is none of the step's"},
    {.glob = "*EventSynchronize",
     .text = "take `event.synchronize()` out of the step, or wait on a stream "
             "(`stream.wait_event`)"},
    {.glob = "*StreamSynchronize",
     .text = "take `stream.synchronize()` and copies that block out of the "
             "step"},
    {.glob = "*",
     .text = "let the host go on: keep the result on the device, or read it "
             "later"},
};

std::string SyncText(const Tried& tried) {
  if (tried.change.value.empty()) {
    return "let the host wait for the device nowhere in the step: no "
           "`.item()`, no copy that blocks, no `torch.cuda.synchronize()`";
  }
  std::string path;
  for (const Place& place : PlacesThatWait(tried.before)) {
    path = place.name == tried.change.value ? place.path : path;
  }
  const auto* const advice =
      std::ranges::find_if(kSyncAdvice, [&](const SyncAdvice& item) {
        const Glob glob(item.glob);
        return glob.Matches(tried.change.value) ||
               (item.glob.starts_with('*') && glob.Matches(path));
      });
  return std::string(advice->text);
}

std::string WhereOfSync(const Tried& tried) {
  std::vector<std::string> texts;
  for (const Place& place : PlacesThatWait(tried.before)) {
    if (texts.size() < 3 && place.time > Duration{} &&
        (tried.change.value.empty() || place.name == tried.change.value)) {
      texts.push_back(
          fmt::format("{}: the host waits {:.3f} ms for the device, {} time{}",
                      place.path, ToMilliseconds(place.time), place.times,
                      place.times == 1 ? "" : "s"));
    }
  }
  return Join(texts, "; ");
}

std::string WhereItChanges(const Tried& tried) {
  return PlacesThatChange(tried.before, tried.changed.after);
}

// The kinds of collectives in the step.
std::vector<ir::CollectiveKind> KindsOf(const Case& subject) {
  std::vector<ir::CollectiveKind> kinds;
  for (const ir::KernelShape& shape : subject.result.graph->data().shapes) {
    const auto* part = std::get_if<ir::Collective>(&shape);
    if (part != nullptr &&
        std::ranges::find(kinds, part->kind) == kinds.end()) {
      kinds.push_back(part->kind);
    }
  }
  std::ranges::sort(kinds);
  return kinds;
}

std::string WhereOfCollectives(const Tried& tried) {
  const engine::RankAccount account = tried.before.result.slowest_account();
  std::vector<std::string_view> names;
  for (const ir::CollectiveKind kind : KindsOf(tried.before)) {
    if (tried.change.value.empty() || tried.change.value == ir::Name(kind) ||
        tried.change.value.find('=') != std::string::npos) {
      names.push_back(ir::Name(kind));
    }
  }
  return fmt::format(
      "{}; {:.3f} ms of the step run collectives and nothing else, {:.3f} ms "
      "wait in them for other ranks",
      Join(names, ", "), ToMilliseconds(account.communication_exposed),
      ToMilliseconds(account.idle.wait_for_rank));
}

std::string Fp16CommText(const Tried& tried) {
  bool sums = false;
  bool exchanges = false;
  for (const ir::CollectiveKind kind : KindsOf(tried.before)) {
    sums = sums || kind == ir::CollectiveKind::kAllReduce;
    exchanges = exchanges || kind == ir::CollectiveKind::kAllToAll ||
                kind == ir::CollectiveKind::kReduceScatter;
  }
  constexpr std::string_view kHook =
      "`ddp.register_comm_hook(None, default_hooks.fp16_compress_hook)`";
  constexpr std::string_view kQuantized =
      "TorchRec's `QCommsConfig(forward_precision=CommType.FP16, "
      "backward_precision=CommType.FP16)`";
  return sums && exchanges ? fmt::format("{} and {}", kHook, kQuantized)
                           : std::string(exchanges ? kQuantized : kHook);
}

// Ids are exchanged a batch ahead where TorchRec's pipeline marks it.
std::string ExchangeText(const Tried& tried) {
  const ir::Graph& graph = *tried.before.result.graph;
  const bool ahead =
      std::ranges::any_of(graph.data().ops, [&](const ir::Op& op) {
        return graph.text(op.name).find("start_sparse_data_dist") !=
               std::string_view::npos;
      });
  return ahead ? "ids are exchanged a batch ahead already; for vectors "
                 "TorchRec's `TrainPipelineSemiSync`"
               : "TorchRec's `TrainPipelineSparseDist` for ids; for vectors "
                 "`TrainPipelineSemiSync`";
}

std::string AutocastText(const Tried& tried) {
  const auto& device = tried.before.machine.device;
  return device && hw::HasBf16(*device)
             ? "`torch.autocast(\"cuda\", dtype=torch.bfloat16)` around the "
               "forward pass and the loss"
             : "`torch.autocast(\"cuda\", dtype=torch.float16)` around the "
               "forward pass and the loss, with `torch.amp.GradScaler`";
}

// What follows "Optimizer.step#" in the profiler's name of it; empty if the
// step does not say.
std::string OptimizerOf(const Case& subject) {
  constexpr std::string_view kBegin = "Optimizer.step#";
  const ir::Graph& graph = *subject.result.graph;
  for (const ir::Op& op : graph.data().ops) {
    const std::string_view name = graph.text(op.name);
    if (name.starts_with(kBegin)) {
      const std::string_view rest = name.substr(kBegin.size());
      return std::string(rest.substr(0, rest.find('.')));
    }
  }
  return "";
}

std::string OptimizerText(const Tried& tried) {
  // Those of torch.optim with a fused kernel on GPUs, as of PyTorch 2.4.
  constexpr std::array<std::string_view, 3> kFused = {"Adam", "AdamW", "SGD"};
  const std::string name = OptimizerOf(tried.before);
  if (name.empty()) {
    return "`fused=True` (or `foreach=True`) for the optimizer, as in "
           "`torch.optim.Adam(..., fused=True)`";
  }
  return std::ranges::find(kFused, name) != kFused.end()
             ? fmt::format(
                   "`torch.optim.{}(..., fused=True)`, or "
                   "`foreach=True`",
                   name)
             : fmt::format("`torch.optim.{}(..., foreach=True)`", name);
}

bool Names(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string LoaderText(const Tried& tried) {
  const std::string& name = tried.change.value;
  if (Names(name, "SingleProcess")) {
    return "`DataLoader(num_workers=N, pin_memory=True, "
           "persistent_workers=True)`: the training process loads its data "
           "itself";
  }
  if (Names(name, "copy_batch") || Names(name, "to_gpu")) {
    return "`pin_memory=True` in the DataLoader, and the next batch copied on "
           "a stream of its own while this one is computed (TorchRec's "
           "`TrainPipelineBase` does)";
  }
  return "more `num_workers` and a larger `prefetch_factor` in the DataLoader, "
         "or cheaper transforms";
}

std::string GraphText(const Tried& tried) {
  const auto& ops = tried.before.result.graph->data().ops;
  const bool trains = std::ranges::any_of(
      ops, [](const ir::Op& op) { return op.phase == ir::Phase::kOptimizer; });
  return fmt::format(
      "`torch.compile(mode=\"reduce-overhead\")`, or `torch.cuda.CUDAGraph` "
      "around all that the step launches{}",
      trains ? ", with `capturable=True` for the optimizer" : "");
}

std::string WhereOfLoading(const Tried& tried) {
  for (const Place& place : PlacesThatLoad(tried.before)) {
    if (place.name == tried.change.value) {
      return fmt::format("{}: {:.3f} ms of the host in each step", place.path,
                         ToMilliseconds(place.time));
    }
  }
  return "";
}

std::string StragglerText(const Tried& tried) {
  return fmt::format(
      "find what the late rank alone does, or what is in its "
      "input{}",
      KindsOf(tried.before).empty()
          ? ""
          : "; if it has more of the tables or of the batch, "
            "rebalance (`stepcast plan`)");
}

std::string WhereOfStraggler(const Tried& tried) {
  const sim::TaskTimes times =
      ToTaskTimes(tried.before.result.graph->data(),
                  tried.before.result.lowered, tried.before.times);
  const engine::StepLimits limits =
      engine::FindLimits(tried.before.result, &times);
  const std::string rank = fmt::format("rank {} is waited for", limits.rank);
  const std::string cut = WhereItChanges(tried);
  return !limits.why.empty() ? fmt::format("{}: {}", rank, limits.why)
         : !cut.empty()      ? fmt::format("beyond what others take, {}", cut)
                             : rank;
}

std::string GpuText(const Tried& tried) {
  return fmt::format("run on {}", tried.change.value);
}

std::string BatchText(const Tried& tried) {
  return fmt::format(
      "a batch of {} per GPU: of the present one doubled again and again, the "
      "largest that fits in memory; the gain is that of as many samples",
      tried.change.value);
}

std::string WhereOfMemory(const Tried& tried) {
  const auto& model = tried.changed.after.model;
  constexpr double kGiga = 1e9;
  return model == nullptr ? ""
                          : fmt::format("memory: {:.1f} of {:.1f} GB",
                                        model->memory.total() / kGiga,
                                        model->memory_capacity / kGiga);
}

// What a kind of change is in a training script.
struct ActionRow {
  std::string_view change;
  std::string_view value;  // A glob.
  std::string_view text{};
  Effort effort = Effort::kNone;
  std::string_view risk{};
  std::string (*make)(const Tried& tried) = nullptr;  // Instead of `text`.
  std::string (*where)(const Tried& tried) = WhereItChanges;
};

constexpr std::string_view kShapesStay =
    "shapes and addresses must stay the same, and nothing may wait for the "
    "device";

// The first row that fits counts.
constexpr ActionRow kActions[] = {
    {.change = "remove-sync",
     .value = "*",
     .effort = Effort::kLow,
     .risk = "what is read later is a value of an earlier step",
     .make = SyncText,
     .where = WhereOfSync},
    {.change = "pin-copies",
     .value = "*",
     .text = "`pin_memory=True` in the DataLoader and `non_blocking=True` in "
             "`.to()`",
     .effort = Effort::kLow,
     .risk = "takes memory of the host that cannot be swapped"},
    {.change = "cuda-graphs",
     .value = "fwd",
     .text = "`torch.compile(mode=\"reduce-overhead\")` or "
             "`torch.cuda.CUDAGraph` around the forward pass",
     .effort = Effort::kMedium,
     .risk = kShapesStay},
    {.change = "cuda-graphs",
     .value = "fwd+bwd",
     .text = "`torch.cuda.make_graphed_callables` or "
             "`torch.compile(mode=\"reduce-overhead\")` around forward and "
             "backward pass",
     .effort = Effort::kMedium,
     .risk = kShapesStay},
    {.change = "cuda-graphs",
     .value = "*",
     .effort = Effort::kMedium,
     .risk = kShapesStay,
     .make = GraphText},
    {.change = "fuse-optimizer",
     .value = "*",
     .effort = Effort::kLow,
     .risk = "sums in another order",
     .make = OptimizerText},
    {.change = "fuse-embeddings",
     .value = "*",
     .text = "TorchRec's `EmbeddingBagCollection` or FBGEMM's "
             "`SplitTableBatchedEmbeddingBagsCodegen` in place of an "
             "`nn.EmbeddingBag` per table",
     .effort = Effort::kMedium,
     .risk = "the optimizer of the tables moves into the backward pass"},
    {.change = "fuse-elementwise",
     .value = "*",
     .text = "`torch.compile` of the model, or of the functions with these "
             "ops",
     .effort = Effort::kMedium,
     .risk = "graph breaks, and compiling anew where shapes change"},
    {.change = "precision",
     .value = "amp*",
     .effort = Effort::kLow,
     .risk = "the accuracy of the model has to be checked",
     .make = AutocastText},
    {.change = "precision",
     .value = "tf32",
     .text = "`torch.backends.cuda.matmul.allow_tf32 = True` and "
             "`torch.backends.cudnn.allow_tf32 = True`",
     .effort = Effort::kLow,
     .risk = "products with 10 bits of mantissa"},
    {.change = "precision",
     .value = "*",
     .text = "parameters and activations in half precision, as in "
             "`model.to(torch.bfloat16)`",
     .effort = Effort::kMedium,
     .risk = "the accuracy of the model has to be checked"},
    {.change = "overlap-comm",
     .value = "bucket*",
     .text = "`DistributedDataParallel(..., bucket_cap_mb=N)` with the N that "
             "was tried",
     .effort = Effort::kLow,
     .risk = "kernels and collectives share the GPU",
     .where = WhereOfCollectives},
    {.change = "overlap-comm",
     .value = "prefetch",
     .text = "TorchRec's `TrainPipelineSparseDist`: ids are distributed while "
             "the batch before is computed",
     .effort = Effort::kMedium,
     .risk = "one more batch in memory",
     .where = WhereOfCollectives},
    {.change = "overlap-comm",
     .value = "all_reduce",
     .text = "`DistributedDataParallel` with `bucket_cap_mb` tuned: gradients "
             "are summed while the backward pass goes on",
     .effort = Effort::kMedium,
     .risk = "kernels and collectives share the GPU",
     .where = WhereOfCollectives},
    {.change = "overlap-comm",
     .value = "all_to_all",
     .effort = Effort::kMedium,
     .risk = "lookups of the semi-synchronous pipeline miss the last update",
     .make = ExchangeText,
     .where = WhereOfCollectives},
    {.change = "overlap-comm",
     .value = "*",
     .text = "start collectives with `async_op=True` and wait where the result "
             "is used: DDP's buckets for gradients, TorchRec's "
             "`TrainPipelineSparseDist` for ids",
     .effort = Effort::kMedium,
     .risk = "kernels and collectives share the GPU",
     .where = WhereOfCollectives},
    {.change = "fp16-comm",
     .value = "*",
     .effort = Effort::kLow,
     .risk = "gradients and vectors lose bits on the way",
     .make = Fp16CommText},
    {.change = "remove-straggler",
     .value = "*",
     .effort = Effort::kMedium,
     .risk = "may be chance: compare more steps",
     .make = StragglerText,
     .where = WhereOfStraggler},
    {.change = "gpu",
     .value = "*",
     .effort = Effort::kHigh,
     .risk = "costs; its host is taken to be as fast as this one",
     .make = GpuText},
    {.change = "drop-op",
     .value = "*",
     .effort = Effort::kLow,
     .risk = "takes memory, and processors of the host",
     .make = LoaderText,
     .where = WhereOfLoading},
    {.change = "batch",
     .value = "*",
     .effort = Effort::kLow,
     .risk = "convergence: the learning rate has to follow",
     .make = BatchText,
     .where = WhereOfMemory},
    {.change = "plan",
     .value = "*",
     .text = "`stepcast plan` with this model and these GPUs, `--out "
             "plan.json`: a TorchRec `ShardingPlan` for "
             "`DistributedModelParallel(plan=...)`",
     .effort = Effort::kMedium,
     .risk = "made for the ids per sample of the model; checkpoints are laid "
             "out by the plan"},
    {.change = "impl",
     .value = "torchrec",
     .text = "TorchRec's `EmbeddingBagCollection` with "
             "`DistributedModelParallel`",
     .effort = Effort::kHigh,
     .risk = "the model has to be ported"},
    {.change = "impl",
     .value = "hugectr",
     .text = "train with HugeCTR",
     .effort = Effort::kHigh,
     .risk = "the model has to be ported"},
    {.change = "impl",
     .value = "*",
     .text = "use NVIDIA's DLRM (DeepLearningExamples), with its fused lookup "
             "and interaction",
     .effort = Effort::kHigh,
     .risk = "the model has to be ported"},
    {.change = "placement",
     .value = "hbm",
     .text = "all tables in the GPUs' memory: TorchRec's "
             "`EmbeddingComputeKernel.FUSED`",
     .effort = Effort::kLow,
     .risk = "memory",
     .where = WhereOfMemory},
    {.change = "placement",
     .value = "*",
     .text = "tables that are used least in the host's memory: TorchRec's "
             "`EmbeddingComputeKernel.FUSED_UVM_CACHING`",
     .effort = Effort::kLow,
     .risk = "rare ids become slow",
     .where = WhereOfMemory},
    {.change = "scale-overhead",
     .value = "*",
     .text = "nothing that can be done as such: what a faster host is worth",
     .effort = Effort::kNone},
    {.change = "scale-op",
     .value = "*",
     .text = "nothing that can be done as such: what faster kernels are worth",
     .effort = Effort::kNone},
};

}  // namespace

std::string_view Name(Effort effort) {
  switch (effort) {
    case Effort::kLow:
      return "low";
    case Effort::kMedium:
      return "medium";
    case Effort::kHigh:
      return "high";
    case Effort::kNone:
      break;
  }
  return "none";
}

Action ActionOf(const Case& before, const Change& change,
                const Changed& changed) {
  const auto* const row =
      std::ranges::find_if(kActions, [&](const ActionRow& item) {
        return item.change == change.kind->name &&
               Glob(item.value).Matches(change.value);
      });
  if (row == std::end(kActions)) {
    return {.text = fmt::format("`--change {}`", change.text)};
  }
  const Tried tried{.before = before, .change = change, .changed = changed};
  return {
      .text = row->make != nullptr ? row->make(tried) : std::string(row->text),
      .where = row->where(tried),
      .effort = row->effort,
      .risk = row->risk};
}

}  // namespace stepcast::whatif

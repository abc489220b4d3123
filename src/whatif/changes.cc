// The list of changes.
#include <iterator>
#include <string_view>
#include <vector>

#include "scenario/settings.h"
#include "whatif/change.h"
#include "whatif/changes/all.h"

namespace stepcast::whatif {
namespace {

// What changes add to a setting.
struct SettingChange {
  std::string_view name;
  bool last = false;
  Status (*edit)(const Change& change, StepEditor& editor) = nullptr;
  std::string_view tries{};
  std::string_view why_not_steps{};
};
constexpr SettingChange kSettingChanges[] = {
    {.name = "gpu",
     .edit = EditGpu,
     .tries = "a100-sxm-80gb h100-sxm-80gb b200-sxm-180gb mi300x mi355x"},
    {.name = "precision",
     .last = true,
     .edit = EditPrecision,
     .tries = "amp-fp16 tf32"},
    {.name = "platform",
     .why_not_steps = "what its servers add to a collective is not known; "
                      "predict its model there"},
    {.name = "overheads",
     .why_not_steps = "its host's time is measured; use scale-overhead"},
    {.name = "impl", .tries = "nvidia torchrec hugectr"},
    {.name = "placement", .tries = "hbm hybrid"},
    {.name = "cuda-graphs", .edit = EditCudaGraphs, .tries = "fwd fwd+bwd all"},
};

constexpr ChangeKind kOtherChanges[] = {
    {.name = "resize-tables",
     .arguments = "[rows|dim|pooling=]FACTOR",
     .help = "all tables with so many times the rows, columns or ids per "
             "sample",
     .set = SetTableSize,
     .why_not_steps = "its shapes are those of its model; predict the model"},
    {.name = "scale-op",
     .arguments = "NAME=FACTOR",
     .help = "an op, a kernel or a family takes so many times as long",
     .edit = ScaleOp},
    {.name = "drop-op",
     .arguments = "NAME",
     .help = "an op or a kernel is not there",
     .edit = DropOp},
    {.name = "scale-overhead",
     .arguments = "[KIND=]FACTOR",
     .help = "the host takes so many times as long, in all or one of t1-t5, "
             "no_launch, hand_over, launch, gap, sync_tail",
     .edit = ScaleOverhead,
     .tries = "0.5",
     .hypothetical = true},
    {.name = "pin-copies",
     .arguments = "",
     .help = "the host's side of all copies is page-locked",
     .set = SetPinned,
     .edit = EditPinned,
     .tries = "-"},
    {.name = "fuse-embeddings",
     .arguments = "",
     .help = "lookups table by table become one over all tables",
     .set = SetFusedEmbeddings,
     .edit = FuseEmbeddings,
     .tries = "-"},
    {.name = "fuse-elementwise",
     .arguments = "",
     .help = "elementwise kernels that follow each other become one",
     .edit = FuseElementwise,
     .tries = "-"},
    {.name = "fuse-optimizer",
     .arguments = "",
     .help = "the optimizer's kernels become one",
     .set = SetFusedOptimizer,
     .edit = FuseOptimizer,
     .tries = "-"},
    {.name = "fp16-comm",
     .arguments = "",
     .help = "collectives move FP32 numbers as FP16",
     .edit = Fp16Comm,
     .tries = "-"},
    {.name = "overlap-comm",
     .arguments = "[KIND|bucket=MIB|prefetch[=off]]",
     .help = "nothing waits for collectives, of all kinds or of one; or "
             "gradients summed in buckets of a size; or ids distributed a "
             "batch ahead",
     .set = SetCommunication,
     .sets = SetsCommunication,
     .edit = OverlapComm,
     .tries = "all_reduce all_to_all reduce_scatter all_gather bucket=25 "
              "prefetch -"},
    {.name = "remove-straggler",
     .arguments = "",
     .help = "no rank takes far longer than the median; all start at once",
     .edit = RemoveStraggler,
     .tries = "-"},
    {.name = "remove-sync",
     .arguments = "[NAME]",
     .help = "the host no longer waits for the device, in all calls or those "
             "called so",
     .edit = RemoveSync},
};

std::vector<ChangeKind> AllChanges() {
  std::vector<ChangeKind> all;
  for (const scenario::Setting& setting : scenario::Settings()) {
    if (!setting.OfRequest()) {
      continue;
    }
    ChangeKind kind{.name = setting.name,
                    .arguments = setting.value,
                    .help = setting.help,
                    .setting = &setting,
                    .why_not_steps = setting.instead};
    for (const SettingChange& more : kSettingChanges) {
      if (more.name == setting.name) {
        kind.last = more.last;
        kind.edit = more.edit;
        kind.tries = more.tries;
        if (!more.why_not_steps.empty()) {
          kind.why_not_steps = more.why_not_steps;
        }
      }
    }
    all.push_back(kind);
  }
  all.insert(all.end(), std::begin(kOtherChanges), std::end(kOtherChanges));
  return all;
}

}  // namespace

std::span<const ChangeKind> Changes() {
  static const std::vector<ChangeKind> all = AllChanges();
  return all;
}

}  // namespace stepcast::whatif

#include "scenario/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <system_error>
#include <type_traits>

#include <fmt/format.h>

#include "base/nearest.h"
#include "base/quantity.h"
#include "scenario/apply.h"
#include "scenario/words.h"
#include "workload/model.h"

namespace stepcast::scenario {
namespace {

constexpr Subjects kAll{
    .model = true, .server = true, .fleet = true, .trace = true};
constexpr Subjects kModels{.model = true, .server = true, .fleet = true};
constexpr Subjects kSteps{.model = true, .server = true, .trace = true};
constexpr Subjects kModelSteps{.model = true, .server = true};
constexpr Subjects kGpuSteps{.model = true, .trace = true};
constexpr Subjects kGpuModels{.model = true};
constexpr Subjects kServers{.server = true, .fleet = true};
constexpr Subjects kServerSteps{.server = true};
constexpr Subjects kFleets{.fleet = true};
// Servers without GPUs train, or hold tables for GPUs.
constexpr Subjects kAnyServers{.model = true, .server = true, .fleet = true};
constexpr Subjects kTableServers{.model = true, .fleet = true};
constexpr Subjects kTraces{.trace = true};

// Far above any model or cluster, and far below where sizes would overflow.
constexpr double kMostWidth = 1'000'000;
constexpr double kMostLayers = 1'000;
constexpr double kMostTables = 100'000;
constexpr double kMostTableRows = 1e12;
constexpr double kMostPooling = 100'000;
constexpr double kMostMachines = 1'048'576;
constexpr double kMostRate = 1e6;          // GB/s, GB, W.
constexpr double kMostBucket = 1'048'576;  // A terabyte of gradients.
constexpr double kMostSamples = 1'000'000;
constexpr double kMostSeed = 9e18;  // Of a 64-bit whole number.

// In the order in which they are applied: a model before its sizes, a platform
// before its GPU and figures.
constexpr std::array kSettings = {
    Setting{.name = "workload",
            .alias = "model",
            .column = "model",
            .section = Section::kWorkload,
            .value = "NAME",
            .help = "a model, built in or a .toml file, or the files of a "
                    "recorded step",
            .standard = "dlrm_mlperf",
            .example = "dlrm_default",
            .member = &Scenario::workload,
            .subjects = kAll,
            .words = ModelWords},
    Setting{.name = "sparse-features",
            .section = Section::kModel,
            .value = "N",
            .help = "tables: the model's own in turn",
            .standard = "the model's",
            .example = "4",
            .member = &Scenario::sparse_features,
            .subjects = kModels,
            .instead = "its shapes are those of its model; predict the model",
            .type = ValueType::kWhole,
            .least = 1,
            .most = kMostTables,
            .apply = ApplySparseFeatures},
    Setting{.name = "dense-features",
            .section = Section::kModel,
            .value = "N",
            .help = "numbers that the bottom MLP reads",
            .standard = "the model's",
            .example = "32",
            .member = &Scenario::dense_features,
            .subjects = kModels,
            .instead = "its shapes are those of its model; predict the model",
            .type = ValueType::kWhole,
            .least = 1,
            .most = kMostWidth,
            .apply = ApplyDenseFeatures},
    Setting{.name = "rows",
            .section = Section::kModel,
            .value = "N",
            .help = "of each table",
            .standard = "the model's",
            .example = "1000",
            .member = &Scenario::rows,
            .subjects = kModels,
            .instead = "its shapes are those of its model; predict the model",
            .type = ValueType::kWhole,
            .least = 1,
            .most = kMostTableRows,
            .apply = ApplyRows},
    Setting{.name = "rows-factor",
            .section = Section::kModel,
            .value = "FACTOR",
            .help = "what the rows of each table are multiplied with",
            .standard = "the model's",
            .example = "0.5",
            .member = &Scenario::rows_factor,
            .subjects = kModels,
            .instead = "its shapes are those of its model; predict the model",
            .type = ValueType::kNumber,
            .least = 1e-6,
            .most = 1e6,
            .apply = ApplyRowsFactor},
    Setting{.name = "pooling",
            .section = Section::kModel,
            .value = "N",
            .help = "ids that a sample looks up in each table",
            .standard = "the model's",
            .example = "7",
            .member = &Scenario::pooling,
            .subjects = kModels,
            .instead = "its shapes are those of its model; predict the model",
            .type = ValueType::kNumber,
            .least = 1,
            .most = kMostPooling,
            .apply = ApplyPooling},
    Setting{.name = "pooling-factor",
            .section = Section::kModel,
            .value = "FACTOR",
            .help = "what the pooling of each table is multiplied with",
            .standard = "the model's",
            .example = "3",
            .member = &Scenario::pooling_factor,
            .subjects = kModels,
            .instead = "its shapes are those of its model; predict the model",
            .type = ValueType::kNumber,
            .least = 1e-3,
            .most = 1e3,
            .apply = ApplyPoolingFactor},
    Setting{.name = "bottom-mlp",
            .section = Section::kModel,
            .value = "WIDTHS",
            .help = "layers after the dense features, as in 512-256-64",
            .standard = "the model's",
            .example = "1024-BOTTOM",
            .member = &Scenario::bottom_mlp,
            .subjects = kModels,
            .instead = "its shapes are those of its model; predict the model",
            .apply = ApplyBottomMlp},
    Setting{.name = "top-mlp",
            .section = Section::kModel,
            .value = "WIDTHS",
            .help = "layers after the interaction, as in 512-256-1",
            .standard = "the model's",
            .example = "1024-1",
            .member = &Scenario::top_mlp,
            .subjects = kModels,
            .instead = "its shapes are those of its model; predict the model",
            .apply = ApplyTopMlp},
    Setting{.name = "mlp-depth",
            .section = Section::kModel,
            .value = "N",
            .help = "layers of both MLPs before their last",
            .standard = "the model's",
            .example = "7",
            .member = &Scenario::mlp_depth,
            .subjects = kModels,
            .instead = "its shapes are those of its model; predict the model",
            .type = ValueType::kWhole,
            .least = 1,
            .most = kMostLayers,
            .apply = ApplyMlpDepth},
    Setting{.name = "bottom-depth",
            .section = Section::kModel,
            .value = "N",
            .help = "layers of the bottom MLP before its last",
            .standard = "the model's",
            .example = "7",
            .member = &Scenario::bottom_depth,
            .subjects = kModels,
            .instead = "its shapes are those of its model; predict the model",
            .type = ValueType::kWhole,
            .least = 1,
            .most = kMostLayers,
            .apply = ApplyBottomDepth},
    Setting{.name = "top-depth",
            .section = Section::kModel,
            .value = "N",
            .help = "layers of the top MLP before its last",
            .standard = "the model's",
            .example = "7",
            .member = &Scenario::top_depth,
            .subjects = kModels,
            .instead = "its shapes are those of its model; predict the model",
            .type = ValueType::kWhole,
            .least = 1,
            .most = kMostLayers,
            .apply = ApplyTopDepth},
    Setting{.name = "mlp-width",
            .section = Section::kModel,
            .value = "N",
            .help = "of all layers of both MLPs before their last",
            .standard = "the model's",
            .example = "96",
            .member = &Scenario::mlp_width,
            .subjects = kModels,
            .instead = "its shapes are those of its model; predict the model",
            .type = ValueType::kWhole,
            .least = 1,
            .most = kMostWidth,
            .apply = ApplyMlpWidth},
    Setting{.name = "bottom-width",
            .section = Section::kModel,
            .value = "N",
            .help = "of all layers of the bottom MLP before its last",
            .standard = "the model's",
            .example = "96",
            .member = &Scenario::bottom_width,
            .subjects = kModels,
            .instead = "its shapes are those of its model; predict the model",
            .type = ValueType::kWhole,
            .least = 1,
            .most = kMostWidth,
            .apply = ApplyBottomWidth},
    Setting{.name = "top-width",
            .section = Section::kModel,
            .value = "N",
            .help = "of all layers of the top MLP before its last",
            .standard = "the model's",
            .example = "96",
            .member = &Scenario::top_width,
            .subjects = kModels,
            .instead = "its shapes are those of its model; predict the model",
            .type = ValueType::kWhole,
            .least = 1,
            .most = kMostWidth,
            .apply = ApplyTopWidth},
    Setting{.name = "dim",
            .section = Section::kModel,
            .value = "N",
            .help = "columns of each table, and of the bottom MLP's end",
            .standard = "the model's",
            .example = "32",
            .member = &Scenario::dim,
            .subjects = kModels,
            .instead = "its shapes are those of its model; predict the model",
            .type = ValueType::kWhole,
            .least = 1,
            .most = kMostWidth,
            .apply = ApplyDim},
    Setting{.name = "placement",
            .section = Section::kRun,
            .value = "WHERE",
            .help =
                "where tables are: hbm, uvm, uvm-cache, host-cache (both with "
                ":SHARE of "
                "rows on the GPU), host, remote, hybrid (hot tables on the "
                "GPU, others "
                "on the host), hybrid-remote, or a .toml file, table by table",
            .standard = "the model's, or hbm",
            .example = "host",
            .member = &Scenario::placement,
            .subjects = kModelSteps,
            .instead = "predict its model with the other placement",
            .words = PlacementWords,
            .apply = ApplyPlacement},
    Setting{
        .name = "batch",
        .section = Section::kRun,
        .value = "N",
        .help = "samples per GPU; with a server over all of them, with "
                "trainers per thread",
        .standard = "the model's",
        .example = "512",
        .member = &Scenario::batch,
        .subjects = kModels,
        .instead =
            "its shapes are those of its batch; predict its model with another",
        .type = ValueType::kWhole,
        .least = 1,
        .most = static_cast<double>(workload::kMostBatch),
        .apply = ApplyBatch},
    Setting{
        .name = "mode",
        .section = Section::kRun,
        .value = "MODE",
        .help = "train or infer",
        .standard = "train",
        .example = "infer",
        .member = &Scenario::mode,
        .subjects = kModels,
        .instead = "a recording is of one mode; predict its model in the other",
        .words = ModeWords,
        .apply = ApplyMode},
    Setting{.name = "precision",
            .section = Section::kRun,
            .value = "TYPE",
            .help = "fp32, tf32, amp-fp16, fp16 or bf16",
            .standard = "the model's, or fp32",
            .example = "bf16",
            .member = &Scenario::precision,
            .subjects = kModelSteps,
            .instead = "use `stepcast whatif FILE --change precision=TYPE`",
            .words = PrecisionWords,
            .apply = ApplyPrecision,
            .check = CheckPrecision},
    Setting{.name = "impl",
            .section = Section::kRun,
            .value = "NAME",
            .help = "how the framework runs the model, as in `stepcast list "
                    "workloads`",
            .standard = "pytorch",
            .example = "torchrec",
            .member = &Scenario::impl,
            .subjects = kModelSteps,
            .instead = "a recording is of one implementation; predict its "
                       "model with the other",
            .known = KnownImpl,
            .words = ImplWords,
            .apply = ApplyImpl},
    Setting{.name = "cuda-graphs",
            .section = Section::kRun,
            .value = "WHAT",
            .help = "off, fwd, fwd+bwd or all",
            .standard = "off",
            .example = "all",
            .member = &Scenario::cuda_graphs,
            .subjects = kModelSteps,
            .instead = "use `stepcast whatif FILE --change cuda-graphs=WHAT`",
            .words = CudaGraphWords,
            .apply = ApplyCudaGraphs,
            .check = CheckCudaGraphs},
    Setting{.name = "platform",
            .section = Section::kMachine,
            .value = "NAME",
            .help = "servers with GPUs, as in `stepcast list platforms`",
            .standard = "one that has the GPU",
            .example = "dgx-a100",
            .member = &Scenario::platform,
            .subjects = kGpuSteps,
            .known = KnownPlatform,
            .words = PlatformWords,
            .apply = ApplyPlatform},
    Setting{.name = "gpu",
            .section = Section::kMachine,
            .value = "NAME",
            .help = "GPU, as in `stepcast list gpus`",
            .standard =
                "the platform's, or a100-sxm-80gb; of a trace the recorded one",
            .example = "h100-sxm-80gb",
            .member = &Scenario::gpu,
            .subjects = kGpuSteps,
            .known = KnownGpu,
            .words = GpuWords,
            .apply = ApplyGpu},
    Setting{.name = "gpus",
            .section = Section::kMachine,
            .value = "N",
            .help = "GPUs over all nodes",
            .standard = "1",
            .example = "4",
            .member = &Scenario::gpus,
            .subjects = kGpuModels,
            .instead = "a recorded step keeps its ranks; predict a model for "
                       "other numbers",
            .type = ValueType::kWhole,
            .least = 1,
            .most = kMostMachines,
            .apply = ApplyGpus},
    Setting{.name = "nodes",
            .section = Section::kMachine,
            .value = "N",
            .help = "servers",
            .standard = "1",
            .example = "2",
            .member = &Scenario::nodes,
            .subjects = kModelSteps,
            .instead = "a recorded step keeps its nodes; predict a model for "
                       "other numbers",
            .type = ValueType::kWhole,
            .least = 1,
            .most = kMostMachines,
            .apply = ApplyNodes,
            .check = CheckNodes},
    Setting{
        .name = "server",
        .section = Section::kMachine,
        .value = "NAME",
        .help = "servers without GPUs instead, as in `stepcast list servers`",
        .standard = "none",
        .example = "2s-skylake",
        .member = &Scenario::server,
        .subjects = kAnyServers,
        .instead = "the kernels of a recording are those of a GPU; predict its "
                   "model there",
        .known = KnownServer,
        .words = ServerWords,
        .apply = ApplyServer},
    Setting{.name = "trainers",
            .section = Section::kFleet,
            .value = "N",
            .help = "train asynchronously on so many servers",
            .standard = "1",
            .example = "6",
            .member = &Scenario::trainers,
            .subjects = kFleets,
            .type = ValueType::kWhole,
            .least = 1,
            .most = kMostMachines,
            .apply =
                [](const Value& value, Job& job) {
                  job.servers.trainers = static_cast<int>(value.whole);
                  return Status();
                }},
    Setting{.name = "hogwild",
            .alias = "threads",
            .column = "threads",
            .section = Section::kFleet,
            .value = "N",
            .help = "threads per trainer",
            .standard = "one per core",
            .example = "4",
            .member = &Scenario::hogwild,
            .subjects = kFleets,
            .type = ValueType::kWhole,
            .least = 1,
            .most = kMostMachines,
            .apply =
                [](const Value& value, Job& job) {
                  job.servers.threads = static_cast<int>(value.whole);
                  return Status();
                }},
    Setting{.name = "sparse-servers",
            .section = Section::kFleet,
            .value = "N",
            .help = "servers that hold the tables",
            .standard = "1",
            .example = "8",
            .member = &Scenario::sparse_servers,
            .subjects = kTableServers,
            .type = ValueType::kWhole,
            .least = 1,
            .most = kMostMachines,
            .apply =
                [](const Value& value, Job& job) {
                  job.servers.sparse = static_cast<int>(value.whole);
                  return Status();
                }},
    Setting{.name = "dense-servers",
            .section = Section::kFleet,
            .value = "N",
            .help = "servers that average the MLPs",
            .standard = "1",
            .example = "2",
            .member = &Scenario::dense_servers,
            .subjects = kFleets,
            .type = ValueType::kWhole,
            .least = 1,
            .most = kMostMachines,
            .apply =
                [](const Value& value, Job& job) {
                  job.servers.dense = static_cast<int>(value.whole);
                  return Status();
                }},
    Setting{.name = "sync-every",
            .section = Section::kFleet,
            .value = "N",
            .help = "iterations of a thread between averagings",
            .standard = "10",
            .example = "100",
            .member = &Scenario::sync_every,
            .subjects = kFleets,
            .type = ValueType::kWhole,
            .least = 1,
            .most = kMostMachines,
            .apply =
                [](const Value& value, Job& job) {
                  job.servers.sync_every = static_cast<int>(value.whole);
                  return Status();
                }},
    Setting{
        .name = "overheads",
        .alias = "host",
        .section = Section::kTimes,
        .value = "NAME",
        .help =
            "the host's time: a built-in set or a file; for traces also self "
            "(means of the trace) and measured",
        .standard = "the implementation's; of a trace self",
        .example = "shared",
        .member = &Scenario::overheads,
        .subjects = kSteps,
        .known = KnownOverheads,
        .words = OverheadWords,
        .apply = ApplyOverheads},
    Setting{.name = "host-memory-gb",
            .section = Section::kFigures,
            .value = "GB",
            .help = "memory of a platform's node",
            .standard = "the machine's",
            .example = "100",
            .member = &Scenario::host_memory_gb,
            .subjects = kGpuModels,
            .instead = "predict its model on the other machine",
            .type = ValueType::kNumber,
            .least = 1,
            .most = kMostRate,
            .unit = "GB",
            .apply =
                [](const Value& value, Job& job) {
                  return ApplyPlatformFigure("host_memory_gb", value, job);
                }},
    Setting{.name = "host-memory-gbs",
            .section = Section::kFigures,
            .value = "GB/s",
            .help = "its rate",
            .standard = "the machine's",
            .example = "50",
            .member = &Scenario::host_memory_gbs,
            .subjects = kGpuModels,
            .instead = "predict its model on the other machine",
            .type = ValueType::kNumber,
            .least = 1,
            .most = kMostRate,
            .unit = "GB/s",
            .apply =
                [](const Value& value, Job& job) {
                  return ApplyPlatformFigure("host_memory_gbs", value, job);
                }},
    Setting{.name = "nic-gbs",
            .section = Section::kFigures,
            .value = "GB/s",
            .help = "of each adapter of a platform",
            .standard = "the machine's",
            .example = "3",
            .member = &Scenario::nic_gbs,
            .subjects = kGpuModels,
            .instead = "predict its model on the other machine",
            .type = ValueType::kNumber,
            .least = 1e-3,
            .most = kMostRate,
            .unit = "GB/s",
            .apply =
                [](const Value& value, Job& job) {
                  return ApplyPlatformFigure("nic_gbs", value, job);
                }},
    Setting{.name = "pcie-gbs",
            .section = Section::kFigures,
            .value = "GB/s",
            .help = "of each GPU of a platform",
            .standard = "the machine's",
            .example = "8",
            .member = &Scenario::pcie_gbs,
            .subjects = kGpuModels,
            .instead = "predict its model on the other machine",
            .type = ValueType::kNumber,
            .least = 1e-3,
            .most = kMostRate,
            .unit = "GB/s",
            .apply =
                [](const Value& value, Job& job) {
                  return ApplyPlatformFigure("pcie_gbs", value, job);
                }},
    Setting{.name = "node-power-w",
            .section = Section::kFigures,
            .value = "W",
            .help = "of a platform's node",
            .standard = "the machine's",
            .example = "3000",
            .member = &Scenario::node_power_w,
            .subjects = kGpuModels,
            .instead = "predict its model on the other machine",
            .type = ValueType::kNumber,
            .least = 1,
            .most = kMostRate,
            .unit = "W",
            .apply =
                [](const Value& value, Job& job) {
                  return ApplyPlatformFigure("power_w", value, job);
                }},
    Setting{.name = "server-memory-gbs",
            .section = Section::kFigures,
            .value = "GB/s",
            .help = "memory of a server",
            .standard = "the machine's",
            .example = "40",
            .member = &Scenario::server_memory_gbs,
            .subjects = kAnyServers,
            .instead = "predict its model on the other machine",
            .type = ValueType::kNumber,
            .least = 1,
            .most = kMostRate,
            .unit = "GB/s",
            .apply =
                [](const Value& value, Job& job) {
                  return ApplyServerFigure("memory_gbs", value, job);
                }},
    Setting{.name = "server-nic-gbs",
            .section = Section::kFigures,
            .value = "GB/s",
            .help = "all adapters of a server",
            .standard = "the machine's",
            .example = "1",
            .member = &Scenario::server_nic_gbs,
            .subjects = kAnyServers,
            .instead = "predict its model on the other machine",
            .type = ValueType::kNumber,
            .least = 1e-3,
            .most = kMostRate,
            .unit = "GB/s",
            .apply =
                [](const Value& value, Job& job) {
                  return ApplyServerFigure("nic_gbs", value, job);
                },
            .check = CheckServerNic},
    Setting{.name = "server-power-w",
            .section = Section::kFigures,
            .value = "W",
            .help = "of a server",
            .standard = "the machine's",
            .example = "900",
            .member = &Scenario::server_power_w,
            .subjects = kAnyServers,
            .instead = "predict its model on the other machine",
            .type = ValueType::kNumber,
            .least = 1,
            .most = kMostRate,
            .unit = "W",
            .apply =
                [](const Value& value, Job& job) {
                  return ApplyServerFigure("power_w", value, job);
                }},
    Setting{.name = "mlp-factor",
            .alias = "resize-mlp",
            .section = Section::kModel,
            .value = "FACTOR",
            .help = "what the widths of all MLPs before their last layer are "
                    "multiplied with",
            .standard = "the model's",
            .example = "2",
            .member = &Scenario::mlp_factor,
            .subjects = kModels,
            .instead = "its shapes are those of its model; predict the model",
            .type = ValueType::kNumber,
            .least = 1e-3,
            .most = 1e3,
            .apply = ApplyMlpFactor},
    Setting{.name = "dim-factor",
            .section = Section::kModel,
            .value = "FACTOR",
            .help = "what the columns of each table are multiplied with",
            .standard = "the model's",
            .example = "2",
            .member = &Scenario::dim_factor,
            .subjects = kModels,
            .instead = "its shapes are those of its model; predict the model",
            .type = ValueType::kNumber,
            .least = 1e-3,
            .most = 1e3,
            .apply = ApplyDimFactor},
    Setting{
        .name = "plan",
        .alias = "reshard",
        .section = Section::kRun,
        .value = "FILE",
        .help = "with several GPUs and impl torchrec: which GPU has which "
                "table, a "
                "sharding plan of TorchRec as `stepcast plan --out` writes it",
        .standard = "as the implementation shards",
        .example = "plan.json",
        .member = &Scenario::plan,
        .subjects = kGpuModels,
        .instead = "predict its model with the plan",
        .apply = ApplyPlan},
    Setting{.name = "pageable",
            .section = Section::kRun,
            .value = "",
            .help = "input copies come from pageable memory",
            .standard = "pinned",
            .example = "",
            .member = &Scenario::pageable,
            .subjects = kGpuModels,
            .instead = "its copies are what they were; `stepcast whatif FILE "
                       "--change pin-copies` pins them",
            .apply = ApplyPageable},
    Setting{.name = "fused-optimizer",
            .section = Section::kRun,
            .value = "",
            .help = "one kernel updates all dense parameters",
            .standard = "one per tensor",
            .example = "",
            .member = &Scenario::fused_optimizer,
            .subjects = kGpuModels,
            .instead = "use `stepcast whatif FILE --change fuse-optimizer`",
            .apply = ApplyFusedOptimizer,
            .check = CheckFusedOptimizer},
    Setting{
        .name = "bucket-mib",
        .section = Section::kRun,
        .value = "N",
        .help = "gradients that DDP sums at once, in MiB",
        .standard = "25",
        .example = "5",
        .member = &Scenario::bucket_mib,
        .subjects = kGpuModels,
        .instead = "use `stepcast whatif FILE --change overlap-comm=bucket=N`",
        .type = ValueType::kWhole,
        .least = 1,
        .most = kMostBucket,
        .unit = "MiB",
        .apply = ApplyBucketMib,
        .check = CheckBucketMib},
    Setting{
        .name = "prefetch",
        .section = Section::kRun,
        .value = "on|off",
        .help = "of impl torchrec: the ids of the next batch are distributed "
                "during this one's forward pass",
        .standard = "on",
        .example = "off",
        .member = &Scenario::prefetch,
        .subjects = kGpuModels,
        .instead = "use `stepcast whatif FILE --change overlap-comm=prefetch`",
        .words = SwitchWords,
        .apply = ApplyPrefetch,
        .check = CheckPrefetch},
    Setting{
        .name = "runtime",
        .section = Section::kMachine,
        .value = "NAME",
        .help = "what runs operators on servers, as in `stepcast list servers`",
        .standard = "as impl",
        .example = "caffe2",
        .member = &Scenario::runtime,
        .subjects = kServerSteps,
        .instead =
            "its kernels are those of a GPU; predict its model on a server",
        .words = RuntimeWords,
        .apply = ApplyRuntime},
    Setting{.name = "sparse-server",
            .section = Section::kFleet,
            .value = "NAME",
            .help = "which servers hold the tables",
            .standard = "as server",
            .example = "2s-epyc-7742",
            .member = &Scenario::sparse_server,
            .subjects = kTableServers,
            .known = KnownServer,
            .words = ServerWords,
            .apply = ApplySparseServer},
    Setting{.name = "dense-server",
            .section = Section::kFleet,
            .value = "NAME",
            .help = "which servers average",
            .standard = "as server",
            .example = "2s-epyc-7742",
            .member = &Scenario::dense_server,
            .subjects = kFleets,
            .known = KnownServer,
            .words = ServerWords,
            .apply = ApplyDenseServer},
    Setting{.name = "profile",
            .section = Section::kTimes,
            .value = "DIR",
            .help = "directory that `stepcast fit` wrote; may be repeated",
            .standard = "none",
            .example = "profile/",
            .member = &Scenario::profile,
            .subjects = kSteps},
    Setting{.name = "profiled",
            .section = Section::kTimes,
            .value = "",
            .help = "with the time that a profiler takes",
            .standard = "without; of a recorded step with it",
            .example = "",
            .member = &Scenario::profiled,
            .subjects = kSteps,
            .apply = ApplyProfiled},
    Setting{.name = "samples",
            .section = Section::kTimes,
            .value = "N",
            .help = "draws for the interval; 0: no interval",
            .standard = "100",
            .example = "0",
            .member = &Scenario::samples,
            .subjects = kAll,
            .type = ValueType::kWhole,
            .least = 0,
            .most = kMostSamples,
            .apply = ApplySamples},
    Setting{.name = "seed",
            .section = Section::kTimes,
            .value = "N",
            .help = "of what is drawn",
            .standard = "1",
            .example = "7",
            .member = &Scenario::seed,
            .subjects = kAll,
            .type = ValueType::kWhole,
            .least = 0,
            .most = kMostSeed,
            .apply = ApplySeed},
    Setting{.name = "algorithm",
            .section = Section::kTimes,
            .value = "NAME",
            .help = "from times to a step: stepcast, lin2022 or lin2024 (the "
                    "papers' walks); may be repeated to compare",
            .standard = "stepcast",
            .example = "lin2022",
            .member = &Scenario::algorithm,
            .subjects = kGpuSteps,
            .words = AlgorithmWords},
    Setting{.name = "step",
            .section = Section::kWorkload,
            .value = "N",
            .help = "of a trace: the step, as in ProfilerStep#N",
            .standard = "a steady one",
            .example = "2",
            .member = &Scenario::step,
            .subjects = kTraces,
            .type = ValueType::kWhole,
            .least = 0,
            .most = kMostSeed},
    Setting{.name = "rank",
            .section = Section::kWorkload,
            .value = "N",
            .help = "of a trace: use this rank alone",
            .standard = "all",
            .example = "1",
            .member = &Scenario::rank,
            .subjects = kTraces,
            .type = ValueType::kWhole,
            .least = 0,
            .most = kMostMachines},
    Setting{
        .name = "rules",
        .section = Section::kWorkload,
        .value = "FILE",
        .help = "of a trace: rule file to ask before the built-in ones; may be "
                "repeated",
        .standard = "the built-in ones",
        .example = "rules.toml",
        .member = &Scenario::rules,
        .subjects = kTraces},
};

// Whether two names are the same but for `_` and `-`.
bool SameName(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](char x, char y) {
    return x == y || ((x == '_' || x == '-') && (y == '_' || y == '-'));
  });
}

// What to do instead of setting it there.
std::string Advice(const Setting& setting, Subject subject) {
  if (subject == Subject::kTrace && !setting.instead.empty()) {
    return std::string(setting.instead);
  }
  std::string subjects;
  for (const Subject other :
       {Subject::kModel, Subject::kServer, Subject::kFleet, Subject::kTrace}) {
    if (setting.subjects.Has(other)) {
      subjects +=
          fmt::format("{}{}", subjects.empty() ? "" : ", ", Describe(other));
    }
  }
  return fmt::format("it is of {}", subjects);
}

}  // namespace

std::string_view Title(Section section) {
  switch (section) {
    case Section::kWorkload:
      return "recorded steps";
    case Section::kModel:
      return "model";
    case Section::kRun:
      return "how it is run";
    case Section::kMachine:
      return "machine";
    case Section::kFleet:
      return "fleet of servers";
    case Section::kFigures:
      return "figures of the machine";
    case Section::kTimes:
      return "times";
  }
  return "";
}

std::string_view Describe(Subject subject) {
  switch (subject) {
    case Subject::kModel:
      return "a model on GPUs";
    case Subject::kServer:
      return "a model on servers without GPUs";
    case Subject::kFleet:
      return "a fleet of servers";
    case Subject::kTrace:
      return "a recorded step";
  }
  return "";
}

bool Subjects::Has(Subject subject) const {
  switch (subject) {
    case Subject::kModel:
      return model;
    case Subject::kServer:
      return server;
    case Subject::kFleet:
      return fleet;
    case Subject::kTrace:
      return trace;
  }
  return false;
}

bool Setting::OfFleets() const {
  return section == Section::kFleet;
}

bool Setting::IsList() const {
  return std::holds_alternative<std::vector<std::string> Scenario::*>(member);
}

bool Setting::OfRequest() const {
  constexpr std::string_view kOverheads = "overheads";
  return apply != nullptr &&
         (section == Section::kModel || section == Section::kRun ||
          section == Section::kMachine || section == Section::kFigures ||
          name == kOverheads);
}

std::string Setting::Key() const {
  std::string key(column.empty() ? name : column);
  std::ranges::replace(key, '-', '_');
  return key;
}

bool Setting::IsSet(const Scenario& scenario) const {
  return std::visit(
      [&]<typename T>(T Scenario::*field) { return scenario.*field != T{}; },
      member);
}

std::span<const Setting> Settings() {
  return kSettings;
}

const Setting* FindSetting(std::string_view name) {
  const auto* const found =
      std::ranges::find_if(kSettings, [&](const Setting& setting) {
        return SameName(setting.name, name) ||
               (!setting.alias.empty() && SameName(setting.alias, name));
      });
  return found == std::end(kSettings) ? nullptr : found;
}

size_t IndexOf(const Setting& setting) {
  return static_cast<size_t>(&setting - kSettings.data());
}

std::string UnknownSetting(std::string_view name) {
  std::array<std::string_view, kSettings.size()> names;
  std::ranges::transform(kSettings, names.begin(), &Setting::name);
  std::ranges::sort(names);
  return Unknown("setting", name, names);
}

Result<Value> ParseValue(const Setting& setting, std::string_view text) {
  Value value{.text = std::string(text)};
  if (setting.type == ValueType::kWord) {
    return value;
  }
  const char* const end = text.data() + text.size();
  if (setting.type == ValueType::kWhole) {
    const auto [stop, error] = std::from_chars(text.data(), end, value.whole);
    value.number = static_cast<double>(value.whole);
    if (error == std::errc() && stop == end && value.number >= setting.least &&
        value.number <= setting.most) {
      return value;
    }
  } else {
    const auto number = ParseQuantity(text, setting.unit);
    value.number = number.value_or(0);
    if (number && value.number >= setting.least &&
        value.number <= setting.most) {
      return value;
    }
  }
  constexpr double kUnbounded = 1e15;  // Nobody means more.
  const std::string range =
      setting.most < kUnbounded
          ? fmt::format("from {} to {}", setting.least, setting.most)
          : fmt::format("of {} or more", setting.least);
  return Fail(
      ErrorCode::kInvalidInput,
      fmt::format("{} is '{}'; expected a {} {}{}{}", setting.name, text,
                  setting.type == ValueType::kWhole ? "whole number" : "number",
                  range, setting.unit.empty() ? "" : " ", setting.unit));
}

Status SetSetting(std::string_view text, std::string_view where,
                  Scenario& scenario) {
  const size_t equals = std::min(text.find('='), text.size());
  const std::string_view name = text.substr(0, equals);
  const Setting* const setting = FindSetting(name);
  if (setting == nullptr) {
    return Fail(ErrorCode::kInvalidInput, UnknownSetting(name));
  }
  if (!setting->IsFlag() && equals == text.size()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} has no value in '{}'; expected NAME=VALUE",
                            name, where));
  }
  const std::string value(text.substr(std::min(equals + 1, text.size())));
  if (const auto* const list =
          std::get_if<std::vector<std::string> Scenario::*>(&setting->member)) {
    (scenario.**list).insert((scenario.**list).begin(), value);
    return {};
  }
  return SetValue(*setting, equals == text.size() ? "true" : value, scenario);
}

Status SetValue(const Setting& setting, std::string_view text,
                Scenario& scenario) {
  return std::visit(
      [&]<typename T>(T Scenario::*member) -> Status {
        if constexpr (std::is_same_v<T, bool>) {
          if (text != "true" && text != "false") {
            return Fail(ErrorCode::kInvalidInput,
                        fmt::format("{} is '{}'; expected true or false",
                                    setting.name, text));
          }
          scenario.*member = text == "true";
        } else {
          scenario.*member = T{std::string(text)};
        }
        return {};
      },
      setting.member);
}

Subject SubjectOfModel(const Scenario& scenario) {
  const bool on_gpus = !scenario.gpu.empty() || !scenario.platform.empty();
  if (on_gpus && scenario.trainers.empty()) {
    return Subject::kModel;
  }
  const bool fleet =
      std::ranges::any_of(kSettings, [&](const Setting& setting) {
        return setting.OfFleets() && setting.IsSet(scenario);
      });
  return fleet                     ? Subject::kFleet
         : scenario.server.empty() ? Subject::kModel
                                   : Subject::kServer;
}

void ClearOthers(Subject subject, Scenario& scenario) {
  for (const Setting& setting : kSettings) {
    if (!setting.subjects.Has(subject)) {
      std::visit([&]<typename T>(T Scenario::*field) { scenario.*field = T{}; },
                 setting.member);
    }
  }
}

Status CheckSubject(const Scenario& scenario, Subject subject) {
  for (const Setting& setting : kSettings) {
    if (setting.subjects.Has(subject) || !setting.IsSet(scenario)) {
      continue;
    }
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} means nothing for {}; {}", setting.name,
                            Describe(subject), Advice(setting, subject)));
  }
  return {};
}

}  // namespace stepcast::scenario

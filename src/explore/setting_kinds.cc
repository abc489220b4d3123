// The list of what a study may set.
#include <array>

#include "explore/setters.h"
#include "explore/setting.h"
#include "workload/build_graph.h"

namespace stepcast::explore {
namespace {

// Far above any model or cluster, and far below where sizes would overflow.
constexpr double kMostWidth = 1'000'000;
constexpr double kMostLayers = 1'000;
constexpr double kMostTables = 100'000;
constexpr double kMostTableRows = 1e12;
constexpr double kMostPooling = 100'000;
constexpr double kMostMachines = 1'048'576;
constexpr double kMostRate = 1e6;  // GB/s, GB, W.

template <int Servers::*kMember>
Status SetServersOf(const SettingValue& value, Scenario& scenario) {
  return SetServers(kMember, value, scenario);
}

constexpr std::array kSettingKinds = {
    SettingKind{.name = "model",
                .help = "a built-in workload or a .toml file",
                .type = SettingType::kWord,
                .check = CheckModel},
    SettingKind{.name = "sparse_features",
                .help = "tables: the model's own in turn",
                .least = 1,
                .most = kMostTables,
                .set = SetSparseFeatures},
    SettingKind{.name = "dense_features",
                .help = "numbers that the bottom MLP reads",
                .least = 1,
                .most = kMostWidth,
                .set = SetDenseFeatures},
    SettingKind{.name = "rows",
                .help = "of each table",
                .least = 1,
                .most = kMostTableRows,
                .set = SetRows},
    SettingKind{.name = "rows_factor",
                .help = "what the rows of each table are multiplied with",
                .type = SettingType::kNumber,
                .least = 1e-6,
                .most = 1e6,
                .set = SetRowsFactor},
    SettingKind{.name = "pooling",
                .help = "ids a sample looks up in each table",
                .type = SettingType::kNumber,
                .least = 1,
                .most = kMostPooling,
                .set = SetPooling},
    SettingKind{.name = "pooling_factor",
                .help = "what the pooling of each table is multiplied with",
                .type = SettingType::kNumber,
                .least = 1e-3,
                .most = 1e3,
                .set = SetPoolingFactor},
    SettingKind{.name = "bottom_mlp",
                .help = "widths behind the dense features: \"512-256-64\"",
                .type = SettingType::kWord,
                .set = SetBottomMlp},
    SettingKind{.name = "top_mlp",
                .help = "widths behind the interaction: \"512-256-1\"",
                .type = SettingType::kWord,
                .set = SetTopMlp},
    SettingKind{.name = "mlp_depth",
                .help = "layers of both MLPs before their last",
                .least = 1,
                .most = kMostLayers,
                .set = SetMlpDepth},
    SettingKind{.name = "bottom_depth",
                .help = "layers of the bottom MLP before its last",
                .least = 1,
                .most = kMostLayers,
                .set = SetBottomDepth},
    SettingKind{.name = "top_depth",
                .help = "layers of the top MLP before its last",
                .least = 1,
                .most = kMostLayers,
                .set = SetTopDepth},
    SettingKind{.name = "mlp_width",
                .help = "of all layers of both MLPs before their last",
                .least = 1,
                .most = kMostWidth,
                .set = SetMlpWidth},
    SettingKind{.name = "bottom_width",
                .help = "of all layers of the bottom MLP before its last",
                .least = 1,
                .most = kMostWidth,
                .set = SetBottomWidth},
    SettingKind{.name = "top_width",
                .help = "of all layers of the top MLP before its last",
                .least = 1,
                .most = kMostWidth,
                .set = SetTopWidth},
    SettingKind{.name = "dim",
                .help = "columns of each table, and of the bottom MLP's end",
                .least = 1,
                .most = kMostWidth,
                .set = SetDim},
    SettingKind{.name = "placement",
                .help = "where tables are: hbm, uvm, host, remote, hybrid, ...",
                .type = SettingType::kWord,
                .set = SetPlacement},
    SettingKind{.name = "batch",
                .help = "samples a step of each GPU or trainer's thread",
                .least = 1,
                .most = static_cast<double>(workload::kMostBatch),
                .set = SetBatch},
    SettingKind{.name = "mode",
                .help = "train or infer",
                .type = SettingType::kWord,
                .set = SetMode},
    SettingKind{.name = "precision",
                .help = "fp32, tf32, amp-fp16, fp16 or bf16",
                .type = SettingType::kWord,
                .set = SetPrecision},
    SettingKind{.name = "impl",
                .help = "how the model is run, as in `list workloads`",
                .type = SettingType::kWord,
                .set = SetImpl,
                .check = CheckImpl},
    SettingKind{.name = "cuda_graphs",
                .help = "off, fwd, fwd+bwd or all",
                .type = SettingType::kWord,
                .set = SetCudaGraphs},
    SettingKind{.name = "platform",
                .help = "a server with GPUs, as in `list platforms`",
                .type = SettingType::kWord,
                .set = SetPlatform,
                .check = CheckPlatform},
    SettingKind{.name = "gpu",
                .help = "as in `list gpus`; of a platform its own",
                .type = SettingType::kWord,
                .set = SetGpu,
                .check = CheckGpu},
    SettingKind{.name = "gpus",
                .help = "GPUs over all nodes",
                .least = 1,
                .most = kMostMachines,
                .set = SetGpus},
    SettingKind{.name = "nodes",
                .help = "servers with GPUs",
                .least = 1,
                .most = kMostMachines,
                .set = SetNodes},
    SettingKind{.name = "server",
                .help = "a server without GPUs, as in `list servers`",
                .type = SettingType::kWord,
                .set = SetServer,
                .check = CheckServer},
    SettingKind{.name = "trainers",
                .help = "servers that train, asynchronously",
                .least = 1,
                .most = kMostMachines,
                .set = SetServersOf<&Servers::trainers>},
    SettingKind{.name = "threads",
                .help = "of a trainer; one a core if left out",
                .least = 1,
                .most = kMostMachines,
                .set = SetServersOf<&Servers::threads>},
    SettingKind{.name = "sparse_servers",
                .help = "servers that hold tables",
                .least = 1,
                .most = kMostMachines,
                .set = SetServersOf<&Servers::sparse>},
    SettingKind{.name = "dense_servers",
                .help = "servers that hold dense parameters",
                .least = 1,
                .most = kMostMachines,
                .set = SetServersOf<&Servers::dense>},
    SettingKind{.name = "sync_every",
                .help = "steps of a thread between two averagings",
                .least = 1,
                .most = kMostMachines,
                .set = SetServersOf<&Servers::sync_every>},
    SettingKind{.name = "overheads",
                .help = "the host's time: a built-in set or a file",
                .type = SettingType::kWord,
                .set = SetOverheads,
                .check = CheckOverheads},
    SettingKind{.name = "host_memory_gb",
                .help = "of a platform's node, instead of its file's",
                .type = SettingType::kNumber,
                .least = 1,
                .most = kMostRate,
                .unit = "GB",
                .set =
                    [](const SettingValue& value, Scenario& scenario) {
                      return SetPlatformFigure("host_memory_gb", value,
                                               scenario);
                    }},
    SettingKind{.name = "host_memory_gbs",
                .help = "likewise, in GB/s",
                .type = SettingType::kNumber,
                .least = 1,
                .most = kMostRate,
                .unit = "GB/s",
                .set =
                    [](const SettingValue& value, Scenario& scenario) {
                      return SetPlatformFigure("host_memory_gbs", value,
                                               scenario);
                    }},
    SettingKind{.name = "nic_gbs",
                .help = "of each adapter of a platform, likewise",
                .type = SettingType::kNumber,
                .least = 1e-3,
                .most = kMostRate,
                .unit = "GB/s",
                .set =
                    [](const SettingValue& value, Scenario& scenario) {
                      return SetPlatformFigure("nic_gbs", value, scenario);
                    }},
    SettingKind{.name = "pcie_gbs",
                .help = "of each GPU of a platform, likewise",
                .type = SettingType::kNumber,
                .least = 1e-3,
                .most = kMostRate,
                .unit = "GB/s",
                .set =
                    [](const SettingValue& value, Scenario& scenario) {
                      return SetPlatformFigure("pcie_gbs", value, scenario);
                    }},
    SettingKind{.name = "node_power_w",
                .help = "of a platform's node, likewise",
                .type = SettingType::kNumber,
                .least = 1,
                .most = kMostRate,
                .unit = "W",
                .set =
                    [](const SettingValue& value, Scenario& scenario) {
                      return SetPlatformFigure("power_w", value, scenario);
                    }},
    SettingKind{.name = "server_memory_gbs",
                .help = "of a server, instead of its file's",
                .type = SettingType::kNumber,
                .least = 1,
                .most = kMostRate,
                .unit = "GB/s",
                .set =
                    [](const SettingValue& value, Scenario& scenario) {
                      return SetServerFigure("memory_gbs", value, scenario);
                    }},
    SettingKind{.name = "server_nic_gbs",
                .help = "likewise",
                .type = SettingType::kNumber,
                .least = 1e-3,
                .most = kMostRate,
                .unit = "GB/s",
                .set =
                    [](const SettingValue& value, Scenario& scenario) {
                      return SetServerFigure("nic_gbs", value, scenario);
                    }},
    SettingKind{.name = "server_power_w",
                .help = "likewise",
                .type = SettingType::kNumber,
                .least = 1,
                .most = kMostRate,
                .unit = "W",
                .set =
                    [](const SettingValue& value, Scenario& scenario) {
                      return SetServerFigure("power_w", value, scenario);
                    }},
};

}  // namespace

std::span<const SettingKind> SettingKinds() {
  return kSettingKinds;
}

}  // namespace stepcast::explore

#include "explore/setting.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/nearest.h"
#include "cost/overheads/overhead_files.h"
#include "engine/place_tables.h"
#include "explore/resize_model.h"
#include "hw/gpu_files.h"
#include "hw/platform_files.h"
#include "hw/server_files.h"
#include "workload/build_graph.h"
#include "workload/model_files.h"

namespace stepcast::explore {
namespace {

// Far above any model or cluster, and far below where sizes would overflow.
constexpr double kMostWidth = 1'000'000;
constexpr double kMostLayers = 1'000;
constexpr double kMostTables = 100'000;
constexpr double kMostRows = 1e12;
constexpr double kMostPooling = 100'000;
constexpr double kMostMachines = 1'048'576;
constexpr double kMostRate = 1e6;  // GB/s, GB, W.

int64_t Whole(const SettingValue& value) {
  return std::llround(*value.number);
}

int Count(const SettingValue& value) {
  return static_cast<int>(Whole(value));
}

Status SetBottomMlp(const SettingValue& value, Scenario& scenario) {
  ASSIGN_OR_RETURN(scenario.request.model.bottom_mlp, ParseMlp(value.text));
  return {};
}

Status SetTopMlp(const SettingValue& value, Scenario& scenario) {
  ASSIGN_OR_RETURN(scenario.request.model.top_mlp, ParseMlp(value.text));
  return {};
}

template <typename Set>
void ForTables(Scenario& scenario, const Set& set) {
  for (workload::TableGroup& group : scenario.request.model.tables) {
    set(group);
  }
}

Status SetRows(const SettingValue& value, Scenario& scenario) {
  ForTables(scenario,
            [&](workload::TableGroup& group) { group.rows = Whole(value); });
  return {};
}

Status SetRowsFactor(const SettingValue& value, Scenario& scenario) {
  ForTables(scenario, [&](workload::TableGroup& group) {
    const double rows = static_cast<double>(group.rows) * *value.number;
    group.rows = std::max<int64_t>(std::llround(rows), 1);
  });
  return {};
}

Status SetPooling(const SettingValue& value, Scenario& scenario) {
  ForTables(scenario, [&](workload::TableGroup& group) {
    group.pooling = *value.number;
  });
  return {};
}

Status SetPoolingFactor(const SettingValue& value, Scenario& scenario) {
  ForTables(scenario, [&](workload::TableGroup& group) {
    // A sample has an id at least.
    group.pooling = std::max(group.pooling * *value.number, 1.0);
  });
  return {};
}

Status SetMlpWidth(const SettingValue& value, Scenario& scenario) {
  SetWidth(Whole(value), scenario.request.model.bottom_mlp);
  SetWidth(Whole(value), scenario.request.model.top_mlp);
  return {};
}

Status SetMlpDepth(const SettingValue& value, Scenario& scenario) {
  SetDepth(Whole(value), scenario.request.model.bottom_mlp);
  SetDepth(Whole(value), scenario.request.model.top_mlp);
  return {};
}

Status SetPlacement(const SettingValue& value, Scenario& scenario) {
  scenario.placement = value.text;
  return engine::SetPlacement(value.text, scenario.request);
}

Status SetPrecision(const SettingValue& value, Scenario& scenario) {
  ASSIGN_OR_RETURN(scenario.request.settings.precision,
                   workload::ParsePrecision(value.text));
  return {};
}

Status SetMode(const SettingValue& value, Scenario& scenario) {
  ASSIGN_OR_RETURN(scenario.request.settings.mode,
                   workload::ParseMode(value.text));
  return {};
}

Status SetCudaGraphs(const SettingValue& value, Scenario& scenario) {
  ASSIGN_OR_RETURN(scenario.request.settings.cuda_graphs,
                   workload::ParseCudaGraphs(value.text));
  return {};
}

Status CheckModel(const std::string& word) {
  ASSIGN_OR_RETURN(const workload::Model model, workload::FindModel(word));
  return {};
}

Status CheckImpl(const std::string& word) {
  const std::vector<std::string> names = workload::ImplementationNames();
  if (std::ranges::find(names, word) == names.end()) {
    const std::vector<std::string_view> views(names.begin(), names.end());
    return Fail(ErrorCode::kInvalidInput,
                Unknown("implementation", word, views));
  }
  return {};
}

Status CheckPlatform(const std::string& word) {
  ASSIGN_OR_RETURN(const hw::Platform platform, hw::FindPlatform(word));
  return {};
}

Status CheckGpu(const std::string& word) {
  ASSIGN_OR_RETURN(const hw::Device device, hw::FindDevice(word));
  return {};
}

Status CheckOverheads(const std::string& word) {
  ASSIGN_OR_RETURN(const cost::OverheadData data, cost::LoadOverheads(word));
  return {};
}

// Figures of a machine, instead of those of its file.
Status SetPlatformFigure(std::string_view key, const SettingValue& value,
                         Scenario& scenario) {
  scenario.platform_figures.emplace_back(key, *value.number);
  return {};
}

Status SetServerFigure(std::string_view key, const SettingValue& value,
                       Scenario& scenario) {
  scenario.server_figures.emplace_back(key, *value.number);
  return {};
}

template <int Servers::*kMember>
Status SetServers(const SettingValue& value, Scenario& scenario) {
  scenario.servers.*kMember = Count(value);
  return {};
}

Status CheckServer(const std::string& word) {
  ASSIGN_OR_RETURN(const hw::Server server, hw::FindServer(word));
  return {};
}

using Value = SettingValue;

constexpr std::array kKinds = {
    SettingKind{.name = "model",
                .help = "a built-in workload or a .toml file",
                .type = SettingType::kWord,
                .check = CheckModel},
    SettingKind{.name = "sparse_features",
                .help = "tables: the model's own in turn",
                .least = 1,
                .most = kMostTables,
                .set = [](const Value& value, Scenario& scenario) -> Status {
                  SetTableCount(Whole(value), scenario.request.model);
                  return {};
                }},
    SettingKind{.name = "dense_features",
                .help = "numbers that the bottom MLP reads",
                .least = 1,
                .most = kMostWidth,
                .set = [](const Value& value, Scenario& scenario) -> Status {
                  scenario.request.model.dense_features = Whole(value);
                  return {};
                }},
    SettingKind{.name = "rows",
                .help = "of each table",
                .least = 1,
                .most = kMostRows,
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
                .set = [](const Value& value, Scenario& scenario) -> Status {
                  SetDepth(Whole(value), scenario.request.model.bottom_mlp);
                  return {};
                }},
    SettingKind{.name = "top_depth",
                .help = "layers of the top MLP before its last",
                .least = 1,
                .most = kMostLayers,
                .set = [](const Value& value, Scenario& scenario) -> Status {
                  SetDepth(Whole(value), scenario.request.model.top_mlp);
                  return {};
                }},
    SettingKind{.name = "mlp_width",
                .help = "of all layers of both MLPs before their last",
                .least = 1,
                .most = kMostWidth,
                .set = SetMlpWidth},
    SettingKind{.name = "bottom_width",
                .help = "of all layers of the bottom MLP before its last",
                .least = 1,
                .most = kMostWidth,
                .set = [](const Value& value, Scenario& scenario) -> Status {
                  SetWidth(Whole(value), scenario.request.model.bottom_mlp);
                  return {};
                }},
    SettingKind{.name = "top_width",
                .help = "of all layers of the top MLP before its last",
                .least = 1,
                .most = kMostWidth,
                .set = [](const Value& value, Scenario& scenario) -> Status {
                  SetWidth(Whole(value), scenario.request.model.top_mlp);
                  return {};
                }},
    SettingKind{.name = "dim",
                .help = "columns of each table, and of the bottom MLP's end",
                .least = 1,
                .most = kMostWidth,
                .set = [](const Value& value, Scenario& scenario) -> Status {
                  SetDim(Whole(value), scenario.request.model);
                  return {};
                }},
    SettingKind{.name = "placement",
                .help = "where tables are: hbm, uvm, host, remote, hybrid, ...",
                .type = SettingType::kWord,
                .set = SetPlacement},
    SettingKind{.name = "batch",
                .help = "samples a step of each GPU or trainer's thread",
                .least = 1,
                .most = static_cast<double>(workload::kMostBatch),
                .set = [](const Value& value, Scenario& scenario) -> Status {
                  scenario.request.settings.batch = Whole(value);
                  return {};
                }},
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
                .set = [](const Value& value, Scenario& scenario) -> Status {
                  scenario.request.settings.impl = value.text;
                  return {};
                },
                .check = CheckImpl},
    SettingKind{.name = "cuda_graphs",
                .help = "off, fwd, fwd+bwd or all",
                .type = SettingType::kWord,
                .set = SetCudaGraphs},
    SettingKind{.name = "platform",
                .help = "a server with GPUs, as in `list platforms`",
                .type = SettingType::kWord,
                .set = [](const Value& value, Scenario& scenario) -> Status {
                  scenario.request.platform = value.text;
                  return {};
                },
                .check = CheckPlatform},
    SettingKind{.name = "gpu",
                .help = "as in `list gpus`; of a platform its own",
                .type = SettingType::kWord,
                .set = [](const Value& value, Scenario& scenario) -> Status {
                  scenario.request.gpu = value.text;
                  return {};
                },
                .check = CheckGpu},
    SettingKind{.name = "gpus",
                .help = "GPUs over all nodes",
                .least = 1,
                .most = kMostMachines,
                .set = [](const Value& value, Scenario& scenario) -> Status {
                  scenario.request.gpus = Count(value);
                  return {};
                }},
    SettingKind{.name = "nodes",
                .help = "servers with GPUs",
                .least = 1,
                .most = kMostMachines,
                .set = [](const Value& value, Scenario& scenario) -> Status {
                  scenario.request.nodes = Count(value);
                  return {};
                }},
    SettingKind{.name = "server",
                .help = "a server without GPUs, as in `list servers`",
                .type = SettingType::kWord,
                .set = [](const Value& value, Scenario& scenario) -> Status {
                  scenario.servers.name = value.text;
                  return {};
                },
                .check = CheckServer},
    SettingKind{.name = "trainers",
                .help = "servers that train, asynchronously",
                .least = 1,
                .most = kMostMachines,
                .set = SetServers<&Servers::trainers>},
    SettingKind{.name = "threads",
                .help = "of a trainer; one a core if left out",
                .least = 1,
                .most = kMostMachines,
                .set = SetServers<&Servers::threads>},
    SettingKind{.name = "sparse_servers",
                .help = "servers that hold tables",
                .least = 1,
                .most = kMostMachines,
                .set = SetServers<&Servers::sparse>},
    SettingKind{.name = "dense_servers",
                .help = "servers that hold dense parameters",
                .least = 1,
                .most = kMostMachines,
                .set = SetServers<&Servers::dense>},
    SettingKind{.name = "sync_every",
                .help = "steps of a thread between two averagings",
                .least = 1,
                .most = kMostMachines,
                .set = SetServers<&Servers::sync_every>},
    SettingKind{.name = "overheads",
                .help = "the host's time: a built-in set or a file",
                .type = SettingType::kWord,
                .set = [](const Value& value, Scenario& scenario) -> Status {
                  scenario.request.overheads = value.text;
                  return {};
                },
                .check = CheckOverheads},
    SettingKind{.name = "host_memory_gb",
                .help = "of a platform's node, instead of its file's",
                .type = SettingType::kNumber,
                .least = 1,
                .most = kMostRate,
                .set =
                    [](const Value& value, Scenario& scenario) {
                      return SetPlatformFigure("host_memory_gb", value,
                                               scenario);
                    }},
    SettingKind{.name = "host_memory_gbs",
                .help = "likewise, in GB/s",
                .type = SettingType::kNumber,
                .least = 1,
                .most = kMostRate,
                .set =
                    [](const Value& value, Scenario& scenario) {
                      return SetPlatformFigure("host_memory_gbs", value,
                                               scenario);
                    }},
    SettingKind{.name = "nic_gbs",
                .help = "of each adapter of a platform, likewise",
                .type = SettingType::kNumber,
                .least = 1e-3,
                .most = kMostRate,
                .set =
                    [](const Value& value, Scenario& scenario) {
                      return SetPlatformFigure("nic_gbs", value, scenario);
                    }},
    SettingKind{.name = "pcie_gbs",
                .help = "of each GPU of a platform, likewise",
                .type = SettingType::kNumber,
                .least = 1e-3,
                .most = kMostRate,
                .set =
                    [](const Value& value, Scenario& scenario) {
                      return SetPlatformFigure("pcie_gbs", value, scenario);
                    }},
    SettingKind{.name = "node_power_w",
                .help = "of a platform's node, likewise",
                .type = SettingType::kNumber,
                .least = 1,
                .most = kMostRate,
                .set =
                    [](const Value& value, Scenario& scenario) {
                      return SetPlatformFigure("power_w", value, scenario);
                    }},
    SettingKind{.name = "server_memory_gbs",
                .help = "of a server, instead of its file's",
                .type = SettingType::kNumber,
                .least = 1,
                .most = kMostRate,
                .set =
                    [](const Value& value, Scenario& scenario) {
                      return SetServerFigure("memory_gbs", value, scenario);
                    }},
    SettingKind{.name = "server_nic_gbs",
                .help = "likewise",
                .type = SettingType::kNumber,
                .least = 1e-3,
                .most = kMostRate,
                .set =
                    [](const Value& value, Scenario& scenario) {
                      return SetServerFigure("nic_gbs", value, scenario);
                    }},
    SettingKind{.name = "server_power_w",
                .help = "likewise",
                .type = SettingType::kNumber,
                .least = 1,
                .most = kMostRate,
                .set =
                    [](const Value& value, Scenario& scenario) {
                      return SetServerFigure("power_w", value, scenario);
                    }},
};

}  // namespace

std::span<const SettingKind> SettingKinds() {
  return kKinds;
}

std::optional<size_t> FindSetting(std::string_view name) {
  const auto found = std::ranges::find(kKinds, name, &SettingKind::name);
  if (found == kKinds.end()) {
    return std::nullopt;
  }
  return static_cast<size_t>(found - kKinds.begin());
}

Status CheckValue(const SettingKind& kind, const SettingValue& value) {
  if (kind.type == SettingType::kWord) {
    if (value.number) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{} is {}; expected a word: {}", kind.name,
                              value.text, kind.help));
    }
    return kind.check == nullptr ? Status() : kind.check(value.text);
  }
  const bool whole = kind.type == SettingType::kWhole;
  const bool good = value.number && *value.number >= kind.least &&
                    *value.number <= kind.most &&
                    (!whole || *value.number == std::round(*value.number));
  if (!good) {
    return Fail(
        ErrorCode::kInvalidInput,
        fmt::format("{} is {}; expected a {} from {} to {}", kind.name,
                    value.number ? value.text : fmt::format("'{}'", value.text),
                    whole ? "whole number" : "number", kind.least, kind.most));
  }
  return {};
}

SettingValue NumberValue(SettingType type, double number) {
  if (type == SettingType::kWhole) {
    const double whole = std::round(number);
    return {.text = fmt::format("{:.0f}", whole), .number = whole};
  }
  // As many digits as are shown, so that a shown row can be asked for again.
  std::string text = fmt::format("{:.6g}", number);
  double shown = number;
  std::from_chars(text.data(), text.data() + text.size(), shown);
  return {.text = std::move(text), .number = shown};
}

}  // namespace stepcast::explore

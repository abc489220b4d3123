#include "explore/setters.h"

#include <algorithm>
#include <cmath>
#include <vector>

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

int64_t Whole(const SettingValue& value) {
  return std::llround(*value.number);
}

int Count(const SettingValue& value) {
  return static_cast<int>(Whole(value));
}

template <typename Set>
void ForTables(Scenario& scenario, const Set& set) {
  for (workload::TableGroup& group : scenario.request.model.tables) {
    set(group);
  }
}

}  // namespace

Status SetBottomMlp(const SettingValue& value, Scenario& scenario) {
  ASSIGN_OR_RETURN(scenario.request.model.bottom_mlp, ParseMlp(value.text));
  return {};
}

Status SetTopMlp(const SettingValue& value, Scenario& scenario) {
  ASSIGN_OR_RETURN(scenario.request.model.top_mlp, ParseMlp(value.text));
  return {};
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

Status SetSparseFeatures(const SettingValue& value, Scenario& scenario) {
  SetTableCount(Whole(value), scenario.request.model);
  return {};
}

Status SetDenseFeatures(const SettingValue& value, Scenario& scenario) {
  scenario.request.model.dense_features = Whole(value);
  return {};
}

Status SetBottomDepth(const SettingValue& value, Scenario& scenario) {
  SetDepth(Whole(value), scenario.request.model.bottom_mlp);
  return {};
}

Status SetTopDepth(const SettingValue& value, Scenario& scenario) {
  SetDepth(Whole(value), scenario.request.model.top_mlp);
  return {};
}

Status SetBottomWidth(const SettingValue& value, Scenario& scenario) {
  SetWidth(Whole(value), scenario.request.model.bottom_mlp);
  return {};
}

Status SetTopWidth(const SettingValue& value, Scenario& scenario) {
  SetWidth(Whole(value), scenario.request.model.top_mlp);
  return {};
}

Status SetDim(const SettingValue& value, Scenario& scenario) {
  SetDim(Whole(value), scenario.request.model);
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

Status SetBatch(const SettingValue& value, Scenario& scenario) {
  scenario.request.settings.batch = Whole(value);
  return {};
}

Status SetImpl(const SettingValue& value, Scenario& scenario) {
  scenario.request.settings.impl = value.text;
  return {};
}

Status SetPlatform(const SettingValue& value, Scenario& scenario) {
  scenario.request.platform = value.text;
  return {};
}

Status SetGpu(const SettingValue& value, Scenario& scenario) {
  scenario.request.gpu = value.text;
  return {};
}

Status SetGpus(const SettingValue& value, Scenario& scenario) {
  scenario.request.gpus = Count(value);
  return {};
}

Status SetNodes(const SettingValue& value, Scenario& scenario) {
  scenario.request.nodes = Count(value);
  return {};
}

Status SetServer(const SettingValue& value, Scenario& scenario) {
  scenario.servers.name = value.text;
  return {};
}

Status SetOverheads(const SettingValue& value, Scenario& scenario) {
  scenario.request.overheads = value.text;
  return {};
}

Status SetServers(int Servers::*member, const SettingValue& value,
                  Scenario& scenario) {
  scenario.servers.*member = Count(value);
  return {};
}

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

Status CheckServer(const std::string& word) {
  ASSIGN_OR_RETURN(const hw::Server server, hw::FindServer(word));
  return {};
}

}  // namespace stepcast::explore

// What each setting of a study does to a scenario, and which words it knows.
#ifndef STEPCAST_EXPLORE_SETTERS_H_
#define STEPCAST_EXPLORE_SETTERS_H_

#include <string>
#include <string_view>

#include "base/result.h"
#include "explore/scenario.h"
#include "explore/setting.h"

namespace stepcast::explore {

// The model. Values of numbers are in the range of their kind.
Status SetSparseFeatures(const SettingValue& value, Scenario& scenario);
Status SetDenseFeatures(const SettingValue& value, Scenario& scenario);
Status SetRows(const SettingValue& value, Scenario& scenario);
Status SetRowsFactor(const SettingValue& value, Scenario& scenario);
Status SetPooling(const SettingValue& value, Scenario& scenario);
Status SetPoolingFactor(const SettingValue& value, Scenario& scenario);
Status SetBottomMlp(const SettingValue& value, Scenario& scenario);
Status SetTopMlp(const SettingValue& value, Scenario& scenario);
Status SetMlpDepth(const SettingValue& value, Scenario& scenario);
Status SetBottomDepth(const SettingValue& value, Scenario& scenario);
Status SetTopDepth(const SettingValue& value, Scenario& scenario);
Status SetMlpWidth(const SettingValue& value, Scenario& scenario);
Status SetBottomWidth(const SettingValue& value, Scenario& scenario);
Status SetTopWidth(const SettingValue& value, Scenario& scenario);
Status SetDim(const SettingValue& value, Scenario& scenario);
Status SetPlacement(const SettingValue& value, Scenario& scenario);

// How it is run.
Status SetBatch(const SettingValue& value, Scenario& scenario);
Status SetMode(const SettingValue& value, Scenario& scenario);
Status SetPrecision(const SettingValue& value, Scenario& scenario);
Status SetImpl(const SettingValue& value, Scenario& scenario);
Status SetCudaGraphs(const SettingValue& value, Scenario& scenario);
Status SetOverheads(const SettingValue& value, Scenario& scenario);

// Where.
Status SetPlatform(const SettingValue& value, Scenario& scenario);
Status SetGpu(const SettingValue& value, Scenario& scenario);
Status SetGpus(const SettingValue& value, Scenario& scenario);
Status SetNodes(const SettingValue& value, Scenario& scenario);
Status SetServer(const SettingValue& value, Scenario& scenario);
Status SetServers(int Servers::*member, const SettingValue& value,
                  Scenario& scenario);
/// Figures of a machine, instead of those of its file.
Status SetPlatformFigure(std::string_view key, const SettingValue& value,
                         Scenario& scenario);
Status SetServerFigure(std::string_view key, const SettingValue& value,
                       Scenario& scenario);

// Fail for words that nothing is called.
Status CheckModel(const std::string& word);
Status CheckImpl(const std::string& word);
Status CheckPlatform(const std::string& word);
Status CheckGpu(const std::string& word);
Status CheckOverheads(const std::string& word);
Status CheckServer(const std::string& word);

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_SETTERS_H_

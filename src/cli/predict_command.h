// What `stepcast predict` was asked, and its two kinds of answer.
#ifndef STEPCAST_CLI_PREDICT_COMMAND_H_
#define STEPCAST_CLI_PREDICT_COMMAND_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"
#include "cli/report_options.h"
#include "engine/predictor.h"
#include "report/prediction.h"
#include "scenario/job.h"
#include "scenario/scenario.h"

namespace stepcast::cli {

/// The words of the options, as given.
struct PredictCommand {
  scenario::Scenario scenario;
  std::vector<std::string> sets;
  std::string threads;
  std::string perfetto;
  ReportOptions output;
  std::vector<std::string> fail_on;
  /// What all this asks, before anything is filled in.
  scenario::Scenario asked{};
};

/// Which traces to read, and how.
InputOptions InputOf(const PredictCommand& command);

/// Declares the options that say which step is meant and how sure to be of it.
void AddWorkloadOptions(OptionParser& parser, PredictCommand& command);

/// Declares the settings of what `plan` shards.
void AddPlanSettings(OptionParser& parser, scenario::Scenario& scenario);

/// Whether the words name a model: a built-in one, a .toml file, or nothing
/// that exists, so that the error lists what is built in.
bool IsModel(const std::vector<std::string>& files);

/// Fails for options that mean nothing for what the words name.
Status CheckOptions(const PredictCommand& command);

/// With the profiles that were named.
inline engine::Predictor PredictorOf(const PredictCommand& command) {
  return engine::Predictor(
      {command.scenario.profile.begin(), command.scenario.profile.end()});
}

/// A model's job. Servers that hold the tables of GPUs are of studies alone.
Result<scenario::Job> ResolveModel(const PredictCommand& command);

/// How a recorded step is to be predicted.
Result<engine::PredictOptions> ReadTraceOptions(const PredictCommand& command);

/// Of a model, built in or from a file.
Result<report::PredictionReport> PredictModel(const PredictCommand& command);

/// Declares what `predict` alone has: asynchronous training on many servers,
/// and the papers' walks.
void AddPredictOptions(OptionParser& parser, PredictCommand& command);

/// Of a step that was recorded: its ops and kernels with other times.
Result<report::PredictionReport> PredictTrace(const PredictCommand& command);

/// Adds what the algorithms asked for make of the same times; the last one's
/// step is the answer.
Status AddAlgorithms(const PredictCommand& command,
                     const engine::StepResult& result,
                     const cost::OverheadTable* overheads, bool profiled,
                     report::PredictionReport& report);

/// Writes the timeline that --perfetto asks for and the page of --html.
Status WritePictures(const PredictCommand& command,
                     const engine::StepResult& result,
                     const report::PredictionReport& report);

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_PREDICT_COMMAND_H_

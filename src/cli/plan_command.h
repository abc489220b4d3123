// What `stepcast plan` was asked, and its answer.
#ifndef STEPCAST_CLI_PLAN_COMMAND_H_
#define STEPCAST_CLI_PLAN_COMMAND_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/report_options.h"
#include "report/plan_report.h"

namespace stepcast::cli {

/// The words of the options, as given.
struct PlanCommand {
  std::vector<std::string> models;
  std::string gpu;
  std::string gpus;
  std::string nodes;
  std::string platform;
  std::string batch;
  std::string precision;
  std::string placement;
  std::string overheads;
  std::vector<std::string> profiles;
  std::vector<std::string> sharders;
  std::vector<std::string> constraints;
  std::string hbm;
  std::string plan;
  std::string out;
  std::string time_limit;
  std::string evaluations;
  std::string trials;
  std::string seed;
  std::string threads;
  std::vector<std::string> fail_on;
  ReportOptions output;
};

/// Searches, or evaluates the plan that was given, and writes the best one
/// and the
/// page of --html where they are wanted.
Result<report::PlanReport> MakePlan(const PlanCommand& command);

}  // namespace stepcast::cli

#endif  // STEPCAST_CLI_PLAN_COMMAND_H_

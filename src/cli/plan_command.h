// What `stepcast plan` was asked, and its answer.
#ifndef STEPCAST_CLI_PLAN_COMMAND_H_
#define STEPCAST_CLI_PLAN_COMMAND_H_

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/report_options.h"
#include "report/plan_report.h"
#include "scenario/scenario.h"

namespace stepcast::cli {

/// The words of the options, as given.
struct PlanCommand {
  scenario::Scenario scenario;
  std::vector<std::string> sharders;
  std::vector<std::string> constraints;
  std::string hbm;
  std::string plan;
  std::string out;
  std::string time_limit;
  std::string evaluations;
  std::string trials;
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

// The step that a scenario means, loaded or predicted.
#ifndef STEPCAST_API_WORKLOAD_H_
#define STEPCAST_API_WORKLOAD_H_

#include <string>
#include <string_view>
#include <vector>

#include "api/ask.h"
#include "base/result.h"
#include "scenario/job.h"
#include "scenario/resolve.h"
#include "scenario/scenario.h"
#include "whatif/case.h"

namespace stepcast::api {

/// Whether the words name a model: a built-in one, a .toml file, or nothing
/// that exists, so that the error lists what is built in.
bool IsModel(const std::vector<std::string>& files);

/// Fails for profiles that are none.
Status CheckProfiles(const scenario::Scenario& scenario);
/// The same, and for settings that mean nothing for what the words name.
Status CheckWorkload(const scenario::Scenario& scenario);

/// With the profiles that were named.
inline scenario::Resolver ResolverOf(const scenario::Scenario& scenario) {
  return scenario::Resolver({scenario.profile.begin(), scenario.profile.end()});
}

/// A model's job. Servers that hold the tables of GPUs are of studies alone.
Result<scenario::Job> ResolveModel(const scenario::Scenario& scenario,
                                   scenario::Resolver& resolver);

/// The workload as it is: a model, predicted; a recorded step, replayed from
/// its own durations; a graph without times, predicted.
Result<whatif::Case> LoadCase(const scenario::Scenario& scenario,
                              scenario::Resolver& resolver,
                              const Options& options);

/// What a user calls it.
std::string NameOf(const scenario::Scenario& scenario);

/// The settings that say which step is meant and how sure to be of it.
bool IsOfSteps(const scenario::Setting& setting);
/// Those of recordings.
bool IsOfTraces(const scenario::Setting& setting);
/// What the words are then.
inline constexpr std::string_view kTraceHelp =
    "traces, directories or archives of ranks; an execution\ntrace and a "
    "profiler trace of one run go together";

/// A part of a whole in percent; 0 of nothing.
double PercentOf(double part, double whole);

}  // namespace stepcast::api

#endif  // STEPCAST_API_WORKLOAD_H_

// The step that a scenario means, loaded or predicted.
#ifndef STEPCAST_API_WORKLOAD_H_
#define STEPCAST_API_WORKLOAD_H_

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/ask.h"
#include "base/result.h"
#include "hw/device.h"
#include "ir/graph.h"
#include "scenario/job.h"
#include "scenario/resolve.h"
#include "scenario/scenario.h"
#include "trace/classify/rules.h"
#include "trace/read/load.h"
#include "whatif/case.h"

namespace stepcast::api {

// Recordings, loaded from what a scenario names.

/// The traces, and the rules they were read with.
struct Input {
  trace::Rules rules;
  trace::Loaded loaded;
};

/// Reads what the scenario names; with a rank, that one alone.
/// `allow_duplicates` as in trace::LoadOptions.
Result<Input> LoadInput(const scenario::Scenario& scenario,
                        const Options& options, bool allow_duplicates);

struct TraceInput {
  Input input;
  std::shared_ptr<const ir::Graph> graph;
  /// From the end of the step before to that of this one, if it is known.
  std::optional<Duration> distance;
};

/// One step of them: the one that is named, or that of median length.
Result<TraceInput> LoadTrace(const scenario::Scenario& scenario,
                             const Options& options);

/// The GPU that the trace was recorded on, by the first rank's name for it.
Result<std::string> RecordedGpu(const ir::Graph& graph);

/// The value of an option that takes a whole number of at least `least`;
/// nothing if it was not given.
Result<std::optional<int64_t>> ParseNumber(std::string_view option,
                                           const std::string& text,
                                           int64_t least);

// The device that a directory describes: of measurements, or of a profile that
// was fitted to them.

/// The file that describes a device, and that of what its host takes.
inline constexpr std::string_view kDeviceFile = "device.toml";
inline constexpr std::string_view kOverheadsFile = "overheads.toml";

/// The first of the directories' files of this name; nothing if none has one.
std::optional<std::filesystem::path> FindIn(
    std::span<const std::filesystem::path> directories, std::string_view name);

/// The device that the first of the directories with one describes; nothing if
/// none does.
Result<std::optional<hw::Device>> FindOwnDevice(
    std::span<const std::filesystem::path> directories);

/// What --gpu means with these profiles: their device where none is named or
/// theirs is, else what was named.
Result<std::string> GpuOrProfiles(
    const std::string& gpu, std::span<const std::filesystem::path> profiles);

/// What --overheads means, likewise: the profiles' own for the profiles' device
/// where none is named.
std::string OverheadsOrProfiles(
    const std::string& overheads, const std::string& gpu,
    std::span<const std::filesystem::path> profiles);

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

/// A model, predicted; a recorded step as it would repeat (RecordedCase); a
/// graph without times, predicted.
Result<whatif::Case> LoadCase(const scenario::Scenario& scenario,
                              scenario::Resolver& resolver,
                              const Options& options);

/// Overheads of a recorded step that come from itself: what each of its
/// segments took, and a set of means over its steps.
inline constexpr std::string_view kMeasuredOverheads = "measured";
inline constexpr std::string_view kOwnOverheads = "self";

/// A recorded step in its steady state: with its own times, or on the GPU and
/// with the overheads that the scenario names.
Result<whatif::Case> RecordedCase(const TraceInput& trace,
                                  const scenario::Scenario& scenario,
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

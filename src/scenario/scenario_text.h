// A question in the forms in which it travels: with its answer, as JSON, and
// its scenario as a file, as TOML.
#ifndef STEPCAST_SCENARIO_SCENARIO_TEXT_H_
#define STEPCAST_SCENARIO_SCENARIO_TEXT_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_write.h"
#include "base/result.h"
#include "scenario/scenario.h"

namespace stepcast::scenario {

// The words that settings know, for completion.

std::vector<std::string> ModelWords();
std::vector<std::string> PlacementWords();
std::vector<std::string> ModeWords();
std::vector<std::string> PrecisionWords();
std::vector<std::string> ImplWords();
std::vector<std::string> CudaGraphWords();
std::vector<std::string> PlatformWords();
std::vector<std::string> GpuWords();
std::vector<std::string> ServerWords();
std::vector<std::string> RuntimeWords();
std::vector<std::string> OverheadWords();
std::vector<std::string> SwitchWords();

/// Writes members of the object that is open: "command"; "scenario", the
/// settings that were given, by name; "arguments", if there are any.
void WriteQuestion(JsonWriter& json, const Question& question);

/// Reads it back from a report; nothing if the report has no scenario. `source`
/// is the report's name in messages.
Result<std::optional<Question>> ReadQuestion(std::string_view report,
                                             std::string_view source);

/// The same as a file: a line per setting, under the heading [scenario].
std::string ScenarioToml(const Scenario& scenario);
/// Nothing if the file has no such heading, as model files. Paths in it start
/// where the file is.
Result<std::optional<Scenario>> ReadScenarioToml(std::string_view text,
                                                 std::string_view source);

/// Puts the settings that `changes` has on top of those of `scenario`.
void PutOnTop(const Scenario& changes, Scenario& scenario);

}  // namespace stepcast::scenario

#endif  // STEPCAST_SCENARIO_SCENARIO_TEXT_H_

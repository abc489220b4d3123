// A question in the form in which it travels with its answer.
#ifndef STEPCAST_SCENARIO_QUESTION_H_
#define STEPCAST_SCENARIO_QUESTION_H_

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_write.h"
#include "base/result.h"
#include "scenario/scenario.h"

namespace stepcast::scenario {

/// What `stepcast predict` was asked.
struct Question {
  /// A model's name or file, or the files of a recording; empty: the default.
  std::vector<std::string> workload{};
  Scenario scenario{};
  // Of recordings.
  std::string rank{};
  std::vector<std::string> rules{};
  /// The papers' walks to compare with.
  std::vector<std::string> algorithm{};

  friend bool operator==(const Question&, const Question&) = default;
};

/// Writes an object, the member "scenario" of reports: the settings that were
/// given, by name.
void WriteQuestion(JsonWriter& json, const Question& question);

/// Reads it back from a report; nothing if the report has none. `source` is the
/// report's name in messages.
Result<std::optional<Question>> ReadQuestion(std::string_view report,
                                             std::string_view source);

/// Puts the settings that `changes` has on top of those of `scenario`.
void PutOnTop(const Scenario& changes, Scenario& scenario);

}  // namespace stepcast::scenario

#endif  // STEPCAST_SCENARIO_QUESTION_H_

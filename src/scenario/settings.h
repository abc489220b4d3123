// The table of settings: one row for each thing that can be set, wherever it is
// set.
#ifndef STEPCAST_SCENARIO_SETTINGS_H_
#define STEPCAST_SCENARIO_SETTINGS_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "scenario/job.h"
#include "scenario/scenario.h"

namespace stepcast::scenario {

/// What a scenario is about. A setting that means nothing there is an error.
enum class Subject : uint8_t {
  kModel,   // A model on GPUs.
  kServer,  // A model on servers without GPUs.
  kFleet,   // Asynchronous training on many of them.
  kTrace,   // A recorded step.
};

/// "a model on GPUs".
std::string_view Describe(Subject subject);

/// The subjects that a setting means something for.
struct Subjects {
  bool model = false;
  bool server = false;
  bool fleet = false;
  bool trace = false;

  bool Has(Subject subject) const;
};

/// What a value is, besides lists and what is there or not (see `member`).
enum class ValueType : uint8_t { kWord, kWhole, kNumber };

/// A value as it was given, and its number where it is one.
struct Value {
  std::string text{};
  double number = 0;
  int64_t whole = 0;  // Of kWhole.
};

/// What a setting is about, as a heading of help texts.
enum class Section : uint8_t {
  kWorkload,
  kModel,
  kRun,
  kMachine,
  kFleet,
  kFigures,
  kTimes,
};
std::string_view Title(Section section);

/// Where a scenario keeps a setting.
using Member = std::variant<std::string Scenario::*, bool Scenario::*,
                            std::vector<std::string> Scenario::*>;

struct Setting {
  /// As in --name, @name=value and a study's name = value, where a `_` may
  /// stand for each `-`.
  std::string_view name;
  /// Another name, of commands and files that had it first; may be empty.
  std::string_view alias{};
  /// What tables call it, where that is not its name with `_` for `-`.
  std::string_view column{};
  Section section = Section::kRun;
  /// What its value is called in help texts; empty: it is there or not.
  std::string_view value;
  std::string_view help;
  /// What it is if it is not given.
  std::string_view standard;
  /// A value that it may have.
  std::string_view example;
  Member member;
  Subjects subjects;
  /// For a recorded step: what to do instead.
  std::string_view instead{};
  ValueType type = ValueType::kWord;
  double least = 0;  // Of numbers.
  double most = 0;
  std::string_view unit{};  // Of numbers; empty: a count or a factor.
  /// Fails for words that nothing is called. Null: `apply` does so.
  Status (*known)(const std::string& word) = nullptr;
  /// The words it knows, for completion; null: numbers, files, or none.
  std::vector<std::string> (*words)() = nullptr;
  /// Makes the job what the value says. Null: Resolve does so itself.
  Status (*apply)(const Value& value, Job& job) = nullptr;
  /// Fails where the whole job makes nothing of it.
  Status (*check)(const Job& job) = nullptr;

  bool IsFlag() const { return value.empty(); }
  /// "cuda_graphs": what tables call it.
  std::string Key() const;
  /// Only fleets have it.
  bool OfFleets() const;
  bool IsList() const;
  /// Whether it can be changed of a model that was asked for: see `Change`.
  bool OfRequest() const;
  /// Whether the scenario says anything of it.
  bool IsSet(const Scenario& scenario) const;
};

/// In the order of help texts.
std::span<const Setting> Settings();

/// Null if nothing is called so. `cuda_graphs` is `cuda-graphs`.
const Setting* FindSetting(std::string_view name);

/// Its number in the table.
size_t IndexOf(const Setting& setting);

/// "unknown setting 'bach'; did you mean batch?"
std::string UnknownSetting(std::string_view name);

/// The value of a text. Numbers may have a unit. Fails for what the setting can
/// never be: no number, out of range, a name that nothing has.
Result<Value> ParseValue(const Setting& setting, std::string_view text);

/// A word of `file`, as it reads here: a path in it starts where the file is.
/// Names of built-in things and numbers are not paths.
std::string SeenFrom(std::string_view file, const Setting& setting,
                     std::string_view text);

/// Sets one from the text "name=value", or "name" for what is there or not. A
/// list gets the value as its first, before those it has. `where` is what the
/// text was found in, for the error.
Status SetSetting(std::string_view text, std::string_view where,
                  Scenario& scenario);

/// Sets one to the value of a text: of a list, to that alone; of what is there
/// or not, to "true" or "false".
Status SetValue(const Setting& setting, std::string_view text,
                Scenario& scenario);

/// What a scenario is about if its workload is a model; a recorded one is about
/// kTrace whatever it says.
Subject SubjectOfModel(const Scenario& scenario);

/// Sets what means nothing there back to its default.
void ClearOthers(Subject subject, Scenario& scenario);

/// Fails for the first setting that means nothing there, with the way to do it
/// if there is one.
Status CheckSubject(const Scenario& scenario, Subject subject);

}  // namespace stepcast::scenario

#endif  // STEPCAST_SCENARIO_SETTINGS_H_

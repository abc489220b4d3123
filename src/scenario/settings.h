// The table of settings: one row for each thing that can be set, wherever it is
// set.
#ifndef STEPCAST_SCENARIO_SETTINGS_H_
#define STEPCAST_SCENARIO_SETTINGS_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
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

struct Setting {
  /// As in --name, @name=value and a study's name = value, where a `_` may
  /// stand for each `-`.
  std::string_view name;
  /// What its value is called in help texts; empty: it is there or not.
  std::string_view value;
  std::string_view help;
  /// What it is if it is not given.
  std::string_view standard;
  /// A value that it may have.
  std::string_view example;
  std::variant<std::string Scenario::*, bool Scenario::*,
               std::vector<std::string> Scenario::*>
      member;
  Subjects subjects;
  /// For a recorded step: what to do instead.
  std::string_view instead{};

  bool IsFlag() const { return value.empty(); }
  /// Only fleets have it.
  bool OfFleets() const;
  /// Whether the scenario says anything of it.
  bool IsSet(const Scenario& scenario) const;
};

/// In the order of help texts.
std::span<const Setting> Settings();

/// Null if nothing is called so. `cuda_graphs` is `cuda-graphs`.
const Setting* FindSetting(std::string_view name);

/// Sets one from the text "name=value", or "name" for what is there or not. A
/// list gets the value as its first, before those it has. `where` is what the
/// text was found in, for the error.
Status SetSetting(std::string_view text, std::string_view where,
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

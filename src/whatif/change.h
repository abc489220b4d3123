// One change to a step: what can be asked, and how it is written.
#ifndef STEPCAST_WHATIF_CHANGE_H_
#define STEPCAST_WHATIF_CHANGE_H_

#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "scenario/job.h"
#include "scenario/settings.h"

namespace stepcast::whatif {

class StepEditor;
struct ChangeKind;

/// "scale-op=aten::addmm=0.5"
struct Change {
  const ChangeKind* kind = nullptr;
  std::string text;   // As given.
  std::string value;  // After the name; empty if there is none.
};

/// Something that can be changed. A change of the *request* predicts a model
/// anew; one of the *step* edits the times of a step that was predicted or
/// measured. Where there are both, models are predicted anew.
struct ChangeKind {
  std::string_view name;
  std::string_view arguments;  // "NAME=FACTOR"
  std::string_view help;       // One line.
  /// Of the request: the setting that it gives a value to, or what it does to
  /// several.
  const scenario::Setting* setting = nullptr;
  Status (*set)(const Change& change, scenario::Job& job) = nullptr;
  /// Of changes with both: whether this value is one of the request. Null: all.
  bool (*sets)(const Change& change) = nullptr;
  /// Carried out after the others, whatever its place among them: what it is
  /// given has to fit what they make.
  bool last = false;
  Status (*edit)(const Change& change, StepEditor& editor) = nullptr;
  /// Why recorded steps cannot be changed so, and what to do instead; for those
  /// without `edit`.
  std::string_view why_not_steps{};
  /// Values that are tried where a user asks what would help, separated by
  /// blanks; "-" is none. Empty: not tried.
  std::string_view tries{};
  /// Nobody can do it as such: tried only where that is asked for.
  bool hypothetical = false;
};

/// In the order they are shown: every setting of a request, and what edits
/// steps.
std::span<const ChangeKind> Changes();

/// "gpu=h100-sxm-80gb", "scale-op=gemm=0.5", "remove-sync"; blanks may stand
/// for '='.
Result<Change> ParseChange(std::string_view text);

/// A value that is a factor of 0 or more.
Result<double> ParseFactor(const Change& change, std::string_view text);

/// A name with a factor after it.
struct NamedFactor {
  std::string name;  // May be empty where the change allows it.
  double factor = 1;
};
Result<NamedFactor> ParseNamedFactor(const Change& change);

/// The same with the change in its message.
Status Named(const Change& change, const Status& status);

/// Fails unless the change has no value.
Status NoValue(const Change& change);

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_CHANGE_H_

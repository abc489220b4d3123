// A study as its file describes it: what is predicted, what varies, and what is
// reported.
#ifndef STEPCAST_EXPLORE_STUDY_H_
#define STEPCAST_EXPLORE_STUDY_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "scenario/scenario.h"
#include "scenario/settings.h"

namespace stepcast::explore {

// A setting of a study: a row of the table of settings, and its value.

struct SettingValue {
  std::string text{};              // As shown: "4096", "host".
  std::optional<double> number{};  // Where it is one.
};

/// A setting with its value, and where a file says so.
struct Setting {
  size_t kind = 0;  // Its number in scenario::Settings().
  SettingValue value{};
  int64_t line = 0;
  /// All rows share it; those that it means nothing for do without.
  bool shared = false;
};

inline const scenario::Setting& KindOf(const Setting& setting) {
  return scenario::Settings()[setting.kind];
}

/// The number of the setting called so.
std::optional<size_t> FindKind(std::string_view name);

/// The number of the setting that names the model.
inline constexpr size_t kModelSetting = 0;

/// Fails for values that the kind can never have.
Status CheckValue(const scenario::Setting& kind, const SettingValue& value);

/// The value of a number as a setting has it: wholes are rounded.
SettingValue NumberValue(scenario::ValueType type, double number);

/// What all of them ask together.
Result<scenario::Scenario> ScenarioOf(std::span<const Setting> settings);

/// One value of an axis: usually one setting, of a point several.
struct AxisValue {
  std::string label{};
  std::vector<Setting> settings{};
};

/// One thing that varies.
struct Axis {
  std::string name{};  // A setting's, or "point".
  std::vector<AxisValue> values{};
  int64_t line = 0;
};

enum class Design : uint8_t {
  kGrid,            // Every value of every axis with every other.
  kLatinHypercube,  // Points in which each axis is spread evenly.
};

/// A picture of the rows. Columns by name; no series: one line.
struct ChartSpec {
  enum class Kind : uint8_t { kLines, kBars, kPoints };
  Kind kind = Kind::kLines;
  std::string title{};
  std::string x{};
  std::string y{};
  std::string series{};
  std::string where{};  // Which rows; empty: all.
  bool log_x = false;
  bool log_y = false;
};

/// What should be much, at the price of what.
struct ParetoSpec {
  std::string more = "samples_per_s";
  std::string less{};  // Empty: the first of power and memory that is known.
};

/// One input that is not known well, with two values it may have.
struct UncertainInput {
  Setting low{};
  Setting high{};
  std::string why{};
};

/// How far a conclusion hangs on such inputs: a column of one scenario, or its
/// ratio to that of another.
struct Sensitivity {
  std::string name{};
  std::string metric = "samples_per_s";
  std::vector<Setting> of{};
  std::vector<Setting> against{};  // Empty: the column itself.
  bool is_ratio = false;
  std::vector<UncertainInput> inputs{};
};

/// A study is checked when it is read: its settings are known and in range, no
/// axis is empty, and the machines of all its rows exist.
struct Study {
  std::string name{};
  std::string title{};
  std::string source{};  // Of its numbers.
  std::string notes{};
  std::string file{};           // As named in messages.
  std::vector<Setting> base{};  // What all rows share.
  std::vector<Axis> axes{};
  Design design = Design::kGrid;
  int64_t points = 0;  // Of a Latin hypercube.
  uint64_t seed = 1;
  uint32_t samples = 0;  // Monte Carlo samples of each row; 0: none.
  std::vector<std::string> columns{};  // Shown in text; empty: the usual.
  std::vector<ChartSpec> charts{};
  ParetoSpec pareto{};
  std::vector<Sensitivity> sensitivities{};
  /// Of the text and of all files it names: a row belongs to it.
  uint64_t fingerprint = 0;
};

/// Rows of the study.
int64_t RowCount(const Study& study);

/// For each axis, which of its values a row has.
class Designer {
 public:
  explicit Designer(const Study& study);
  std::vector<size_t> ValuesOf(int64_t row) const;
  /// All settings of a row, at most one of a kind, in the order of the kinds.
  std::vector<Setting> SettingsOf(int64_t row) const;

 private:
  const Study& study_;
  // Of a Latin hypercube: the order of the rows on each axis.
  std::vector<std::vector<uint32_t>> orders_;
};

/// Later ones replace earlier ones of their kind; in the order of the kinds.
std::vector<Setting> Merge(const std::vector<const std::vector<Setting>*>& all);

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_STUDY_H_

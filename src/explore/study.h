// A study as its file describes it: what is predicted, what varies, and what is
// told of it.
#ifndef STEPCAST_EXPLORE_STUDY_H_
#define STEPCAST_EXPLORE_STUDY_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "explore/setting.h"

namespace stepcast::explore {

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
  uint32_t samples = 0;  // Draws for the interval of each row; 0: none.
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

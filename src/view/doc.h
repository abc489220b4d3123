// A report as blocks that know no format: built once, written in all of them.
#ifndef STEPCAST_VIEW_DOC_H_
#define STEPCAST_VIEW_DOC_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/units.h"
#include "scenario/scenario.h"
#include "view/html/bars.h"
#include "view/html/chart.h"
#include "view/html/timeline.h"
#include "view/html/tree.h"

namespace stepcast::view {

/// A fraction: 0.456 is "45.6 %" for people, 0.456 for programs.
struct Share {
  double of_one = 0;
};
/// Not a number if the whole is nothing, which is "-" and null.
inline Share ShareOf(Duration part, Duration whole) {
  return {static_cast<double>(part.count()) /
          static_cast<double>(whole.count())};
}
/// 45.6 is "45.6 %" for people, 45.6 for programs.
struct Percent {
  double percent = 0;
};

struct Table;
/// The text and the unit follow from the type. Nothing (monostate) is left out
/// of JSON and blank for people; nullptr is null in JSON and "-" for people.
using Value =
    std::variant<std::monostate, std::nullptr_t, bool, int64_t, double,
                 Duration, Bytes, Share, Percent, std::string,
                 std::vector<int64_t>, std::vector<Duration>,
                 std::vector<std::string>, std::shared_ptr<const Table>>;

/// Names of kernels and ops are cut to this width for people: enough for all
/// but the longest templates.
inline constexpr size_t kNameWidth = 80;

/// How a value is called and shown.
struct Column {
  /// In JSON and CSV; dots lead into objects: "memory.fits". A dot at the end
  /// is an object that may be empty. Empty: for people only.
  std::string key{};
  /// For people, without the unit. Empty: for programs only.
  std::string label{};
  /// For people: of times "ms" (if empty) or "us", of bytes "GB" (if empty) or
  /// "MB"; of numbers any.
  std::string unit{};
  /// After the point; empty: as the type has it.
  std::optional<int> decimals{};
  bool sign = false;  // "+0.250"
  size_t width = 0;   // Longer words are cut in the middle; 0: never.
};

/// A line of its own: "step time   6.407 ms   p10 5.295, p90 7.377".
struct Fact {
  Column column{};
  Value value{};
  std::string note{};  // For people.
};
using Facts = std::vector<Fact>;

/// Whom a block is for.
enum class Readers : uint8_t {
  kAll,
  kPages,     // Not in text; on pages is room, and a key is in JSON.
  kText,      // Text and Markdown; pages have a picture.
  kPrograms,  // JSON alone.
};

/// Rows that are made as they are written, where there may be a million.
struct RowSource {
  size_t count = 0;
  std::function<std::vector<Value>(size_t row)> make{};
};

struct Table {
  std::string key{};      // Of the array in JSON; empty: for people only.
  std::string title{};    // "where the time goes"
  std::string caption{};  // What it is of: "rank 3, the slowest".
  std::string about{};    // Sentences that explain it, on pages.
  std::vector<Column> columns{};
  std::vector<std::vector<Value>> rows{};
  RowSource source{};  // Of more rows, after these.
  /// Rows that text shows; 0: all. JSON has all.
  size_t limit = 0;
  /// The column whose largest values are shown then, in their order; empty:
  /// the first rows are.
  std::optional<size_t> keep_by{};
  std::string none{};  // For people if there are no rows; empty: not shown.
  Readers readers = Readers::kAll;

  size_t RowCount() const { return rows.size() + source.count; }
};
/// Calls visit(row) for each.
template <typename Visit>
void VisitRows(const Table& table, const Visit& visit) {
  for (const std::vector<Value>& row : table.rows) {
    visit(row);
  }
  for (size_t i = 0; i < table.source.count; ++i) {
    visit(table.source.make(i));
  }
}

struct NamedTimeline {
  std::string name{};
  html::Timeline timeline{};
};
/// Made only for pages: they may be large. Several move together.
using MakeTimelines = std::function<std::vector<NamedTimeline>()>;
/// Likewise: a chart of a study has a point for each row.
using AnyChart = std::variant<html::Chart, html::BarChart>;
using MakeChart = std::function<AnyChart()>;

/// For pages.
struct Picture {
  std::string title{};
  std::string about{};
  std::variant<html::Bars, html::Waterfall, html::TornadoChart, html::Tree,
               MakeChart, MakeTimelines>
      drawing{};
};

/// For people: a paragraph.
struct Text {
  std::string title{};
  std::string text{};
};

/// "note: ..." each.
struct Notes {
  std::vector<std::string> notes{};
};

struct Doc;
/// A whole report inside another, for programs.
struct Nested {
  std::string key{};
  std::shared_ptr<const Doc> doc{};
};

/// Things of one kind, an array of objects in JSON. `readers` may leave out
/// people.
struct Group {
  std::string key{};
  std::vector<std::shared_ptr<const Doc>> items{};  // Their blocks alone.
  Readers readers = Readers::kAll;
};

using Block = std::variant<Facts, Table, Picture, Text, Notes, Nested, Group>;

/// A check that a user asked for.
struct CheckedCase {
  std::string name{};     // "step>+3%"
  std::string failure{};  // Empty: it held.
};

/// Blocks with the same title next to each other share its heading.
struct Doc {
  std::string title{};    // What was asked.
  std::string verdict{};  // The answer in one line.
  std::string verdict_key = "verdict";
  std::string version{};  // Of the program; nested ones have the same.
  std::optional<scenario::Question> asked{};
  std::vector<Block> blocks{};
  Table csv{};                       // What --csv writes; no columns: nothing.
  std::vector<CheckedCase> cases{};  // What JUnit has.
};

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_DOC_H_

#include "view/people.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/text/join.h"
#include "base/text/text_table.h"

namespace stepcast::view {
namespace {

// Decimals of what is shown unless a column says otherwise: nanoseconds are
// the finest that times have; a tenth of a percent is less than any error.
constexpr int kMillisecondDecimals = 3;
constexpr int kMicrosecondDecimals = 1;
constexpr int kByteDecimals = 2;
constexpr int kShareDecimals = 1;

std::string Fixed(double number, int decimals, bool sign) {
  return sign ? fmt::format("{:+.{}f}", number, decimals)
              : fmt::format("{:.{}f}", number, decimals);
}

// From a thousand on whole with commas: decimals would say nothing. What three
// digits round to a thousand is one.
std::string NumberText(double number, const Column& column) {
  const double large = column.decimals ? 1e3 : 999.5;
  if (!std::isfinite(number)) {
    return "-";
  }
  if (std::abs(number) >= large) {
    return (column.sign && number > 0 ? "+" : "") +
           WithThousands(std::llround(number));
  }
  return column.decimals ? Fixed(number, *column.decimals, column.sign)
                         : fmt::format("{:.3g}", number);
}

std::string TimeText(Duration time, const Column& column) {
  return column.unit == "us"
             ? Fixed(ToMicroseconds(time),
                     column.decimals.value_or(kMicrosecondDecimals),
                     column.sign)
             : Fixed(ToMilliseconds(time),
                     column.decimals.value_or(kMillisecondDecimals),
                     column.sign);
}

std::string PercentCell(double percent, const Column& column) {
  return std::isfinite(percent)
             ? Fixed(percent, column.decimals.value_or(kShareDecimals),
                     column.sign) +
                   " %"
             : "-";
}

// Makes text of each alternative.
struct TextMaker {
  const Column& column;

  std::string operator()(std::monostate /*nothing*/) const { return ""; }
  std::string operator()(std::nullptr_t /*null*/) const { return "-"; }
  std::string operator()(bool value) const { return value ? "yes" : "no"; }
  std::string operator()(int64_t number) const { return WithThousands(number); }
  std::string operator()(double number) const {
    return NumberText(number, column);
  }
  std::string operator()(Duration time) const { return TimeText(time, column); }
  std::string operator()(Bytes bytes) const {
    return Fixed(static_cast<double>(bytes.count) /
                     (column.unit == "MB" ? kMega : kGiga),
                 column.decimals.value_or(kByteDecimals), column.sign);
  }
  std::string operator()(Share share) const {
    return PercentCell(share.of_one * kPercent, column);
  }
  std::string operator()(Percent percent) const {
    return PercentCell(percent.percent, column);
  }
  std::string operator()(const std::string& word) const {
    const std::string text = Printable(word);
    return column.width == 0 ? text : ElideMiddle(text, column.width);
  }
  std::string operator()(const std::vector<int64_t>& numbers) const {
    return Join(numbers, " ");
  }
  std::string operator()(const std::vector<Duration>& times) const {
    std::vector<std::string> texts;
    texts.reserve(times.size());
    for (const Duration time : times) {
      texts.push_back((*this)(time));
    }
    return Join(texts, " ");
  }
  std::string operator()(const std::vector<std::string>& words) const {
    return Printable(Join(words, ", "));
  }
  std::string operator()(const std::shared_ptr<const Table>& /*rows*/) const {
    return "";
  }
};

// How large a value is, whatever its sign.
struct SizeMaker {
  double operator()(int64_t number) const {
    return std::abs(static_cast<double>(number));
  }
  double operator()(double number) const { return std::abs(number); }
  double operator()(Duration time) const {
    return std::abs(ToMicroseconds(time));
  }
  double operator()(Bytes bytes) const { return (*this)(bytes.count); }
  double operator()(Share share) const { return std::abs(share.of_one); }
  double operator()(Percent percent) const { return std::abs(percent.percent); }
  double operator()(const auto& /*words*/) const { return 0; }
};

bool IsNothing(const Value& value) {
  return std::holds_alternative<std::monostate>(value);
}

bool IsWords(const Value& value) {
  return std::holds_alternative<std::string>(value) ||
         std::holds_alternative<std::vector<std::string>>(value) ||
         std::holds_alternative<bool>(value);
}

const Value& CellOf(const std::vector<Value>& row, size_t column) {
  static const Value nothing;
  return column < row.size() ? row[column] : nothing;
}

// What the cells of a column are. A column without a value is not shown.
struct ColumnKind {
  bool shown = false;
  PeopleColumn column{};
};

ColumnKind KindOf(const Table& table, size_t index) {
  const Column& column = table.columns[index];
  ColumnKind kind;
  if (column.label.empty()) {
    return kind;
  }
  std::string unit;
  for (const auto& row : table.rows) {
    const Value& cell = CellOf(row, index);
    if (IsNothing(cell)) {
      continue;
    }
    kind.shown = true;
    kind.column.words = kind.column.words || IsWords(cell);
    kind.column.shares = kind.column.shares ||
                         (std::holds_alternative<Share>(cell) && !column.sign);
    unit = unit.empty() ? UnitOf(cell, column) : unit;
  }
  kind.column.key = column.key;
  kind.column.head =
      unit.empty() ? column.label : fmt::format("{} {}", column.label, unit);
  return kind;
}

std::vector<double> SizesOf(const Table& table, size_t column) {
  std::vector<double> sizes;
  VisitRows(table, [&](const std::vector<Value>& row) {
    sizes.push_back(std::visit(SizeMaker{}, CellOf(row, column)));
  });
  return sizes;
}

}  // namespace

std::string PeopleText(const Value& value, const Column& column) {
  return std::visit(TextMaker{.column = column}, value);
}

std::string UnitOf(const Value& value, const Column& column) {
  if (std::holds_alternative<Duration>(value) ||
      std::holds_alternative<std::vector<Duration>>(value)) {
    return column.unit.empty() ? "ms" : column.unit;
  }
  if (std::holds_alternative<Bytes>(value)) {
    return column.unit.empty() ? "GB" : column.unit;
  }
  return std::holds_alternative<double>(value) ||
                 std::holds_alternative<int64_t>(value)
             ? column.unit
             : "";
}

PeopleTable PeopleTableOf(const Table& table) {
  PeopleTable people;
  std::vector<size_t> shown;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    ColumnKind kind = KindOf(table, i);
    if (kind.shown) {
      shown.push_back(i);
      people.columns.push_back(std::move(kind.column));
    }
  }
  for (const auto& row : table.rows) {
    std::vector<std::string>& cells = people.rows.emplace_back();
    for (const size_t i : shown) {
      cells.push_back(PeopleText(CellOf(row, i), table.columns[i]));
    }
  }
  for (size_t i = 0; i < shown.size(); ++i) {
    if (people.columns[i].shares) {
      for (const auto& row : table.rows) {
        const auto* const share = std::get_if<Share>(&CellOf(row, shown[i]));
        people.shares.push_back(share == nullptr ? 0 : share->of_one);
      }
      break;
    }
  }
  return people;
}

Table CutRows(const Table& table, size_t most, std::optional<size_t> keep_by) {
  Table cut;
  cut.columns = table.columns;
  std::vector<bool> kept(table.RowCount(), true);
  if (kept.size() > most) {
    const std::vector<double> sizes =
        keep_by ? SizesOf(table, *keep_by) : std::vector<double>();
    std::vector<size_t> order(kept.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (keep_by) {
      std::ranges::stable_sort(order, std::ranges::greater(),
                               [&](size_t row) { return sizes[row]; });
    }
    for (size_t i = most; i < order.size(); ++i) {
      kept[order[i]] = false;
    }
  }
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i]) {
      cut.rows.push_back(i < table.rows.size()
                             ? table.rows[i]
                             : table.source.make(i - table.rows.size()));
    }
  }
  return cut;
}

std::string MoreText(const Table& table, const Table& shown) {
  const size_t more = table.RowCount() - shown.rows.size();
  return more == 0 ? ""
                   : fmt::format("... {} more",
                                 WithThousands(static_cast<int64_t>(more)));
}

std::vector<html::Fact> PeopleFacts(const std::vector<Block>& blocks,
                                    size_t& begin) {
  std::vector<html::Fact> facts;
  for (; begin < blocks.size(); ++begin) {
    const auto* const block = std::get_if<Facts>(&blocks[begin]);
    if (block == nullptr) {
      break;
    }
    for (const Fact& fact : *block) {
      if (fact.column.label.empty() || IsNothing(fact.value)) {
        continue;
      }
      const std::string unit = UnitOf(fact.value, fact.column);
      const std::string value = PeopleText(fact.value, fact.column);
      facts.push_back(
          {.name = fact.column.label,
           .value = unit.empty() ? value : fmt::format("{} {}", value, unit),
           .note = Printable(fact.note)});
    }
  }
  return facts;
}

std::string TitleOf(const Table& table) {
  return table.caption.empty()
             ? table.title
             : fmt::format("{}: {}", table.title, table.caption);
}

std::string Capitalized(std::string_view text) {
  std::string capitalized(text);
  if (!capitalized.empty() && capitalized[0] >= 'a' && capitalized[0] <= 'z') {
    capitalized[0] = static_cast<char>(capitalized[0] - 'a' + 'A');
  }
  return capitalized;
}

}  // namespace stepcast::view

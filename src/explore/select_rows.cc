#include "explore/select_rows.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/text/nearest.h"
#include "explore/evaluate.h"
#include "explore/row.h"
#include "explore/where.h"

namespace stepcast::explore {
namespace {

// The conclusion with some settings replaced.
double Conclude(const Sensitivity& sensitivity,
                const std::vector<Setting>& replaced, Evaluator& evaluator) {
  const Number metric =
      FindNumber(sensitivity.metric).value_or(Number::kSamplesPerS);
  const auto value = [&](const std::vector<Setting>& settings) {
    return evaluator.Evaluate(Merge({&settings, &replaced})).at(metric);
  };
  const double of = value(sensitivity.of);
  return sensitivity.is_ratio ? of / value(sensitivity.against) : of;
}

double WidthOf(const TornadoBar& bar) {
  const double width = std::abs(bar.at_high - bar.at_low);
  // An input with an unknown effect sorts as if it had the largest.
  return std::isnan(width) ? HUGE_VAL : width;
}

}  // namespace

std::vector<Tornado> MakeTornados(
    const Study& study, const std::vector<std::filesystem::path>& profiles) {
  Evaluator evaluator({.profiles = profiles, .seed = study.seed});
  std::vector<Tornado> tornados;
  for (const Sensitivity& sensitivity : study.sensitivities) {
    Tornado tornado{.name = sensitivity.name,
                    .metric = sensitivity.metric,
                    .is_ratio = sensitivity.is_ratio,
                    .usual = Conclude(sensitivity, {}, evaluator)};
    for (const UncertainInput& input : sensitivity.inputs) {
      tornado.bars.push_back(
          {.setting = KindOf(input.low).Key(),
           .low = input.low.value.text,
           .high = input.high.value.text,
           .why = input.why,
           .at_low = Conclude(sensitivity, {input.low}, evaluator),
           .at_high = Conclude(sensitivity, {input.high}, evaluator)});
    }
    std::ranges::stable_sort(
        tornado.bars, [](double a, double b) { return a > b; }, WidthOf);
    tornados.push_back(std::move(tornado));
  }
  return tornados;
}

std::optional<ParetoColumns> FindParetoColumns(const Explored& explored) {
  ParetoColumns columns;
  columns.more =
      FindNumber(explored.study.pareto.more).value_or(Number::kSamplesPerS);
  if (const auto less = FindNumber(explored.study.pareto.less)) {
    columns.less = *less;
    return columns;
  }
  for (const Number less : {Number::kPowerW, Number::kHbmGb}) {
    columns.less = less;
    if (std::ranges::any_of(explored.rows, [&](const Row& row) {
          return !std::isnan(row.at(less)) && !std::isnan(row.at(columns.more));
        })) {
      return columns;
    }
  }
  return std::nullopt;
}

std::vector<int64_t> ParetoFront(std::span<const Row> rows,
                                 const ParetoColumns& columns) {
  std::vector<int64_t> order;
  for (int64_t i = 0; i < std::ssize(rows); ++i) {
    const Row& row = rows[static_cast<size_t>(i)];
    if (!std::isnan(row.at(columns.more)) &&
        !std::isnan(row.at(columns.less))) {
      order.push_back(i);
    }
  }
  const auto key = [&](int64_t i) {
    const Row& row = rows[static_cast<size_t>(i)];
    return std::tuple(row.at(columns.less), -row.at(columns.more), i);
  };
  std::ranges::sort(order, {}, key);
  std::vector<int64_t> front;
  double best = -1;
  for (const int64_t i : order) {
    const double more = rows[static_cast<size_t>(i)].at(columns.more);
    if (more > best) {
      best = more;
      front.push_back(i);
    }
  }
  return front;
}

namespace {

struct Order {
  std::string_view column{};  // Empty: as they are.
  bool smallest_first = false;
};

Order OrderOf(const Selection& selection) {
  if (selection.by.empty()) {
    return {.column = selection.top ? "samples_per_s" : ""};
  }
  const std::string_view by = selection.by;
  return by.starts_with('-')
             ? Order{.column = by.substr(1), .smallest_first = true}
             : Order{.column = by};
}

}  // namespace

Status CheckSelection(const Study& study, const Selection& selection) {
  const std::vector<std::string> columns = ColumnNames(study);
  if (!selection.where.empty()) {
    ASSIGN_OR_RETURN(const Where where, Where::Parse(selection.where, columns));
  }
  const Order order = OrderOf(selection);
  if (!order.column.empty() &&
      std::ranges::find(columns, order.column) == columns.end()) {
    const std::vector<std::string_view> names(columns.begin(), columns.end());
    return Fail(ErrorCode::kInvalidInput,
                Unknown("column of --by", order.column, names));
  }
  return {};
}

Result<std::vector<int64_t>> SelectRows(const Explored& explored,
                                        const Selection& selection) {
  RETURN_IF_ERROR(CheckSelection(explored.study, selection));
  std::optional<Where> where;
  if (!selection.where.empty()) {
    ASSIGN_OR_RETURN(
        where, Where::Parse(selection.where, ColumnNames(explored.study)));
  }
  const Order order = OrderOf(selection);
  CellReader cells(explored);
  std::vector<std::pair<double, int64_t>> keyed;
  for (int64_t row = 0; row < std::ssize(explored.rows); ++row) {
    cells.Seek(row);
    if (where && !where->Holds(cells)) {
      continue;
    }
    double key = 0;
    if (!order.column.empty()) {
      const double number = cells.at(order.column).number.value_or(NAN);
      key = std::isnan(number) ? HUGE_VAL
                               : (order.smallest_first ? number : -number);
    }
    keyed.emplace_back(key, row);
  }
  std::ranges::sort(keyed);
  std::vector<int64_t> rows;
  for (const auto& [key, row] : keyed) {
    if (!selection.top || std::ssize(rows) < *selection.top) {
      rows.push_back(row);
    }
  }
  return rows;
}

}  // namespace stepcast::explore

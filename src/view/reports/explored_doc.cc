// A study as a document: its charts, its rows, its sensitivity to inputs.
#include "view/reports/explored_doc.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text/join.h"
#include "base/text/text_table.h"
#include "base/units.h"
#include "explore/row.h"
#include "explore/select_rows.h"
#include "explore/study.h"
#include "explore/where.h"
#include "hw/cluster.h"
#include "model/settings.h"
#include "scenario/resolve.h"
#include "view/doc.h"

namespace stepcast::view {
namespace {

// The charts of a study.

// "point large, batch 1024": which row it is.
std::string WhatVaries(const explore::Explored& explored,
                       const explore::CellReader& cells);

// As the study says, or the throughput over its first numbers.
std::vector<explore::ChartSpec> ChartsOf(const explore::Study& study);

// The rows that a chart is of.
struct ChartSubject {
  const explore::Explored& explored;
  std::span<const int64_t> rows{};
  const std::vector<bool>* marked = nullptr;  // Drawn larger and joined.
};
AnyChart DrawChart(const ChartSubject& subject, const explore::ChartSpec& spec);

using explore::CellReader;
using explore::ChartSpec;
using explore::Explored;

std::string AxisTitle(std::string_view column) {
  const auto unit = explore::UnitOfColumn(column);
  return explore::FindNumber(column) && unit && !unit->empty()
             ? fmt::format("{} ({})", column, *unit)
             : std::string(column);
}

std::string PointLabel(const Explored& explored, const CellReader& cells,
                       std::string_view y) {
  const std::string what = WhatVaries(explored, cells);
  return fmt::format("{}{}{} {}", what, what.empty() ? "" : ", ", y,
                     cells.at(y).text);
}

// Series by their name, in the order in which they come.
template <typename Series>
Series& SeriesOf(std::vector<Series>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Series::name);
  if (found != all.end()) {
    return *found;
  }
  Series made;
  made.name = name;
  all.push_back(std::move(made));
  return all.back();
}

// Those of the shown rows that the chart is about.
std::vector<int64_t> RowsOf(const ChartSubject& subject,
                            const ChartSpec& spec) {
  if (spec.where.empty()) {
    return {subject.rows.begin(), subject.rows.end()};
  }
  const auto where = explore::Where::Parse(
      spec.where, explore::ColumnNames(subject.explored.study));
  std::vector<int64_t> rows;
  CellReader cells(subject.explored);
  for (const int64_t row : subject.rows) {
    cells.Seek(row);
    if (where && where->Holds(cells)) {
      rows.push_back(row);
    }
  }
  return rows;
}

html::Chart LinesOf(const ChartSubject& subject, const ChartSpec& spec) {
  html::Chart chart;
  chart.kind = spec.kind == ChartSpec::Kind::kLines
                   ? html::Chart::Kind::kLines
                   : html::Chart::Kind::kPoints;
  chart.title = spec.title;
  chart.x_title = AxisTitle(spec.x);
  chart.y_title = AxisTitle(spec.y);
  chart.log_x = spec.log_x;
  chart.log_y = spec.log_y;
  chart.join_marked = subject.marked != nullptr;
  CellReader cells(subject.explored);
  for (const int64_t row : RowsOf(subject, spec)) {
    cells.Seek(row);
    const auto x = cells.at(spec.x).number;
    const auto y = cells.at(spec.y).number;
    html::ChartSeries& series = SeriesOf(
        chart.series, spec.series.empty() ? "" : cells.at(spec.series).text);
    if (x && y) {
      series.points.push_back(
          {.x = *x,
           .y = *y,
           .label = PointLabel(subject.explored, cells, spec.y),
           .marked = subject.marked != nullptr &&
                     (*subject.marked)[static_cast<size_t>(row)]});
    }
  }
  for (html::ChartSeries& series : chart.series) {
    std::ranges::stable_sort(series.points, {}, &html::ChartPoint::x);
  }
  return chart;
}

html::BarChart BarsOf(const ChartSubject& subject, const ChartSpec& spec) {
  html::BarChart chart;
  chart.title = spec.title;
  chart.y_title = AxisTitle(spec.y);
  std::map<std::pair<std::string, std::string>, double> values;
  CellReader cells(subject.explored);
  for (const int64_t row : RowsOf(subject, spec)) {
    cells.Seek(row);
    const std::string group = cells.at(spec.x).text;
    const std::string name =
        spec.series.empty() ? spec.y : cells.at(spec.series).text;
    SeriesOf(chart.series, name);
    if (std::ranges::find(chart.groups, group) == chart.groups.end()) {
      chart.groups.push_back(group);
    }
    values[{group, name}] = cells.at(spec.y).number.value_or(NAN);
  }
  for (html::BarChart::Series& series : chart.series) {
    for (const std::string& group : chart.groups) {
      const auto found = values.find({group, series.name});
      series.values.push_back(found == values.end() ? NAN : found->second);
    }
  }
  return chart;
}

// Charts for a study that names none: throughput over its first numbers.
std::vector<ChartSpec> UsualCharts(const explore::Study& study) {
  ChartSpec spec{.title = "Throughput", .y = "samples_per_s"};
  for (const explore::Axis& axis : study.axes) {
    const bool numbers =
        std::ranges::all_of(axis.values, [](const explore::AxisValue& value) {
          return value.settings.size() == 1 &&
                 value.settings.front().value.number.has_value();
        });
    if (axis.values.size() > 1 && numbers && spec.x.empty()) {
      spec.x = axis.name;
      spec.kind = ChartSpec::Kind::kLines;
    } else if (axis.values.size() > 1) {
      spec.series = axis.name;
    }
  }
  if (spec.x.empty()) {
    spec.kind = ChartSpec::Kind::kBars;
    std::swap(spec.x, spec.series);
  }
  return spec.x.empty() ? std::vector<ChartSpec>() : std::vector{spec};
}

std::string WhatVaries(const Explored& explored, const CellReader& cells) {
  std::vector<std::string> words;
  for (const std::string& column : explore::VaryingColumns(explored.study)) {
    words.push_back(fmt::format("{} {}", column, cells.at(column).text));
  }
  return Join(words, ", ");
}

std::vector<ChartSpec> ChartsOf(const explore::Study& study) {
  return study.charts.empty() ? UsualCharts(study) : study.charts;
}

AnyChart DrawChart(const ChartSubject& subject, const ChartSpec& spec) {
  return spec.kind == ChartSpec::Kind::kBars ? AnyChart(BarsOf(subject, spec))
                                             : AnyChart(LinesOf(subject, spec));
}

using explore::CellReader;
using explore::ChartSpec;
using explore::Explored;
using explore::Number;
using explore::Row;

constexpr std::string_view kParetoColumn = "pareto";

// Shown unless the study says otherwise, where a row knows them.
constexpr std::string_view kUsualColumns[] = {"samples_per_s",
                                              "step_us",
                                              "p10_us",
                                              "p90_us",
                                              "gpu_active",
                                              "hbm_gb",
                                              "host_gb",
                                              "servers_gb",
                                              "power_w",
                                              "samples_per_joule",
                                              "samples_per_dollar",
                                              "bound_by",
                                              "note"};

std::string NameOf(Number number) {
  return std::string(
      explore::NumberColumns()[static_cast<size_t>(number)].name);
}

// A number with as many digits as are shown anywhere, so that a shown row can
// be rerun.
Value ShownNumber(double number, std::string_view text) {
  std::from_chars(text.data(), text.data() + text.size(), number);
  constexpr double kWhole = 1e15;
  return std::abs(number) < kWhole && number == std::trunc(number)
             ? Value(static_cast<int64_t>(number))
             : Value(number);
}

Value CellValue(const explore::Cell& cell) {
  return cell.number         ? ShownNumber(*cell.number, cell.text)
         : cell.text.empty() ? Value()
                             : Value(cell.text);
}

// What no other row beats.
struct Front {
  std::optional<explore::ParetoColumns> columns{};
  std::vector<int64_t> rows{};
  std::vector<bool> has{};  // By row.
};

Front FrontOf(const Explored& explored) {
  Front front{.columns = explore::FindParetoColumns(explored)};
  front.has.resize(explored.rows.size());
  if (front.columns) {
    front.rows = explore::ParetoFront(explored.rows, *front.columns);
  }
  for (const int64_t row : front.rows) {
    front.has[static_cast<size_t>(row)] = true;
  }
  return front;
}

// What all blocks are made of; those of a million rows are made as they are
// written.
struct Subject {
  const Explored& explored;
  std::vector<int64_t> rows{};  // That are shown.
  Front front{};
};
using SubjectPtr = std::shared_ptr<const Subject>;

// Columns by their name, as --by and --where have them.
Table CellTable(const SubjectPtr& subject, std::vector<std::string> names) {
  Table table;
  for (const std::string& name : names) {
    table.columns.push_back({.key = name, .label = name});
  }
  const auto cells = std::make_shared<CellReader>(subject->explored);
  table.source = {
      .count = subject->rows.size(),
      .make = [subject, cells, names = std::move(names)](size_t i) {
        const int64_t row = subject->rows[i];
        cells->Seek(row);
        std::vector<Value> values;
        values.reserve(names.size());
        for (const std::string& name : names) {
          values.push_back(
              name == kParetoColumn
                  ? Value(int64_t{subject->front.has[static_cast<size_t>(row)]})
                  : CellValue(cells->at(name)));
        }
        return values;
      }};
  return table;
}

Table CsvRows(const SubjectPtr& subject) {
  std::vector<std::string> names =
      explore::ColumnNames(subject->explored.study);
  names.emplace_back(kParetoColumn);
  return CellTable(subject, std::move(names));
}

Table ShownTable(const SubjectPtr& subject, const ExploredView& shown) {
  const explore::Study& study = subject->explored.study;
  std::vector<std::string> names = study.columns;
  if (names.empty()) {
    names = explore::VaryingColumns(study);
    names.insert(names.end(), std::begin(kUsualColumns),
                 std::end(kUsualColumns));
  }
  std::erase(names, "row");
  names.insert(names.begin(), "row");
  Table table = CellTable(subject, names);
  table.title = "rows";
  table.about = study.source;
  table.none = "none";
  table.readers = shown.tornado ? Readers::kPages : Readers::kAll;
  table.limit = shown.limit;
  const auto best = std::ranges::find(names, NameOf(Number::kSamplesPerS));
  if (!shown.sorted && best != names.end()) {
    table.keep_by = static_cast<size_t>(best - names.begin());
  }
  return table;
}

// The keys of `predict`, where it has them.
struct NumberKey {
  std::string_view key;
  Number number{};
  int decimals = 3;  // Nanoseconds are the finest that times have.
  double scale = 1;
};
constexpr int kShareDigits = 4;  // A hundredth of a percent.
constexpr int kRateDigits = 6;
constexpr NumberKey kNumberKeys[] = {
    {"step_time_us", Number::kStepUs},
    {"samples_per_s", Number::kSamplesPerS, 1},
    {"interval_us.p10", Number::kP10Us},
    {"interval_us.p50", Number::kP50Us},
    {"interval_us.p90", Number::kP90Us},
    {"breakdown_us.gemm", Number::kGemmUs},
    {"breakdown_us.embedding", Number::kEmbeddingUs},
    {"breakdown_us.interaction", Number::kInteractionUs},
    {"breakdown_us.elementwise", Number::kElementwiseUs},
    {"breakdown_us.optimizer", Number::kOptimizerUs},
    {"breakdown_us.other", Number::kOtherUs},
    {"breakdown_us.memcpy_exposed", Number::kCopiesUs},
    {"breakdown_us.communication_exposed", Number::kCommunicationUs},
    {"breakdown_us.idle.host", Number::kIdleHostUs},
    {"breakdown_us.idle.launch", Number::kIdleLaunchUs},
    {"breakdown_us.idle.sync", Number::kIdleSyncUs},
    {"breakdown_us.idle.wait_for_rank", Number::kIdleWaitUs},
    {"memory.hbm_bytes", Number::kHbmGb, 0, kGiga},
    {"memory.hbm_capacity_bytes", Number::kHbmCapacityGb, 0, kGiga},
    {"memory.host_bytes", Number::kHostGb, 0, kGiga},
    {"memory.host_capacity_bytes", Number::kHostCapacityGb, 0, kGiga},
    {"memory.servers_bytes", Number::kServersGb, 0, kGiga},
    {"memory.servers_capacity_bytes", Number::kServersCapacityGb, 0, kGiga},
    {"memory.fits", Number::kFits},
    {"utilisation.trainer_cpu", Number::kTrainerCpu, kShareDigits},
    {"utilisation.trainer_memory", Number::kTrainerMemory, kShareDigits},
    {"utilisation.trainer_network", Number::kTrainerNetwork, kShareDigits},
    {"utilisation.sparse_cpu", Number::kSparseCpu, kShareDigits},
    {"utilisation.sparse_memory", Number::kSparseMemory, kShareDigits},
    {"utilisation.sparse_network", Number::kSparseNetwork, kShareDigits},
    {"utilisation.dense_cpu", Number::kDenseCpu, kShareDigits},
    {"utilisation.dense_memory", Number::kDenseMemory, kShareDigits},
    {"utilisation.dense_network", Number::kDenseNetwork, kShareDigits},
    {"power_w", Number::kPowerW, 1},
    {"samples_per_joule", Number::kSamplesPerJoule, kRateDigits},
    {"samples_per_dollar", Number::kSamplesPerDollar, kRateDigits},
};

// The GPU that was asked for, or the platform's; none of servers.
std::string GpuOf(const scenario::Job& job) {
  return job.request.machine.has_gpus() ? job.request.machine.gpu : "";
}

// What is predicted in each row, by the keys of `predict`.
class QuestionReader {
 public:
  static constexpr std::string_view kKeys[] = {
      "workload", "platform",      "gpu",       "server",
      "num_gpus", "batch_per_gpu", "precision", "mode"};

  // Nothing if it cannot be asked.
  void Add(std::span<const explore::Setting> settings,
           std::vector<Value>& values) {
    const auto asked = explore::ScenarioOf(settings);
    const auto job = asked
                         ? resolver_.Resolve(*asked)
                         : Result<scenario::Job>(tl::unexpected(asked.error()));
    if (!job) {
      values.resize(values.size() + std::size(kKeys));
      return;
    }
    const engine::Request& request = job->request;
    values.insert(values.end(),
                  {request.model.name, job->names.machine.platform, GpuOf(*job),
                   job->servers.name, int64_t{job->names.machine.gpus},
                   request.settings.batch > 0 ? request.settings.batch
                                              : request.model.batch,
                   std::string(model::Name(request.settings.precision)),
                   std::string(model::Name(request.settings.mode))});
  }

 private:
  scenario::Resolver resolver_;
};

std::vector<Column> JsonColumns(const std::vector<std::string>& settings) {
  std::vector<Column> columns = {{.key = "row"}};
  for (const std::string_view key : QuestionReader::kKeys) {
    columns.push_back({.key = std::string(key)});
  }
  columns.push_back({.key = "settings."});
  for (const std::string& setting : settings) {
    columns.push_back({.key = "settings." + setting});
  }
  for (const char* key : {"gpu_active_us", "gpu_idle_us", "host_busy_us"}) {
    columns.push_back({.key = key, .decimals = NumberKey().decimals});
  }
  for (const NumberKey& number : kNumberKeys) {
    columns.push_back(
        {.key = std::string(number.key), .decimals = number.decimals});
  }
  columns.push_back({.key = "bound_by"});
  columns.push_back({.key = "note"});
  return columns;
}

void AddNumbers(const Row& row, std::vector<Value>& values) {
  const double step = row.at(Number::kStepUs);
  const double active = row.at(Number::kGpuActive);
  values.insert(values.end(), {step * active, step * (1 - active),
                               step * row.at(Number::kHostBusy)});
  for (const NumberKey& number : kNumberKeys) {
    values.push_back(number.number == Number::kFits
                         ? Value(row.fits())
                         : Value(row.at(number.number) * number.scale));
  }
}

Table JsonRows(const SubjectPtr& subject) {
  std::vector<std::string> settings;
  for (std::string& column : explore::ColumnNames(subject->explored.study)) {
    if (column == "point" || explore::FindKind(column)) {
      settings.push_back(std::move(column));
    }
  }
  Table table{.key = "rows",
              .columns = JsonColumns(settings),
              .readers = Readers::kPrograms};
  struct Readers {
    CellReader cells;
    QuestionReader questions{};
  };
  const auto readers =
      std::make_shared<Readers>(Readers{CellReader(subject->explored)});
  table.source = {
      .count = subject->rows.size(),
      .make = [subject, readers, settings = std::move(settings)](size_t i) {
        CellReader& cells = readers->cells;
        cells.Seek(subject->rows[i]);
        std::vector<Value> values = {subject->rows[i]};
        readers->questions.Add(cells.settings(), values);
        values.emplace_back(true);  // Has settings, be it none.
        for (const std::string& setting : settings) {
          const explore::Cell cell = cells.at(setting);
          values.push_back(cell.number ? Value(*cell.number) : CellValue(cell));
        }
        AddNumbers(cells.row(), values);
        values.emplace_back(cells.row().bound_by);
        values.emplace_back(cells.row().note);
        return values;
      }};
  return table;
}

MakeChart Drawing(const SubjectPtr& subject, const ChartSpec& spec,
                  const std::vector<bool>* marked = nullptr) {
  return [subject, spec, marked] {
    return DrawChart({.explored = subject->explored,
                      .rows = subject->rows,
                      .marked = marked},
                     spec);
  };
}

void AddFront(const SubjectPtr& subject, Doc& doc) {
  if (!subject->front.columns) {
    return;
  }
  const std::string more = NameOf(subject->front.columns->more);
  const std::string less = NameOf(subject->front.columns->less);
  constexpr size_t kMostListed = 20;
  std::vector<int64_t> listed = subject->front.rows;
  listed.resize(std::min(listed.size(), kMostListed));
  doc.blocks.emplace_back(Facts{
      {{.key = "pareto.more"}, more},
      {{.key = "pareto.less"}, less},
      {{.key = "pareto.rows"}, subject->front.rows},
      {{.label = "Pareto front"},
       fmt::format("row{} {}{}", listed.size() == 1 ? "" : "s",
                   Join(listed, ", "),
                   listed.size() < subject->front.rows.size() ? ", ..." : ""),
       fmt::format("{} against {}", more, less)}});
  const std::vector<std::string> varying =
      explore::VaryingColumns(subject->explored.study);
  const ChartSpec spec{.kind = ChartSpec::Kind::kPoints,
                       .title = fmt::format("{} against {}", more, less),
                       .x = less,
                       .y = more,
                       .series = varying.empty() ? "" : varying.front()};
  doc.blocks.emplace_back(
      Picture{.title = "Pareto front",
              .about = "Large points: no other row has more for less.",
              .drawing = Drawing(subject, spec, &subject->front.has)});
}

Value SixDigits(double number) {
  return std::isnan(number) ? Value(nullptr)
                            : ShownNumber(number, explore::NumberText(number));
}

Doc TornadoDoc(const explore::Tornado& tornado, bool in_text) {
  html::TornadoChart chart{.title = tornado.name, .usual = tornado.usual};
  Table table{.key = "inputs",
              .title = "sensitivity to uncertain inputs",
              .caption = fmt::format("{}: {}{} is {:.4g}", tornado.name,
                                     tornado.is_ratio ? "ratio of " : "",
                                     tornado.metric, tornado.usual),
              .about =
                  "Each uncertain input at its low and at its high value, with "
                  "all others unchanged.",
              .columns = {{.key = "setting", .label = "input"},
                          {.key = "low", .label = "low"},
                          {.key = "high", .label = "high"},
                          {.key = "at_low", .label = "at low"},
                          {.key = "at_high", .label = "at high"},
                          {.key = "why", .label = "why"}},
              .readers = in_text ? Readers::kAll : Readers::kPages};
  for (const explore::TornadoBar& bar : tornado.bars) {
    chart.bars.push_back({.name = bar.setting,
                          .low = bar.low,
                          .high = bar.high,
                          .at_low = bar.at_low,
                          .at_high = bar.at_high});
    table.rows.push_back({bar.setting, bar.low, bar.high, SixDigits(bar.at_low),
                          SixDigits(bar.at_high), bar.why});
  }
  Doc doc;
  doc.blocks.emplace_back(Facts{{{.key = "name"}, tornado.name},
                                {{.key = "metric"}, tornado.metric},
                                {{.key = "ratio"}, tornado.is_ratio},
                                {{.key = "value"}, SixDigits(tornado.usual)}});
  doc.blocks.emplace_back(table);
  doc.blocks.emplace_back(Picture{
      .title = table.title, .about = table.about, .drawing = std::move(chart)});
  return doc;
}

// "120,007 samples/s at best, with rows 1000000, pooling 10"
std::string BestText(const Subject& subject) {
  const auto rate = [&](int64_t row) {
    const double known = subject.explored.rows[static_cast<size_t>(row)].at(
        Number::kSamplesPerS);
    return std::isnan(known) ? 0 : known;
  };
  const auto best = std::ranges::max_element(subject.rows, {}, rate);
  if (best == subject.rows.end() || rate(*best) == 0) {
    return "no row has a time";
  }
  CellReader cells(subject.explored);
  cells.Seek(*best);
  const std::string what = WhatVaries(subject.explored, cells);
  return fmt::format("{} samples/s at best{}{}",
                     WithThousands(std::llround(rate(*best))),
                     what.empty() ? "" : ", with ", what);
}

std::string CountsText(const Subject& subject) {
  const std::vector<Row>& rows = subject.explored.rows;
  const auto unfit = std::ranges::count_if(
      rows, [](const Row& row) { return row.at(Number::kFits) == 0; });
  const auto cannot = std::ranges::count_if(
      rows, [](const Row& row) { return std::isnan(row.at(Number::kFits)); });
  std::string text = fmt::format("{} rows", WithThousands(std::ssize(rows)));
  if (subject.rows.size() < rows.size()) {
    text += fmt::format(", {} shown", WithThousands(std::ssize(subject.rows)));
  }
  if (unfit > 0) {
    text += fmt::format(", {} do not fit in memory", WithThousands(unfit));
  }
  if (cannot > 0) {
    text += fmt::format(", {} cannot run", WithThousands(cannot));
  }
  return text;
}

}  // namespace

Doc ExploredDoc(const Explored& explored, ExploredView shown,
                const std::vector<explore::Tornado>& tornados) {
  const explore::Study& study = explored.study;
  const auto subject =
      std::make_shared<const Subject>(Subject{.explored = explored,
                                              .rows = std::move(shown.rows),
                                              .front = FrontOf(explored)});
  Doc doc;
  doc.title = study.title.empty()
                  ? study.name
                  : fmt::format("{}: {}", study.name, study.title);
  doc.verdict = fmt::format("{}; {}", BestText(*subject), CountsText(*subject));
  doc.blocks.emplace_back(
      Facts{{{.key = "study"}, study.name},
            {{.key = "title"}, study.title},
            {{.key = "row_count"}, std::ssize(explored.rows)}});
  for (const ChartSpec& spec : ChartsOf(study)) {
    doc.blocks.emplace_back(Picture{.title = "charts",
                                    .about = study.notes,
                                    .drawing = Drawing(subject, spec)});
  }
  AddFront(subject, doc);
  Group sensitivity{.key = "sensitivity"};
  for (const explore::Tornado& tornado : tornados) {
    sensitivity.items.push_back(
        std::make_shared<const Doc>(TornadoDoc(tornado, shown.tornado)));
  }
  doc.blocks.emplace_back(std::move(sensitivity));
  if (tornados.empty() && shown.tornado) {
    doc.blocks.emplace_back(
        Text{.text = "no sensitivity is asked for by this study"});
  }
  doc.blocks.emplace_back(JsonRows(subject));
  doc.blocks.emplace_back(ShownTable(subject, shown));
  doc.csv = CsvRows(subject);
  return doc;
}

}  // namespace stepcast::view

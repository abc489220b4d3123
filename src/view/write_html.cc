// Documents as pages.
#include <algorithm>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/text/text_table.h"
#include "scenario/scenario_text.h"
#include "view/html/escape.h"
#include "view/html/page.h"
#include "view/html/tree.h"
#include "view/people.h"
#include "view/write.h"

namespace stepcast::view {
namespace {

// Rows of a table; JSON has all.
constexpr size_t kMostRowsInPage = 500;

std::string KeyAttribute(std::string_view key) {
  return key.empty() ? "" : fmt::format(" data-key=\"{}\"", html::Escape(key));
}

std::string TimelinesHtml(std::vector<NamedTimeline> timelines) {
  Duration length{};
  for (const NamedTimeline& item : timelines) {
    length = std::max(length, item.timeline.Length());
  }
  std::string text;
  for (NamedTimeline& item : timelines) {
    if (timelines.size() > 1) {
      item.timeline.least_length = length;
      item.timeline.linked = true;
      text += fmt::format("<h3>{}</h3>\n", html::Escape(item.name));
    }
    text += item.timeline.ToHtml();
  }
  return text;
}

struct Drawer {
  std::string operator()(const html::Bars& bars) const {
    return html::BarsHtml(bars);
  }
  std::string operator()(const html::Waterfall& waterfall) const {
    return html::WaterfallHtml(waterfall);
  }
  std::string operator()(const html::Chart& chart) const {
    return html::ChartHtml(chart);
  }
  std::string operator()(const html::BarChart& chart) const {
    return html::BarChartHtml(chart);
  }
  std::string operator()(const html::TornadoChart& chart) const {
    return html::TornadoHtml(chart);
  }
  std::string operator()(const html::Tree& tree) const {
    return html::TreeHtml(tree);
  }
  std::string operator()(const MakeChart& make) const {
    return std::visit(*this, make());
  }
  std::string operator()(const MakeTimelines& make) const {
    return TimelinesHtml(make());
  }
};

std::string TableHtml(const Table& table) {
  const Table cut = CutRows(table, kMostRowsInPage);
  const PeopleTable people = PeopleTableOf(cut);
  const auto alignment = [&](size_t column) {
    return people.columns[column].words ? "" : " class=\"number\"";
  };
  std::string text = fmt::format("<div class=\"wide\"><table{}>\n<thead><tr>",
                                 KeyAttribute(table.key));
  for (size_t i = 0; i < people.columns.size(); ++i) {
    text += fmt::format("<th{}{}>{}</th>", alignment(i),
                        KeyAttribute(people.columns[i].key),
                        html::Escape(people.columns[i].head));
  }
  text += "</tr>\n</thead>\n<tbody>\n";
  for (const auto& row : people.rows) {
    text += "<tr>";
    for (size_t i = 0; i < row.size(); ++i) {
      text += fmt::format("<td{}>{}</td>", alignment(i), html::Escape(row[i]));
    }
    text += "</tr>\n";
  }
  text += "</tbody></table></div>\n";
  if (const std::string more = MoreText(table, cut); !more.empty()) {
    text += fmt::format("<p>{}</p>\n", more);
  }
  return text;
}

class HtmlWriter {
 public:
  explicit HtmlWriter(html::Page& page) : page_(page) {}

  void Add(const std::vector<html::Fact>& facts) {
    if (!facts.empty()) {
      page_.AddFacts(facts);
    }
  }

  void operator()(const Facts& /*facts*/) {}  // Above.
  void operator()(const Nested& /*nested*/) {}
  void operator()(const Group& group) { VisitGroup(group, *this); }

  void operator()(const Table& table) {
    if (table.readers == Readers::kPrograms ||
        table.readers == Readers::kText ||
        (table.RowCount() == 0 && table.none.empty())) {
      return;
    }
    Heading(table.title, table.about);
    if (!table.caption.empty()) {
      page_.AddHtml(fmt::format("<h3>{}</h3>\n", html::Escape(table.caption)));
    }
    if (table.RowCount() == 0) {
      page_.AddNotes({Capitalized(table.none)});
    } else {
      page_.AddHtml(TableHtml(table));
    }
  }

  void operator()(const Picture& picture) {
    Heading(picture.title, picture.about);
    page_.AddHtml(std::visit(Drawer{}, picture.drawing));
  }

  void operator()(const Text& text) {
    Heading(text.title, "");
    page_.AddHtml(
        fmt::format("<p>{}</p>\n", html::Escape(Capitalized(text.text))));
  }

  void operator()(const Notes& notes) {
    if (!notes.notes.empty()) {
      page_.AddNotes(notes.notes);
    }
  }

 private:
  void Heading(const std::string& title, const std::string& about) {
    if (!title.empty() && title != title_) {
      page_.AddSection(Capitalized(title), about);
      title_ = title;
    }
  }

  html::Page& page_;
  std::string title_;  // Of the section that is open.
};

}  // namespace

std::string WriteHtml(const Doc& doc) {
  html::Page page(Printable(doc.title), Printable(doc.verdict));
  HtmlWriter writer(page);
  VisitBlocks(doc.blocks, writer);
  if (doc.asked) {
    // The question, so that the page can be rerun as JSON reports can.
    JsonWriter json(JsonWriter::Style::kCompact);
    json.BeginObject();
    json.Key("version");
    json.String(doc.version);
    scenario::WriteQuestion(json, *doc.asked);
    json.EndObject();
    page.AddHtml(fmt::format(
        "<script type=\"application/json\" id=\"question\">{}</script>\n",
        html::EscapeScript(json.Take())));
  }
  return page.Take(doc.version);
}

}  // namespace stepcast::view

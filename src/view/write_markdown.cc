// Documents for pull requests and issues.
#include <algorithm>

#include <fmt/format.h>

#include "base/text/join.h"
#include "base/text/text_table.h"
#include "view/people.h"
#include "view/write.h"

namespace stepcast::view {
namespace {

// Text that Markdown takes for nothing else.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (std::string_view("\\`*_[]<>|#").find(c) != std::string_view::npos) {
      escaped += '\\';
    }
    escaped += c;
  }
  return escaped;
}

std::string RowText(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", Join(cells, " | "));
}

class MarkdownWriter {
 public:
  void Head(const Doc& doc) {
    text_ += fmt::format("## {}\n", Escaped(Printable(doc.title)));
    if (!doc.verdict.empty()) {
      text_ += fmt::format("\n**{}**\n",
                           Escaped(Capitalized(Printable(doc.verdict))));
    }
  }

  void Add(const std::vector<html::Fact>& facts) {
    text_ += facts.empty() ? "" : "\n";
    for (const html::Fact& fact : facts) {
      text_ += fmt::format(
          "- {}: {}{}\n", Escaped(fact.name), Escaped(fact.value),
          fact.note.empty() ? "" : fmt::format(" ({})", Escaped(fact.note)));
    }
  }

  void operator()(const Facts& /*facts*/) {}  // Above.
  void operator()(const Picture& /*picture*/) {}
  void operator()(const Nested& /*nested*/) {}
  void operator()(const Group& group) { VisitGroup(group, *this); }

  void operator()(const Table& table) {
    if (!IsShown(table)) {
      return;
    }
    if (!table.title.empty()) {
      text_ += fmt::format("\n### {}\n", Escaped(Capitalized(TitleOf(table))));
    }
    if (table.RowCount() == 0) {
      text_ += fmt::format("\n{}\n", Escaped(Capitalized(table.none)));
      return;
    }
    const Table shown = ShownRows(table);
    AddRows(PeopleTableOf(shown));
    if (const std::string more = MoreText(table, shown); !more.empty()) {
      text_ += fmt::format("\n{}\n", more);
    }
  }

  void operator()(const Text& text) {
    if (!text.title.empty() && text.title != title_) {
      text_ += fmt::format("\n### {}\n", Escaped(Capitalized(text.title)));
    }
    title_ = text.title;
    text_ += fmt::format("\n{}\n", Escaped(Capitalized(Printable(text.text))));
  }

  void operator()(const Notes& notes) {
    text_ += notes.notes.empty() ? "" : "\n";
    for (const std::string& note : notes.notes) {
      text_ += fmt::format("- note: {}\n", Escaped(Printable(note)));
    }
  }

  std::string Take() { return std::move(text_); }

 private:
  void AddRows(const PeopleTable& table) {
    std::vector<std::string> heads;
    std::vector<std::string> rules;
    for (const PeopleColumn& column : table.columns) {
      heads.push_back(Escaped(column.head));
      rules.emplace_back(column.words ? ":--" : "--:");
    }
    text_ += "\n" + RowText(heads) + RowText(rules);
    for (const auto& row : table.rows) {
      std::vector<std::string> cells;
      cells.reserve(row.size());
      for (const std::string& cell : row) {
        // Blanks in front, which show levels, would not be seen.
        const size_t blanks =
            std::min(cell.find_first_not_of(' '), cell.size());
        std::string text;
        for (size_t i = 0; i < blanks; ++i) {
          text += "&nbsp;";
        }
        cells.push_back(text + Escaped(cell.substr(blanks)));
      }
      text_ += RowText(cells);
    }
  }

  std::string text_;
  std::string title_;  // Of the text before.
};

}  // namespace

std::string WriteMarkdown(const Doc& doc) {
  MarkdownWriter writer;
  writer.Head(doc);
  VisitBlocks(doc.blocks, writer);
  return writer.Take();
}

}  // namespace stepcast::view

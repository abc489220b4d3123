// Documents for terminals and pipes.
#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "base/text/text_table.h"
#include "view/people.h"
#include "view/write.h"

namespace stepcast::view {
namespace {

constexpr std::string_view kIndent = "  ";
constexpr size_t kGap = 2;  // Between columns.
// Words cut shorter than this would be indistinguishable.
constexpr size_t kLeastWords = 12;
// A bar of 100 %.
constexpr size_t kBarWidth = 12;
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kBlue = "\x1b[34m";
constexpr std::string_view kPlain = "\x1b[0m";

// "███▌" for 29 %.
std::string BarText(double share) {
  constexpr std::array<std::string_view, 8> kEighths = {"",  "▏", "▎", "▍",
                                                        "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<size_t>(
      std::lround(std::clamp(share, 0.0, 1.0) * kBarWidth * kEighths.size()));
  std::string bar;
  for (size_t i = 0; i < eighths / kEighths.size(); ++i) {
    bar += "█";
  }
  return bar + std::string(kEighths[eighths % kEighths.size()]);
}

// At most `width` columns per line, broken between words; later lines begin
// with `indent`.
std::string Wrapped(std::string_view text, size_t width,
                    std::string_view indent) {
  if (width == 0) {
    return std::string(text) + "\n";
  }
  std::string lines;
  std::string line;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find(' ', at), text.size());
    const std::string_view word = text.substr(at, end - at);
    // "57.7 %" stays together.
    if (!line.empty() && !word.starts_with('%') &&
        DisplayWidth(line) + 1 + DisplayWidth(word) > width) {
      lines += line + "\n";
      line = indent;
    } else if (at > 0) {
      line += ' ';
    }
    line += word;
    at = end + 1;
  }
  return lines + line + "\n";
}

class TextWriter {
 public:
  explicit TextWriter(const TextStyle& style) : style_(style) {}

  void Head(const Doc& doc) {
    text_ += Painted(kBold, Wrapped(Printable(doc.title), style_.width, ""));
    if (!doc.verdict.empty()) {
      text_ += Wrapped(Printable(doc.verdict), style_.width, "");
    }
  }

  void Add(const std::vector<html::Fact>& facts) {
    if (facts.empty()) {
      return;
    }
    size_t width = 0;
    for (const html::Fact& fact : facts) {
      width = std::max(width, DisplayWidth(fact.name));
    }
    constexpr std::string_view kFactGap = "   ";
    text_ += "\n";
    for (const html::Fact& fact : facts) {
      text_ +=
          Wrapped(fmt::format("{}{}{}{}{}{}", fact.name,
                              std::string(width - DisplayWidth(fact.name), ' '),
                              kFactGap, fact.value,
                              fact.note.empty() ? "" : kFactGap, fact.note),
                  style_.width, std::string(width + kFactGap.size(), ' '));
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
    text_ += "\n";
    if (!table.title.empty()) {
      text_ += Painted(
          kBold, Wrapped(Printable(TitleOf(table)), style_.width, kIndent));
    }
    if (table.RowCount() == 0) {
      text_ += fmt::format("{}{}\n", kIndent, table.none);
      return;
    }
    const Table shown = ShownRows(table);
    AddRows(PeopleTableOf(shown));
    if (const std::string more = MoreText(table, shown); !more.empty()) {
      text_ += fmt::format("{}{}\n", kIndent, more);
    }
  }

  void operator()(const Text& text) {
    text_ += "\n";
    if (!text.title.empty() && text.title != title_) {
      text_ += Painted(kBold, text.title + "\n");
    }
    title_ = text.title;
    text_ += Wrapped(Printable(text.text), style_.width, kIndent);
  }

  void operator()(const Notes& notes) {
    text_ += notes.notes.empty() ? "" : "\n";
    for (const std::string& note : notes.notes) {
      text_ += Wrapped(fmt::format("note: {}", Printable(note)), style_.width,
                       kIndent);
    }
  }

  std::string Take() { return std::move(text_); }

 private:
  // With the line break outside.
  std::string Painted(std::string_view colour, std::string_view line) const {
    if (!style_.rich || line.empty()) {
      return std::string(line);
    }
    const bool ends = line.back() == '\n';
    return fmt::format("{}{}{}{}", colour,
                       line.substr(0, line.size() - (ends ? 1 : 0)), kPlain,
                       ends ? "\n" : "");
  }

  // Narrower columns of words, the widest first, if the rows are too wide.
  void Fit(const PeopleTable& table, std::vector<size_t>& widths) const {
    size_t total =
        kIndent.size() + kGap * (widths.size() - 1) +
        (style_.rich && !table.shares.empty() ? kGap + kBarWidth : 0);
    for (const size_t width : widths) {
      total += width;
    }
    while (style_.width > 0 && total > style_.width) {
      size_t widest = widths.size();
      for (size_t i = 0; i < widths.size(); ++i) {
        if (table.columns[i].words && widths[i] > kLeastWords &&
            (widest == widths.size() || widths[i] > widths[widest])) {
          widest = i;
        }
      }
      if (widest == widths.size()) {
        return;
      }
      const size_t less =
          std::min(total - style_.width, widths[widest] - kLeastWords);
      widths[widest] -= less;
      total -= less;
    }
  }

  void AddRows(const PeopleTable& table) {
    std::vector<size_t> widths;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      size_t width = DisplayWidth(table.columns[i].head);
      for (const auto& row : table.rows) {
        width = std::max(width, DisplayWidth(row[i]));
      }
      widths.push_back(width);
    }
    Fit(table, widths);
    std::vector<std::string> heads;
    for (const PeopleColumn& column : table.columns) {
      heads.push_back(column.head);
    }
    text_ += Painted(kDim, LineOf(table, widths, heads) + "\n");
    for (size_t i = 0; i < table.rows.size(); ++i) {
      std::string line = LineOf(table, widths, table.rows[i]);
      if (style_.rich && !table.shares.empty()) {
        line = fmt::format("{}{}{}", line, std::string(kGap, ' '),
                           Painted(kBlue, BarText(table.shares[i])));
      }
      line.erase(line.find_last_not_of(' ') + 1);
      text_ += line + "\n";
    }
  }

  std::string LineOf(const PeopleTable& table,
                     const std::vector<size_t>& widths,
                     const std::vector<std::string>& cells) const {
    std::string line(kIndent);
    for (size_t i = 0; i < cells.size(); ++i) {
      const std::string cell = ElideMiddle(cells[i], widths[i]);
      const std::string padding(
          widths[i] - std::min(widths[i], DisplayWidth(cell)), ' ');
      line += i == 0 ? "" : std::string(kGap, ' ');
      line += table.columns[i].words ? cell + padding : padding + cell;
    }
    if (!style_.rich) {
      line.erase(line.find_last_not_of(' ') + 1);
    }
    return line;
  }

  const TextStyle style_;
  std::string text_;
  std::string title_;  // Of the text before.
};

}  // namespace

std::string WriteText(const Doc& doc, const TextStyle& style) {
  TextWriter writer(style);
  writer.Head(doc);
  VisitBlocks(doc.blocks, writer);
  return writer.Take();
}

}  // namespace stepcast::view

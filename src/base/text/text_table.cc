#include "base/text/text_table.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text/utf8.h"

namespace stepcast {

TextTable::TextTable(std::vector<Align> columns, std::string indent)
    : columns_(std::move(columns)), indent_(std::move(indent)) {}

void TextTable::AddRow(std::vector<std::string> cells) {
  cells.resize(std::min(cells.size(), columns_.size()));
  rows_.push_back(std::move(cells));
}

std::string TextTable::ToString() const {
  std::vector<size_t> widths(columns_.size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], DisplayWidth(row[i]));
    }
  }
  std::string text;
  for (const auto& row : rows_) {
    std::string line = indent_;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string padding(widths[i] - DisplayWidth(row[i]), ' ');
      line += i == 0 ? "" : "  ";
      line +=
          columns_[i] == Align::kRight ? padding + row[i] : row[i] + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

size_t DisplayWidth(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string ElideMiddle(std::string_view text, size_t width) {
  constexpr size_t kDots = 3;
  if (DisplayWidth(text) <= width || width <= kDots) {
    return std::string(text);
  }
  const size_t head = (width - kDots + 1) / 2;
  const size_t tail = width - kDots - head;
  const auto offset = [&](size_t code_points) {
    size_t at = 0;
    while (code_points > 0 && at < text.size()) {
      at += std::max<size_t>(1, Utf8Length(text.substr(at)));
      --code_points;
    }
    return std::min(at, text.size());
  };
  return fmt::format("{}...{}", text.substr(0, offset(head)),
                     text.substr(offset(DisplayWidth(text) - tail)));
}

std::string WithThousands(int64_t number) {
  std::string digits = fmt::format("{}", number);
  const size_t first = number < 0 ? 1 : 0;
  for (size_t at = digits.size(); at > first + 3;) {
    at -= 3;
    digits.insert(at, 1, ',');
  }
  return digits;
}

std::string Printable(std::string_view text) {
  std::string safe;
  for (size_t at = 0; at < text.size();) {
    const size_t length = Utf8Length(text.substr(at));
    const auto byte = static_cast<unsigned char>(text[at]);
    if (length == 0 || byte < 0x20 || byte == 0x7F) {
      safe += '?';
    } else {
      safe += text.substr(at, length);
    }
    at += std::max<size_t>(1, length);
  }
  return safe;
}

}  // namespace stepcast

#include "learn/measured/csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/text/join.h"

namespace stepcast::learn {

Result<std::vector<std::filesystem::path>> ListCsvFiles(
    const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    return std::vector<std::filesystem::path>{path};
  }
  std::vector<std::filesystem::path> files;
  for (auto it = std::filesystem::recursive_directory_iterator(path, error);
       !error && it != std::filesystem::recursive_directory_iterator();
       it.increment(error)) {
    if (it->is_regular_file(error) && it->path().extension() == ".csv") {
      files.push_back(it->path());
    }
  }
  if (error) {
    return Fail(ErrorCode::kIo, fmt::format("cannot list {}: {}", path.string(),
                                            error.message()));
  }
  if (files.empty()) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("no .csv file in {}", path.string()));
  }
  std::ranges::sort(files);
  return files;
}

namespace {

// Takes cells off the front of a text.
class Reader {
 public:
  Reader(std::string_view text, std::vector<std::unique_ptr<std::string>>& own)
      : text_(text), own_(own) {}

  bool at_end() const { return text_.empty(); }
  uint32_t line() const { return line_; }

  // One row's cells; false if a quote is never closed.
  bool ReadRow(std::vector<std::string_view>& cells) {
    while (true) {
      const bool quoted = !text_.empty() && text_.front() == '"';
      if (!(quoted ? ReadQuoted(cells) : ReadPlain(cells))) {
        return false;
      }
      if (text_.empty()) {
        return true;
      }
      const char separator = text_.front();
      text_.remove_prefix(1);
      if (separator == '\r' && !text_.empty() && text_.front() == '\n') {
        text_.remove_prefix(1);
      }
      if (separator != ',') {
        ++line_;
        return true;
      }
    }
  }

 private:
  bool ReadPlain(std::vector<std::string_view>& cells) {
    const size_t size = std::min(text_.find_first_of(",\r\n"), text_.size());
    cells.push_back(text_.substr(0, size));
    text_.remove_prefix(size);
    return true;
  }

  bool ReadQuoted(std::vector<std::string_view>& cells) {
    size_t from = 1;
    bool doubled = false;
    while (true) {
      const size_t quote = text_.find('"', from);
      if (quote == std::string_view::npos) {
        return false;
      }
      if (quote + 1 < text_.size() && text_[quote + 1] == '"') {
        doubled = true;
        from = quote + 2;
        continue;
      }
      const std::string_view inner = text_.substr(1, quote - 1);
      line_ += static_cast<uint32_t>(std::ranges::count(inner, '\n'));
      cells.push_back(doubled ? Undouble(inner) : inner);
      text_.remove_prefix(quote + 1);
      return text_.empty() || text_.find_first_of(",\r\n") == 0;
    }
  }

  std::string_view Undouble(std::string_view inner) {
    auto text = std::make_unique<std::string>();
    for (size_t i = 0; i < inner.size(); ++i) {
      *text += inner[i];
      i += inner[i] == '"' ? 1 : 0;
    }
    own_.push_back(std::move(text));
    return *own_.back();
  }

  std::string_view text_;
  std::vector<std::unique_ptr<std::string>>& own_;
  uint32_t line_ = 1;
};

}  // namespace

Result<CsvTable> CsvTable::Parse(std::string text, std::string source) {
  CsvTable table;
  table.source_ = std::move(source);
  table.texts_.push_back(std::make_unique<std::string>(std::move(text)));
  Reader reader(*table.texts_.front(), table.texts_);
  const auto unclosed = [&](uint32_t line) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{}:{}: a quote is not closed, or not at the end "
                            "of its cell",
                            table.source_, line));
  };
  if (!reader.ReadRow(table.header_)) {
    return unclosed(1);
  }
  while (!reader.at_end()) {
    const uint32_t line = reader.line();
    const size_t before = table.cells_.size();
    if (!reader.ReadRow(table.cells_)) {
      return unclosed(line);
    }
    const size_t count = table.cells_.size() - before;
    if (count == 1 && table.cells_.back().empty()) {
      table.cells_.pop_back();  // An empty line.
      continue;
    }
    if (count != table.header_.size()) {
      return Fail(
          ErrorCode::kInvalidInput,
          fmt::format("{}:{}: {} cells; expected {} as in the header",
                      table.source_, line, count, table.header_.size()));
    }
    table.lines_.push_back(line);
  }
  return table;
}

std::optional<size_t> CsvTable::FindColumn(std::string_view name) const {
  const auto found = std::ranges::find(header_, name);
  if (found == header_.end()) {
    return std::nullopt;
  }
  return static_cast<size_t>(found - header_.begin());
}

Result<std::vector<size_t>> CsvTable::FindColumns(
    std::span<const std::string_view> names) const {
  std::vector<size_t> places;
  std::vector<std::string_view> missing;
  for (const std::string_view name : names) {
    if (const auto place = FindColumn(name)) {
      places.push_back(*place);
    } else {
      missing.push_back(name);
    }
  }
  if (!missing.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{}:1: no column {}; expected {}", source_,
                            Join(missing, ", "), Join(names, ",")));
  }
  return places;
}

std::optional<double> CellNumber(std::string_view cell) {
  double value = 0;
  const char* const end = cell.data() + cell.size();
  const auto [stop, error] = std::from_chars(cell.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

std::optional<int64_t> CellInt(std::string_view cell) {
  int64_t value = 0;
  const char* const end = cell.data() + cell.size();
  const auto [stop, error] = std::from_chars(cell.data(), end, value);
  if (error == std::errc() && stop == end) {
    return value;
  }
  // Spreadsheets write whole numbers as 12.0.
  const auto number = CellNumber(cell);
  if (number && *number == std::floor(*number) && std::abs(*number) < 9e15) {
    return static_cast<int64_t>(*number);
  }
  return std::nullopt;
}

}  // namespace stepcast::learn

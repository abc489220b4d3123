// Rows and columns for people, aligned with spaces.
#ifndef STEPCAST_BASE_TEXT_TEXT_TABLE_H_
#define STEPCAST_BASE_TEXT_TEXT_TABLE_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast {

enum class Align { kLeft, kRight };

/// Collects rows and prints them with every column as wide as its widest cell.
class TextTable {
 public:
  /// One alignment per column; rows may be shorter.
  explicit TextTable(std::vector<Align> columns, std::string indent = "");

  void AddRow(std::vector<std::string> cells);
  bool empty() const { return rows_.empty(); }
  /// All rows, each ended by a newline and without trailing spaces.
  std::string ToString() const;

 private:
  std::vector<Align> columns_;
  std::string indent_;
  std::vector<std::vector<std::string>> rows_;
};

/// The number of code points in UTF-8 text, a good estimate of its width.
size_t DisplayWidth(std::string_view text);

/// At most `width` code points, the middle replaced by "..." if longer.
std::string ElideMiddle(std::string_view text, size_t width);

/// 1234567 as "1,234,567".
std::string WithThousands(int64_t number);

/// Any bytes made safe to print in one line: control characters, invalid
/// UTF-8 and DEL become "?".
std::string Printable(std::string_view text);

}  // namespace stepcast

#endif  // STEPCAST_BASE_TEXT_TEXT_TABLE_H_

// A cell of a CSV file.
#ifndef STEPCAST_REPORT_CSV_CELL_H_
#define STEPCAST_REPORT_CSV_CELL_H_

#include <string>
#include <string_view>

namespace stepcast::report {

/// In quotes where it needs them (RFC 4180).
inline std::string CsvCell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_CSV_CELL_H_

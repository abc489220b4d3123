// What became of checks on two steps, for continuous integration.
#include <algorithm>

#include <fmt/format.h>

#include "html/escape.h"
#include "report/compare.h"

namespace stepcast::report {
std::string JunitXml(const Comparison& comparison,
                     const std::vector<CheckedLimit>& checks) {
  const std::string name = html::Escape(
      fmt::format("{} against {}", comparison.b.name, comparison.a.name));
  size_t failures = 0;
  std::string cases;
  for (const CheckedLimit& check : checks) {
    cases += fmt::format("    <testcase classname=\"{}\" name=\"{}\"", name,
                         html::Escape(check.text));
    if (check.failure.empty()) {
      cases += "/>\n";
    } else {
      ++failures;
      cases +=
          fmt::format(">\n      <failure message=\"{}\"/>\n    </testcase>\n",
                      html::Escape(check.failure));
    }
  }
  if (checks.empty()) {
    cases = fmt::format("    <testcase classname=\"{}\" name=\"compared\"/>\n",
                        name);
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites>\n"
      "  <testsuite name=\"stepcast compare\" tests=\"{}\" failures=\"{}\">\n"
      "{}"
      "  </testsuite>\n"
      "</testsuites>\n",
      std::max(checks.size(), size_t{1}), failures, cases);
}

}  // namespace stepcast::report

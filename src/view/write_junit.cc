// Checks for continuous integration.
#include <algorithm>

#include <fmt/format.h>

#include "view/html/escape.h"
#include "view/write.h"

namespace stepcast::view {

std::string WriteJunit(const Doc& doc) {
  const std::vector<CheckedCase> passed = {{.name = "report"}};
  const auto& cases = doc.cases.empty() ? passed : doc.cases;
  const auto failures = std::ranges::count_if(
      cases, [](const CheckedCase& one) { return !one.failure.empty(); });
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<testsuites>\n"
      "  <testsuite name=\"stepcast\" tests=\"{}\" failures=\"{}\">\n",
      cases.size(), failures);
  for (const CheckedCase& one : cases) {
    const std::string head =
        fmt::format("    <testcase classname=\"{}\" name=\"{}\"",
                    html::Escape(doc.title), html::Escape(one.name));
    text += one.failure.empty() ? head + "/>\n"
                                : fmt::format(
                                      "{}>\n      <failure message=\"{}\"/>\n"
                                      "    </testcase>\n",
                                      head, html::Escape(one.failure));
  }
  return text + "  </testsuite>\n</testsuites>\n";
}

}  // namespace stepcast::view

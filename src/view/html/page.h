// One HTML file that needs nothing else: style sheet and script are in it.
#ifndef STEPCAST_VIEW_HTML_PAGE_H_
#define STEPCAST_VIEW_HTML_PAGE_H_

#include <string>
#include <string_view>
#include <vector>

namespace stepcast::html {

/// A number at the top of a page.
struct Fact {
  std::string name;   // "step time"
  std::string value;  // "6.407 ms"
  std::string note;   // "p10 5.295, p90 7.377"; may be empty.
};

/// Sections appear in the order they are added. All text is escaped here, but
/// for AddHtml.
class Page {
 public:
  /// `verdict` is the answer in one line.
  Page(std::string_view title, std::string_view verdict);

  void AddFacts(const std::vector<Fact>& facts);
  void AddSection(std::string_view title, std::string_view explanation = {});
  void AddNotes(const std::vector<std::string>& notes);
  /// From BarsHtml, Timeline::ToHtml.
  void AddHtml(std::string_view html);

  /// The whole document; `version` goes to its foot.
  std::string Take(std::string_view version);

 private:
  std::string title_;
  std::string body_;
};

}  // namespace stepcast::html

#endif  // STEPCAST_VIEW_HTML_PAGE_H_

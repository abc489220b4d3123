#include "view/html/page.h"

#include <span>

#include <fmt/format.h>

#include "base/check.h"
#include "base/files/embedded.h"
#include "view/html/escape.h"

namespace stepcast {
// Defined by the build, from data/html.
std::span<const EmbeddedFile> HtmlFileTexts();
}  // namespace stepcast

namespace stepcast::html {
namespace {

std::string_view Asset(std::string_view name) {
  for (const EmbeddedFile& file : HtmlFileTexts()) {
    if (file.name == name) {
      return file.text;
    }
  }
  CHECK(false) << "no asset " << name;
  return {};
}

}  // namespace

Page::Page(std::string_view title, std::string_view verdict)
    : title_(title),
      body_(fmt::format("<header>\n<h1>{}</h1>\n<p class=\"verdict\">{}</p>\n"
                        "</header>\n",
                        Escape(title), Escape(verdict))) {}

void Page::AddFacts(const std::vector<Fact>& facts) {
  body_ += "<dl class=\"facts\">\n";
  for (const Fact& fact : facts) {
    body_ += fmt::format("<div><dt>{}</dt><dd>{}</dd>", Escape(fact.name),
                         Escape(fact.value));
    if (!fact.note.empty()) {
      body_ += fmt::format("<dd class=\"note\">{}</dd>", Escape(fact.note));
    }
    body_ += "</div>\n";
  }
  body_ += "</dl>\n";
}

void Page::AddSection(std::string_view title, std::string_view explanation) {
  body_ += fmt::format("<h2>{}</h2>\n", Escape(title));
  if (!explanation.empty()) {
    body_ += fmt::format("<p>{}</p>\n", Escape(explanation));
  }
}

void Page::AddNotes(const std::vector<std::string>& notes) {
  body_ += "<ul>\n";
  for (const std::string& note : notes) {
    body_ += fmt::format("<li>{}</li>\n", Escape(note));
  }
  body_ += "</ul>\n";
}

void Page::AddHtml(std::string_view html) {
  body_ += html;
}

std::string Page::Take(std::string_view version) {
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n{}"
      "<footer>stepcast {}</footer>\n<script>\n{}</script>\n</body>\n</html>\n",
      Escape(title_), Asset("html/report.css"), body_, Escape(version),
      Asset("html/report.js"));
}

}  // namespace stepcast::html

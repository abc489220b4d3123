// Writes documents: a function for each format.
#ifndef STEPCAST_VIEW_WRITE_H_
#define STEPCAST_VIEW_WRITE_H_

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "view/doc.h"

namespace stepcast::view {

struct TextStyle {
  size_t width = 0;   // Of the terminal, in columns; 0: no limit.
  bool rich = false;  // With colours, and small bars next to shares.
};
std::string WriteText(const Doc& doc, const TextStyle& style = {});

/// Takes a chunk of the output; whole reports may be too large to keep.
using Sink = std::function<void(std::string_view chunk)>;

/// One object. "version", "scenario" and "verdict" come first.
void WriteJson(const Doc& doc, const Sink& sink);
std::string WriteJson(const Doc& doc);

/// One file that needs nothing else; the scenario is in it as JSON.
std::string WriteHtml(const Doc& doc);

/// As pull requests and issues show it.
std::string WriteMarkdown(const Doc& doc);

/// The names of columns and the rows of `doc.csv`, with the values of JSON.
void WriteCsv(const Doc& doc, const Sink& sink);
std::string WriteCsv(const Doc& doc);

/// What became of the checks, for continuous integration: a test for each, one
/// that passes if there are none.
std::string WriteJunit(const Doc& doc);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_WRITE_H_

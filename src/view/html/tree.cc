#include "view/html/tree.h"

#include <string_view>

#include <fmt/format.h>

#include "view/html/escape.h"

namespace stepcast::html {
namespace {

// Levels whose children are shown at first.
constexpr size_t kUnfolded = 2;

std::string LineHtml(std::string_view name, std::string_view note,
                     const std::vector<std::string>& cells) {
  std::string line = fmt::format(
      "<span class=\"name\">{}{}</span>", Escape(name),
      note.empty() ? "" : fmt::format(" <small>{}</small>", Escape(note)));
  for (const std::string& cell : cells) {
    line += fmt::format("<span class=\"cell\">{}</span>", Escape(cell));
  }
  return line;
}

}  // namespace

std::string TreeHtml(const Tree& tree) {
  std::string text = fmt::format(
      "<div class=\"wide\"><div class=\"tree\">\n"
      "<div class=\"line head\">{}</div>\n",
      LineHtml(tree.name_head, "", tree.heads));
  size_t open = 0;  // Levels.
  for (size_t i = 0; i < tree.nodes.size(); ++i) {
    const TreeNode& node = tree.nodes[i];
    for (; open > node.depth; --open) {
      text += "</details>\n";
    }
    const std::string line = LineHtml(node.name, node.note, node.cells);
    if (i + 1 < tree.nodes.size() && tree.nodes[i + 1].depth > node.depth) {
      text += fmt::format("<details{}><summary class=\"line\">{}</summary>\n",
                          node.depth < kUnfolded ? " open" : "", line);
      ++open;
    } else {
      text += fmt::format("<div class=\"line leaf\">{}</div>\n", line);
    }
  }
  for (; open > 0; --open) {
    text += "</details>\n";
  }
  return text + "</div></div>\n";
}

}  // namespace stepcast::html

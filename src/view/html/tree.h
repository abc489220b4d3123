// A tree with numbers that unfolds, without a script.
#ifndef STEPCAST_VIEW_HTML_TREE_H_
#define STEPCAST_VIEW_HTML_TREE_H_

#include <cstddef>
#include <string>
#include <vector>

namespace stepcast::html {

struct TreeNode {
  size_t depth = 0;  // At most one more than that of the node before.
  std::string name;
  std::string note{};              // After the name.
  std::vector<std::string> cells;  // One a column.
};

struct Tree {
  std::string name_head;             // Over the names.
  std::vector<std::string> heads{};  // Over the cells.
  std::vector<TreeNode> nodes{};     // Parents before their children.
};

/// <details> in each other; the first two levels are unfolded.
std::string TreeHtml(const Tree& tree);

}  // namespace stepcast::html

#endif  // STEPCAST_VIEW_HTML_TREE_H_

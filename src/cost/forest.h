// Boosted regression trees, evaluated for many kernels at a time.
#ifndef STEPCAST_COST_FOREST_H_
#define STEPCAST_COST_FOREST_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace stepcast::cost {

/// A node as it is fitted: a split, or a leaf if `feature` is negative.
struct TreeNode {
  int32_t feature = -1;
  float threshold = 0;  // Left if the feature is below it.
  float value = 0;      // Of a leaf.
  uint32_t left = 0;    // Places in the same tree.
  uint32_t right = 0;
};
using Tree = std::vector<TreeNode>;

class Forest {
 public:
  /// Trees whose nodes refer to nodes after them. Values and thresholds are
  /// rounded to what the text form keeps, so that a forest is the same before
  /// and after it was written.
  static Forest Make(std::span<const Tree> trees, size_t feature_count);

  /// The text form: one tree per line, its nodes in preorder. A split is
  /// "<feature>:<threshold>", a leaf "=<value in units of 1e-5>".
  std::string Text() const;
  static Result<Forest> Parse(std::string_view text, size_t feature_count,
                              std::string_view source);

  /// Adds the trees of a forest on the same features.
  void Append(const Forest& other);

  size_t feature_count() const { return feature_count_; }
  size_t tree_count() const { return roots_.size(); }
  size_t node_count() const { return nodes_.size(); }

  /// The sum over all trees for each of `sums.size()` rows of features, which
  /// are stored one after another.
  void Evaluate(std::span<const float> rows, std::span<float> sums) const;

 private:
  // Siblings are adjacent, so many nodes ahead of their parent. Every number is
  // below the threshold of a leaf, whose children are 0 nodes ahead: a walk
  // that has arrived stays, and every walk may take as many steps as the tree
  // is deep.
  struct Node {
    float threshold = 0;
    uint16_t feature = 0;
    uint16_t ahead = 0;
  };

  // forest_text.cc.
  class Reader;
  // Leaves are kept in these steps of log2: a thousandth of a percent of a
  // time.
  static constexpr double kLeafUnit = 1e-5;
  static float RoundLeaf(float value);
  // Six digits distinguish all thresholds between measured sizes.
  static std::string ThresholdText(float value);
  static float RoundThreshold(float value);

  void AddTree(const Tree& tree);
  void EvaluateBlock(const float* rows, size_t count, float* sums) const;
  // Takes as many rows through one tree at a time as there are numbers W.
  template <size_t... W>
  void Walk(size_t tree, const float* rows, float* sums,
            std::index_sequence<W...> walks) const;

  size_t feature_count_ = 0;
  std::vector<Node> nodes_;
  std::vector<float> values_;  // Of the leaves, by node.
  std::vector<uint32_t> roots_;
  std::vector<uint32_t> depths_;
};

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_FOREST_H_

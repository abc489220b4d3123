#include "cost/forest.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace stepcast::cost {

float Forest::RoundLeaf(float value) {
  return static_cast<float>(std::round(value / kLeafUnit) * kLeafUnit);
}

std::string Forest::ThresholdText(float value) {
  return fmt::format("{:.6g}", value);
}

float Forest::RoundThreshold(float value) {
  const std::string text = ThresholdText(value);
  float rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

Forest Forest::Make(std::span<const Tree> trees, size_t feature_count) {
  CHECK(feature_count <= std::numeric_limits<uint16_t>::max());
  Forest forest;
  forest.feature_count_ = feature_count;
  for (const Tree& tree : trees) {
    forest.AddTree(tree);
  }
  return forest;
}

// Breadth first, so that children lie side by side.
void Forest::AddTree(const Tree& tree) {
  CHECK(!tree.empty());
  const auto root = static_cast<uint32_t>(nodes_.size());
  roots_.push_back(root);
  nodes_.emplace_back();
  values_.emplace_back();
  struct Pending {
    uint32_t from = 0;
    uint32_t to = 0;
    uint32_t depth = 0;
  };
  std::vector<Pending> queue = {{.from = 0, .to = root}};
  uint32_t deepest = 0;
  for (size_t next = 0; next < queue.size(); ++next) {
    const Pending at = queue[next];
    const TreeNode& node = tree[at.from];
    deepest = std::max(deepest, at.depth);
    if (node.feature < 0) {
      nodes_[at.to].threshold = std::numeric_limits<float>::infinity();
      values_[at.to] = RoundLeaf(node.value);
      continue;
    }
    const auto children = static_cast<uint32_t>(nodes_.size());
    CHECK(children - at.to <= std::numeric_limits<uint16_t>::max());
    nodes_[at.to] = {.threshold = RoundThreshold(node.threshold),
                     .feature = static_cast<uint16_t>(node.feature),
                     .ahead = static_cast<uint16_t>(children - at.to)};
    nodes_.resize(nodes_.size() + 2);
    values_.resize(values_.size() + 2);
    CHECK(node.left > at.from && node.right > at.from);
    queue.push_back({node.left, children, at.depth + 1});
    queue.push_back({node.right, children + 1, at.depth + 1});
  }
  depths_.push_back(deepest);
}

void Forest::Append(const Forest& other) {
  CHECK(feature_count_ == other.feature_count_);
  const auto first = static_cast<uint32_t>(nodes_.size());
  nodes_.insert(nodes_.end(), other.nodes_.begin(), other.nodes_.end());
  values_.insert(values_.end(), other.values_.begin(), other.values_.end());
  for (const uint32_t root : other.roots_) {
    roots_.push_back(first + root);
  }
  depths_.insert(depths_.end(), other.depths_.begin(), other.depths_.end());
}

void Forest::Evaluate(std::span<const float> rows,
                      std::span<float> sums) const {
  CHECK(rows.size() == sums.size() * feature_count_);
  std::ranges::fill(sums, 0.0F);
  // As many rows as stay in the first cache next to a tree.
  constexpr size_t kBlock = 128;
  for (size_t begin = 0; begin < sums.size(); begin += kBlock) {
    EvaluateBlock(rows.data() + begin * feature_count_,
                  std::min(kBlock, sums.size() - begin), sums.data() + begin);
  }
}

template <size_t... W>
void Forest::Walk(size_t tree, const float* rows, float* sums,
                  std::index_sequence<W...> /*unused*/) const {
  const Node* const nodes = nodes_.data();
  std::array<uint32_t, sizeof...(W)> at{((void)W, roots_[tree])...};
  const auto step = [&](uint32_t& place, const float* row) {
    const Node node = nodes[place];
    const bool right = !(row[node.feature] < node.threshold);
    place += node.ahead + static_cast<uint32_t>(right);
  };
  for (uint32_t depth = depths_[tree]; depth > 0; --depth) {
    (step(at[W], rows + W * feature_count_), ...);
  }
  ((sums[W] += values_[at[W]]), ...);
}

void Forest::EvaluateBlock(const float* rows, size_t count, float* sums) const {
  // Walks of several rows through one tree do not wait for each other.
  constexpr size_t kWalks = 16;
  const size_t whole = count / kWalks * kWalks;
  for (size_t t = 0; t < roots_.size(); ++t) {
    for (size_t row = 0; row < whole; row += kWalks) {
      Walk(t, rows + row * feature_count_, sums + row,
           std::make_index_sequence<kWalks>());
    }
    for (size_t row = whole; row < count; ++row) {
      Walk(t, rows + row * feature_count_, sums + row,
           std::make_index_sequence<1>());
    }
  }
}

}  // namespace stepcast::cost

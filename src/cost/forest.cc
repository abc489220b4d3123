#include "cost/forest.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace stepcast::cost {
namespace {

// Leaves are kept in these steps of log2: a thousandth of a percent of a time.
constexpr double kLeafUnit = 1e-5;
// A hand-made file may nest no deeper than this.
constexpr size_t kMostDepth = 24;

float RoundLeaf(float value) {
  return static_cast<float>(std::round(value / kLeafUnit) * kLeafUnit);
}

// Six digits tell all thresholds between measured sizes apart.
std::string ThresholdText(float value) {
  return fmt::format("{:.6g}", value);
}

float RoundThreshold(float value) {
  const std::string text = ThresholdText(value);
  float rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

// Reads the nodes of one line in preorder.
class TreeReader {
 public:
  TreeReader(std::string_view line, size_t feature_count)
      : rest_(line), feature_count_(feature_count) {}

  // What is wrong with the line, or nothing.
  std::optional<std::string> Read(Tree& tree) {
    ReadNode(tree, 0);
    if (!problem_ && !rest_.empty()) {
      problem_ = "more nodes than the tree has";
    }
    return problem_;
  }

 private:
  std::string_view NextWord() {
    const size_t size = std::min(rest_.find(' '), rest_.size());
    const std::string_view word = rest_.substr(0, size);
    rest_.remove_prefix(std::min(size + 1, rest_.size()));
    return word;
  }

  template <typename T>
  bool Number(std::string_view text, T& value) {
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stop == end;
  }

  uint32_t ReadNode(Tree& tree, size_t depth) {
    const auto place = static_cast<uint32_t>(tree.size());
    tree.emplace_back();
    const std::string_view word = NextWord();
    if (depth > kMostDepth) {
      problem_ = "a tree is too deep";
    } else if (word.starts_with('=')) {
      int64_t units = 0;
      if (!Number(word.substr(1), units)) {
        problem_ = fmt::format("'{}' is no leaf", word);
      }
      tree[place].value =
          static_cast<float>(static_cast<double>(units) * kLeafUnit);
    } else {
      ReadSplit(tree, place, word, depth);
    }
    return place;
  }

  void ReadSplit(Tree& tree, uint32_t place, std::string_view word,
                 size_t depth) {
    const size_t colon = std::min(word.find(':'), word.size());
    int32_t feature = -1;
    float threshold = 0;
    if (colon == word.size() || !Number(word.substr(0, colon), feature) ||
        !Number(word.substr(colon + 1), threshold) || feature < 0 ||
        static_cast<size_t>(feature) >= feature_count_ ||
        !std::isfinite(threshold)) {
      problem_ = fmt::format("'{}' is no split of {} features",
                             word.substr(0, 40), feature_count_);
      return;
    }
    tree[place].feature = feature;
    tree[place].threshold = threshold;
    const uint32_t left = ReadNode(tree, depth + 1);
    tree[place].left = left;
    if (!problem_) {
      const uint32_t right = ReadNode(tree, depth + 1);
      tree[place].right = right;
    }
  }

  std::string_view rest_;
  size_t feature_count_;
  std::optional<std::string> problem_;
};

}  // namespace

Forest Forest::Make(std::span<const Tree> trees, size_t feature_count) {
  CHECK(feature_count <= std::numeric_limits<uint16_t>::max());
  Forest forest;
  forest.feature_count_ = feature_count;
  for (const Tree& tree : trees) {
    forest.AddTree(tree, /*rounded=*/false);
  }
  return forest;
}

// Breadth first, so that children lie side by side. Thresholds that were read
// from text are `rounded`.
void Forest::AddTree(const Tree& tree, bool rounded) {
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
    nodes_[at.to] = {
        .threshold = rounded ? node.threshold : RoundThreshold(node.threshold),
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

std::string Forest::Text() const {
  std::string text;
  std::vector<uint32_t> stack;
  for (const uint32_t root : roots_) {
    stack.assign(1, root);
    bool first = true;
    while (!stack.empty()) {
      const uint32_t at = stack.back();
      const Node& node = nodes_[at];
      stack.pop_back();
      if (!first) {
        text += ' ';
      }
      first = false;
      if (node.ahead == 0) {
        fmt::format_to(std::back_inserter(text), "={}",
                       std::llround(values_[at] / kLeafUnit));
        continue;
      }
      fmt::format_to(std::back_inserter(text), "{}:{}", node.feature,
                     ThresholdText(node.threshold));
      stack.push_back(at + node.ahead + 1);
      stack.push_back(at + node.ahead);
    }
    text += '\n';
  }
  return text;
}

Result<Forest> Forest::Parse(std::string_view text, size_t feature_count,
                             std::string_view source) {
  CHECK(feature_count <= std::numeric_limits<uint16_t>::max());
  Forest forest;
  forest.feature_count_ = feature_count;
  Tree tree;
  while (!text.empty()) {
    const size_t size = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
    tree.clear();
    if (const auto problem = TreeReader(line, feature_count).Read(tree)) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{}: tree {}: {}", source,
                              forest.roots_.size() + 1, *problem));
    }
    forest.AddTree(tree, /*rounded=*/true);
  }
  return forest;
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

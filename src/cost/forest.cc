#include "cost/forest.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace stepcast::cost {

// The text form of boosted trees: a tree a line, its nodes in preorder.

namespace {

// A hand-made file may nest no deeper than this.
constexpr size_t kMostDepth = 24;

// What most thresholds are, digits with a point among them: reads it and moves
// after it. A float holds every whole number and every power of ten here, so
// that one division rounds as it should.
std::optional<float> TakePlainNumber(const char*& at, const char* end) {
  constexpr uint32_t kMostWhole = 1U << 24U;
  constexpr std::array<float, 8> kPowers = {1,    1e1F, 1e2F, 1e3F,
                                            1e4F, 1e5F, 1e6F, 1e7F};
  const char* now = at;
  const bool negative = now != end && *now == '-';
  now += negative ? 1 : 0;
  uint32_t whole = 0;
  size_t decimals = 0;
  bool point = false;
  const char* const first = now;
  for (; now != end; ++now) {
    const auto digit = static_cast<uint32_t>(*now - '0');
    if (digit <= 9 && whole < kMostWhole / 10) {
      whole = 10 * whole + digit;
      decimals += point ? 1 : 0;
    } else if (*now == '.' && !point && now != first) {
      point = true;
    } else {
      break;
    }
  }
  const bool at_end = now == end || *now == ' ' || *now == '\n';
  if (now == first || !at_end || decimals >= kPowers.size()) {
    return std::nullopt;
  }
  at = now;
  const float value = static_cast<float>(whole) / kPowers[decimals];
  return negative ? -value : value;
}

}  // namespace

// Reads trees straight to where they are evaluated.
class Forest::Reader {
 public:
  Reader(std::string_view text, Forest& forest)
      : at_(text.data()), end_(text.data() + text.size()), forest_(forest) {
    // A node takes about eight letters ("12:0.5 ", "=-1234 ").
    constexpr size_t kLeastLetters = 6;
    forest_.nodes_.reserve(text.size() / kLeastLetters + 1);
    forest_.values_.reserve(text.size() / kLeastLetters + 1);
  }

  bool done() const { return at_ == end_; }

  // Reads a line. What is wrong with it, or nothing.
  std::optional<std::string> ReadTree() {
    struct Open {
      uint32_t node = 0;
      uint32_t depth = 0;
    };
    std::array<Open, kMostDepth + 2> open;  // To be read, the last one first.
    forest_.roots_.push_back(Grow(1));
    open[0] = {.node = forest_.roots_.back()};
    uint32_t deepest = 0;
    for (size_t count = 1; count > 0;) {
      const Open now = open[--count];
      deepest = std::max(deepest, now.depth);
      if (now.depth > kMostDepth) {
        return "a tree is too deep";
      }
      if (at_ != end_ && *at_ == '=') {
        if (!ReadLeaf(now.node)) {
          return fmt::format("'{}' is not a leaf", Word());
        }
        continue;
      }
      if (!ReadSplit(now.node)) {
        return fmt::format("'{}' is not a split of {} features", Word(),
                           forest_.feature_count_);
      }
      const uint32_t children = Grow(2);
      if (children - now.node > std::numeric_limits<uint16_t>::max()) {
        return "a tree is too large";
      }
      forest_.nodes_[now.node].ahead =
          static_cast<uint16_t>(children - now.node);
      open[count++] = {.node = children + 1, .depth = now.depth + 1};
      open[count++] = {.node = children, .depth = now.depth + 1};
    }
    forest_.depths_.push_back(deepest);
    if (at_ != end_ && *at_ != '\n') {
      return "more nodes than the tree has";
    }
    at_ += at_ != end_ ? 1 : 0;
    return std::nullopt;
  }

 private:
  // Appends nodes; the place of the first.
  uint32_t Grow(size_t count) {
    const auto place = static_cast<uint32_t>(forest_.nodes_.size());
    for (size_t i = 0; i < count; ++i) {
      forest_.nodes_.emplace_back();
      forest_.values_.emplace_back();
    }
    return place;
  }

  // The word at hand, for messages.
  std::string_view Word() const {
    constexpr size_t kMostShown = 40;
    const std::string_view rest(at_, static_cast<size_t>(end_ - at_));
    return rest.substr(0, std::min(rest.find_first_of(" \n"), kMostShown));
  }

  // After a word there is a blank or nothing more in its line.
  bool EndWord(const char* after) {
    if (after != end_ && *after != ' ' && *after != '\n') {
      return false;
    }
    at_ = after + (after != end_ && *after == ' ' ? 1 : 0);
    return true;
  }

  bool ReadLeaf(uint32_t node) {
    int64_t units = 0;
    const auto [after, error] = std::from_chars(at_ + 1, end_, units);
    if (error != std::errc() || !EndWord(after)) {
      return false;
    }
    forest_.nodes_[node].threshold = std::numeric_limits<float>::infinity();
    forest_.values_[node] =
        static_cast<float>(static_cast<double>(units) * kLeafUnit);
    return true;
  }

  bool ReadSplit(uint32_t node) {
    uint16_t feature = 0;
    const auto [colon, error] = std::from_chars(at_, end_, feature);
    if (error != std::errc() || colon == end_ || *colon != ':' ||
        feature >= forest_.feature_count_) {
      return false;
    }
    const char* after = colon + 1;
    float threshold = 0;
    if (const auto plain = TakePlainNumber(after, end_)) {
      threshold = *plain;
    } else {
      const auto [stop, wrong] = std::from_chars(after, end_, threshold);
      if (wrong != std::errc() || !std::isfinite(threshold)) {
        return false;
      }
      after = stop;
    }
    if (!EndWord(after)) {
      return false;
    }
    forest_.nodes_[node] = {.threshold = threshold, .feature = feature};
    return true;
  }

  const char* at_;
  const char* end_;
  Forest& forest_;
};

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
        text += fmt::format("={}", std::llround(values_[at] / kLeafUnit));
        continue;
      }
      text += fmt::format("{}:{}", node.feature, ThresholdText(node.threshold));
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
  Reader reader(text, forest);
  while (!reader.done()) {
    if (const auto problem = reader.ReadTree()) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{}: tree {}: {}", source, forest.roots_.size(),
                              *problem));
    }
  }
  return forest;
}

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

// Breadth first, so that siblings are adjacent.
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

#include "model/model_keys.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/text/nearest.h"

namespace stepcast::model {
namespace {

struct Alias {
  std::string_view word;
  std::string_view key;
};

// Options of facebookresearch/dlrm (dlrm_s_pytorch.py) and of TorchRec's DLRM
// (torchrec_dlrm/dlrm_main.py); "-" and "_" are one.
constexpr Alias kAliases[] = {
    {"arch_sparse_feature_size", "embedding_dim"},
    {"arch_embedding_size", "table_rows"},
    {"arch_mlp_bot", "bottom_mlp"},
    {"arch_mlp_top", "top_mlp"},
    {"arch_interaction_op", "interaction"},
    {"num_indices_per_lookup", "pooling"},
    {"mini_batch_size", "batch"},
    {"loss_function", "loss"},
    {"num_embeddings_per_feature", "table_rows"},
    {"dense_arch_layer_sizes", "bottom_mlp"},
    {"over_arch_layer_sizes", "top_mlp"},
    {"interaction_type", "interaction"},
    {"dcn_num_layers", "cross_layers"},
    {"dcn_low_rank_dim", "cross_rank"},
    {"multi_hot_sizes", "pooling"},
    {"batch_size", "batch"},
};

std::string PlainWord(std::string_view word) {
  while (word.starts_with('-')) {
    word.remove_prefix(1);
  }
  std::string plain(word);
  std::ranges::replace(plain, '-', '_');
  return plain;
}

std::string_view KeyFor(std::string_view word) {
  const auto* const alias = std::ranges::find(kAliases, word, &Alias::word);
  return alias == std::end(kAliases) ? word : alias->key;
}

// Our words, then the aliases of them.
std::vector<std::string_view> Words(std::span<const std::string_view> known) {
  std::vector<std::string_view> words(known.begin(), known.end());
  for (const Alias& alias : kAliases) {
    if (std::ranges::find(known, alias.key) != known.end()) {
      words.push_back(alias.word);
    }
  }
  return words;
}

// "512-256-1" as its parts.
std::vector<std::string_view> SplitNumbers(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const size_t end = text.find_first_of("-,");
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
  parts.emplace_back("");  // Nothing, or nothing after the last separator.
  return parts;
}

template <typename Value>
Result<std::vector<Value>> ParseParts(const toml::node& node,
                                      std::string_view key) {
  const std::string& text = node.as_string()->get();
  std::vector<Value> values;
  for (std::string_view part : SplitNumbers(text)) {
    while (part.starts_with(' ')) {
      part.remove_prefix(1);
    }
    Value value = 0;
    const char* const end = part.data() + part.size();
    const auto [at, error] = std::from_chars(part.data(), end, value);
    if (error != std::errc() || at != end || part.empty()) {
      return FailAt(node, fmt::format("{} is \"{}\"; expected numbers like "
                                      "\"512-256-64\"",
                                      key, text));
    }
    values.push_back(value);
  }
  return values;
}

Result<int64_t> WholeIn(const toml::node& node, std::string_view key) {
  if (!node.is_integer()) {
    return FailAt(node, fmt::format("{} must be a whole number", key));
  }
  return node.as_integer()->get();
}

Result<double> NumberIn(const toml::node& node, std::string_view key) {
  if (const auto* const whole = node.as_integer()) {
    return static_cast<double>(whole->get());
  }
  if (const auto* const real = node.as_floating_point();
      real != nullptr && std::isfinite(real->get())) {
    return real->get();
  }
  return FailAt(node, fmt::format("{} must be a number", key));
}

Status CheckWhole(const toml::node& node, std::string_view key, int64_t value,
                  int64_t least, int64_t most) {
  if (value < least || value > most) {
    return FailAt(node, fmt::format("{} is {}; expected {} to {}", key, value,
                                    least, most));
  }
  return {};
}

Status CheckNumber(const toml::node& node, std::string_view key, double value,
                   double least, double most) {
  if (!(value > least && value <= most)) {
    return FailAt(node, fmt::format("{} is {}; expected above {}, up to {}",
                                    key, value, least, most));
  }
  return {};
}

// Calls read(node) for the node or for each node of a list.
template <typename Value, typename Read>
Result<std::vector<Value>> Each(const toml::node& node, const Read& read) {
  std::vector<Value> values;
  const toml::array* const list = node.as_array();
  if (list == nullptr) {
    ASSIGN_OR_RETURN(const Value value, read(node));
    values.push_back(value);
    return values;
  }
  for (const toml::node& item : *list) {
    ASSIGN_OR_RETURN(const Value value, read(item));
    values.push_back(value);
  }
  return values;
}

}  // namespace

Result<ModelKeys> ModelKeys::Make(const toml::table& table,
                                  std::span<const std::string_view> known) {
  ModelKeys keys;
  keys.table_ = &table;
  for (const auto& [key, value] : table) {
    const std::string_view word = key.str();
    const std::string plain = PlainWord(word);
    const std::string_view meant = KeyFor(plain);
    if (std::ranges::find(known, meant) == known.end()) {
      const std::vector<std::string_view> words = Words(known);
      const auto nearest = Nearest(plain, words);
      return FailAt(value, nearest
                               ? fmt::format("unknown key '{}'; did you mean "
                                             "{}?",
                                             word, *nearest)
                               : fmt::format("unknown key '{}'; expected {}",
                                             word, OneOf(known)));
    }
    const auto [at, is_new] =
        keys.entries_.emplace(meant, Entry{.node = &value, .word = word});
    if (!is_new) {
      return FailAt(value, fmt::format("'{}' and '{}' mean the same; expected "
                                       "one of them",
                                       at->second.word, word));
    }
  }
  return keys;
}

const toml::node* ModelKeys::Find(std::string_view key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : found->second.node;
}

std::string_view ModelKeys::WordFor(std::string_view key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? key : found->second.word;
}

Result<int64_t> ModelKeys::Whole(std::string_view key, int64_t otherwise,
                                 int64_t least, int64_t most) const {
  const toml::node* const node = Find(key);
  if (node == nullptr) {
    return otherwise;
  }
  ASSIGN_OR_RETURN(const int64_t value, WholeIn(*node, WordFor(key)));
  RETURN_IF_ERROR(CheckWhole(*node, WordFor(key), value, least, most));
  return value;
}

Result<double> ModelKeys::Number(std::string_view key, double otherwise,
                                 double least, double most) const {
  const toml::node* const node = Find(key);
  if (node == nullptr) {
    return otherwise;
  }
  ASSIGN_OR_RETURN(const double value, NumberIn(*node, WordFor(key)));
  RETURN_IF_ERROR(CheckNumber(*node, WordFor(key), value, least, most));
  return value;
}

Result<std::string> ModelKeys::Text(std::string_view key,
                                    std::string_view otherwise) const {
  const toml::node* const node = Find(key);
  if (node == nullptr) {
    return std::string(otherwise);
  }
  if (!node->is_string()) {
    return FailAt(*node, fmt::format("{} must be a string", WordFor(key)));
  }
  return node->as_string()->get();
}

Result<bool> ModelKeys::Flag(std::string_view key) const {
  const toml::node* const node = Find(key);
  if (node == nullptr) {
    return false;
  }
  if (!node->is_boolean()) {
    return FailAt(*node, fmt::format("{} must be true or false", WordFor(key)));
  }
  return node->as_boolean()->get();
}

Result<std::vector<int64_t>> ModelKeys::Wholes(std::string_view key,
                                               int64_t least,
                                               int64_t most) const {
  const toml::node* const node = Find(key);
  if (node == nullptr) {
    return std::vector<int64_t>();
  }
  const std::string_view word = WordFor(key);
  std::vector<int64_t> values;
  if (node->is_string()) {
    ASSIGN_OR_RETURN(values, ParseParts<int64_t>(*node, word));
  } else {
    ASSIGN_OR_RETURN(values, Each<int64_t>(*node, [&](const toml::node& item) {
                       return WholeIn(item, word);
                     }));
  }
  for (const int64_t value : values) {
    RETURN_IF_ERROR(CheckWhole(*node, word, value, least, most));
  }
  return values;
}

Result<std::vector<double>> ModelKeys::Numbers(std::string_view key,
                                               double least,
                                               double most) const {
  const toml::node* const node = Find(key);
  if (node == nullptr) {
    return std::vector<double>();
  }
  const std::string_view word = WordFor(key);
  std::vector<double> values;
  if (node->is_string()) {
    ASSIGN_OR_RETURN(values, ParseParts<double>(*node, word));
  } else {
    ASSIGN_OR_RETURN(values, Each<double>(*node, [&](const toml::node& item) {
                       return NumberIn(item, word);
                     }));
  }
  for (const double value : values) {
    RETURN_IF_ERROR(CheckNumber(*node, word, value, least, most));
  }
  return values;
}

}  // namespace stepcast::model

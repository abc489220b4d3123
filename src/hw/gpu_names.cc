#include "hw/gpu_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <set>

#include "base/text/nearest.h"

namespace stepcast::hw {
namespace {

// Words that say who sells it, not what it is.
constexpr std::array<std::string_view, 10> kEmptyWords = {
    "nvidia", "tesla", "geforce", "amd",   "instinct",
    "vf",     "gpu",   "hbm2",    "hbm2e", "hbm3"};

using Words = std::set<std::string>;

// A word of letters and digits that names a chip: "v100", "2080", "mi300x".
bool IsChip(std::string_view word) {
  const bool digits =
      std::ranges::any_of(word, [](char c) { return c >= '0' && c <= '9'; });
  return (digits && !word.ends_with("gb") && !word.starts_with("sxm")) ||
         word == "xp";
}

// Drivers call the SXM board of H100 "NVIDIA H100 80GB HBM3", by its memory;
// the cards say "H100 PCIe" (HBM2e) or "H100 NVL".
void AddSocket(std::string_view text, Words& words) {
  if (text.ends_with("HBM3") && words.contains("h100")) {
    words.insert("sxm");
  }
}

Words WordsOf(std::string_view text) {
  Words words;
  std::string word;
  const auto finish = [&] {
    // The socket's generation follows from the chip, but for V100, whose DGX-2
    // has boards of their own.
    if (word.starts_with("sxm") && word != "sxm3") {
      word = "sxm";
    }
    const bool empty =
        std::ranges::find(kEmptyWords, word) != kEmptyWords.end();
    if (!word.empty() && !empty) {
      words.insert(word);
    }
    word.clear();
  };
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else {
      finish();
    }
  }
  finish();
  AddSocket(text, words);
  return words;
}

size_t Common(const Words& a, const Words& b) {
  return static_cast<size_t>(std::ranges::count_if(
      a, [&](const auto& word) { return b.contains(word); }));
}

bool SameChip(const Words& text, const Words& name) {
  return std::ranges::any_of(name, [&](const std::string& word) {
    return IsChip(word) && text.contains(word);
  });
}

}  // namespace

std::optional<std::string> SameGpu(std::string_view text,
                                   std::span<const std::string> names) {
  const Words words = WordsOf(text);
  for (const std::string& name : names) {
    if (WordsOf(name) == words) {
      return name;
    }
  }
  return std::nullopt;
}

std::optional<std::string> NearestGpu(std::string_view text,
                                      std::span<const std::string> names) {
  const Words words = WordsOf(text);
  std::optional<std::string> best;
  size_t most = 0;
  size_t fewest_other = 0;
  for (const std::string& name : names) {
    const Words of_name = WordsOf(name);
    if (!SameChip(words, of_name)) {
      continue;
    }
    const size_t common = Common(words, of_name);
    const size_t other = of_name.size() - common;
    if (!best || common > most || (common == most && other < fewest_other)) {
      best = name;
      most = common;
      fewest_other = other;
    }
  }
  return best;
}

std::vector<std::string> NearGpus(std::string_view text,
                                  std::span<const std::string> names) {
  const Words words = WordsOf(text);
  std::vector<std::string> near;
  for (const std::string& name : names) {
    if (SameChip(words, WordsOf(name))) {
      near.push_back(name);
    }
  }
  if (near.empty()) {
    const std::vector<std::string_view> views(names.begin(), names.end());
    if (const auto nearest = Nearest(text, views)) {
      near.emplace_back(*nearest);
    }
  }
  return near;
}

}  // namespace stepcast::hw

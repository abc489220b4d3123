#include "base/text/glob.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace stepcast {
namespace {

// Trigrams kept per fragment of a pattern: enough to distinguish names, few
// enough to check quickly.
constexpr size_t kTrigramsPerFragment = 4;

// The position of `fragment` in `text` at or after `from`. memmem is linear in
// both lengths (two-way search), which std::string_view::find is not.
size_t Find(std::string_view text, std::string_view fragment, size_t from) {
  const void* found = memmem(text.data() + from, text.size() - from,
                             fragment.data(), fragment.size());
  return found == nullptr ? std::string_view::npos
                          : static_cast<size_t>(
                                static_cast<const char*>(found) - text.data());
}

}  // namespace

Glob::Glob(std::string_view pattern) {
  size_t start = 0;
  for (size_t star = pattern.find('*'); star != std::string_view::npos;
       star = pattern.find('*', start)) {
    // Stars in a row are one star.
    if (fragments_.empty() || star > start) {
      fragments_.emplace_back(pattern.substr(start, star - start));
    }
    start = star + 1;
  }
  fragments_.emplace_back(pattern.substr(start));
  for (const std::string& fragment : fragments_) {
    shortest_ += fragment.size();
  }
}

bool Glob::Matches(std::string_view name) const {
  if (fragments_.size() == 1) {
    return name == fragments_.front();
  }
  if (name.size() < shortest_ || !name.starts_with(fragments_.front()) ||
      !name.ends_with(fragments_.back())) {
    return false;
  }
  // The leftmost match of each fragment leaves the most room for the next, so
  // there is never a reason to backtrack.
  const std::string_view middle =
      name.substr(0, name.size() - fragments_.back().size());
  size_t at = fragments_.front().size();
  for (size_t i = 1; i + 1 < fragments_.size(); ++i) {
    at = Find(middle, fragments_[i], at);
    if (at == std::string_view::npos) {
      return false;
    }
    at += fragments_[i].size();
  }
  return true;
}

uint16_t GlobList::TrigramAt(std::string_view text, size_t at) {
  const auto byte = [&](size_t i) {
    return static_cast<uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const uint32_t letters =
      byte(at) | (byte(at + 1) << 8) | (byte(at + 2) << 16);
  // Multiplicative hashing: the upper bits depend on all three letters.
  constexpr uint32_t kGoldenRatio = 0x9E3779B1;
  return static_cast<uint16_t>((letters * kGoldenRatio) >> (32 - 13));
}

void GlobList::Add(std::string_view pattern) {
  Entry entry{.glob = Glob(pattern), .trigrams = {}};
  for (const std::string& fragment : entry.glob.fragments()) {
    if (fragment.size() < 3) {
      continue;
    }
    const size_t last = fragment.size() - 3;
    const size_t step = std::max<size_t>(1, last / kTrigramsPerFragment);
    for (size_t at = 0; at <= last; at += step) {
      entry.trigrams.push_back(TrigramAt(fragment, at));
    }
  }
  patterns_.push_back(std::move(entry));
}

std::optional<size_t> GlobList::FindFirst(std::string_view name) const {
  static_assert(kBits == size_t{1} << 13, "TrigramAt keeps 13 bits");
  Trigrams present;
  for (size_t at = 0; at + 3 <= name.size(); ++at) {
    present.set(TrigramAt(name, at));
  }
  for (size_t i = 0; i < patterns_.size(); ++i) {
    const Entry& entry = patterns_[i];
    const bool possible = std::ranges::all_of(
        entry.trigrams,
        [&](uint16_t trigram) { return present.test(trigram); });
    if (possible && entry.glob.Matches(name)) {
      return i;
    }
  }
  return std::nullopt;
}

}  // namespace stepcast

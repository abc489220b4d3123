#include "base/glob.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace stepcast {
namespace {

// Trigrams kept per piece of a pattern: enough to tell names apart, few enough
// to check in a moment.
constexpr size_t kTrigramsPerPiece = 4;

// The position of `piece` in `text` at or behind `from`. memmem is linear in
// both lengths (two-way search), which std::string_view::find is not.
size_t Find(std::string_view text, std::string_view piece, size_t from) {
  const void* found = memmem(text.data() + from, text.size() - from,
                             piece.data(), piece.size());
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
    if (pieces_.empty() || star > start) {
      pieces_.emplace_back(pattern.substr(start, star - start));
    }
    start = star + 1;
  }
  pieces_.emplace_back(pattern.substr(start));
  for (const std::string& piece : pieces_) {
    shortest_ += piece.size();
  }
}

bool Glob::Matches(std::string_view name) const {
  if (pieces_.size() == 1) {
    return name == pieces_.front();
  }
  if (name.size() < shortest_ || !name.starts_with(pieces_.front()) ||
      !name.ends_with(pieces_.back())) {
    return false;
  }
  // The leftmost place for each piece leaves most room for the next, so there
  // is never a reason to go back.
  const std::string_view middle =
      name.substr(0, name.size() - pieces_.back().size());
  size_t at = pieces_.front().size();
  for (size_t i = 1; i + 1 < pieces_.size(); ++i) {
    at = Find(middle, pieces_[i], at);
    if (at == std::string_view::npos) {
      return false;
    }
    at += pieces_[i].size();
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
  for (const std::string& piece : entry.glob.pieces()) {
    if (piece.size() < 3) {
      continue;
    }
    const size_t last = piece.size() - 3;
    const size_t step = std::max<size_t>(1, last / kTrigramsPerPiece);
    for (size_t at = 0; at <= last; at += step) {
      entry.trigrams.push_back(TrigramAt(piece, at));
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

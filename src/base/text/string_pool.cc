#include "base/text/string_pool.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace stepcast {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 16;
constexpr size_t kFirstSlots = 1024;

uint64_t Load64(const char* at) {
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof(word));
  return word;
}

// Multiplies to 128 bits and folds the halves: the mixing step of the wyhash
// family (Wang Yi, public domain), which passes SMHasher.
uint64_t Mix(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

// Odd 64-bit constants with balanced bits; any such values serve.
constexpr uint64_t kSeedA = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio.
constexpr uint64_t kSeedB = 0xbf58476d1ce4e5b9;  // SplitMix64's multiplier.

}  // namespace

uint64_t HashBytes(std::string_view bytes) {
  const char* at = bytes.data();
  size_t left = bytes.size();
  uint64_t hash = kSeedA ^ left;
  while (left >= 16) {
    hash = Mix(Load64(at) ^ kSeedA, Load64(at + 8) ^ hash);
    at += 16;
    left -= 16;
  }
  uint64_t low = 0;
  uint64_t high = 0;
  if (left >= 8) {
    low = Load64(at);
    high = Load64(at + left - 8);
  } else if (left > 0) {
    std::memcpy(&low, at, left);
  }
  return Mix(low ^ kSeedB, Mix(high ^ kSeedA, hash));
}

StringPool::StringPool() : slots_(kFirstSlots) {
  Intern({});
}

StringPool::StringPool(const StringPool& other) : slots_(other.slots_) {
  views_.reserve(other.views_.size());
  for (const std::string_view text : other.views_) {
    views_.push_back(Store(text));
  }
}

StringPool& StringPool::operator=(const StringPool& other) {
  if (this != &other) {
    *this = StringPool(other);
  }
  return *this;
}

StringId StringPool::Intern(std::string_view text) {
  const uint64_t hash = HashBytes(text);
  const size_t slot = Probe(hash, text);
  if (slots_[slot].id != StringId::kNone) {
    return StringId{slots_[slot].id};
  }
  CHECK(views_.size() < StringId::kNone);
  const auto id = static_cast<uint32_t>(views_.size());
  views_.push_back(Store(text));
  slots_[slot] = Slot{.hash = static_cast<uint32_t>(hash >> 32), .id = id};
  if (views_.size() * 2 > slots_.size()) {
    Grow();
  }
  return StringId{id};
}

StringId StringPool::Find(std::string_view text) const {
  return StringId{slots_[Probe(HashBytes(text), text)].id};
}

size_t StringPool::Probe(uint64_t hash, std::string_view text) const {
  const size_t mask = slots_.size() - 1;
  const auto tag = static_cast<uint32_t>(hash >> 32);
  size_t slot = hash & mask;
  while (slots_[slot].id != StringId::kNone) {
    if (slots_[slot].hash == tag && views_[slots_[slot].id] == text) {
      return slot;
    }
    slot = (slot + 1) & mask;
  }
  return slot;
}

std::string_view StringPool::Store(std::string_view text) {
  if (text.empty()) {
    return {};
  }
  if (blocks_.empty() || blocks_.back().size() - block_used_ < text.size()) {
    blocks_.emplace_back(std::max(kBlockBytes, text.size()));
    block_used_ = 0;
  }
  char* to = blocks_.back().data() + block_used_;
  std::ranges::copy(text, to);
  block_used_ += text.size();
  return {to, text.size()};
}

void StringPool::Grow() {
  std::vector<Slot> bigger(slots_.size() * 2);
  const size_t mask = bigger.size() - 1;
  for (uint32_t id = 0; id < views_.size(); ++id) {
    const uint64_t hash = HashBytes(views_[id]);
    size_t slot = hash & mask;
    while (bigger[slot].id != StringId::kNone) {
      slot = (slot + 1) & mask;
    }
    bigger[slot] = Slot{.hash = static_cast<uint32_t>(hash >> 32), .id = id};
  }
  slots_ = std::move(bigger);
}

}  // namespace stepcast

#include "ir/shape_set.h"

#include <bit>
#include <utility>

#include "ir/shape_fields.h"

namespace stepcast::ir {
namespace {

constexpr size_t kFirstSlots = 256;

// The finalizer of SplitMix64 (Steele, Lea and Flood, 2014) over a running
// value: each bit of the input changes half of the bits of the output.
void Mix(uint64_t& hash, uint64_t word) {
  hash = (hash ^ word) + 0x9e3779b97f4a7c15;
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  hash ^= hash >> 31;
}

void MixValue(uint64_t& hash, Bytes value) {
  Mix(hash, static_cast<uint64_t>(value.count));
}
void MixValue(uint64_t& hash, double value) {
  // 0 and -0 are equal, and so must their hashes be.
  Mix(hash, std::bit_cast<uint64_t>(value + 0.0));
}
void MixValue(uint64_t& hash, const std::vector<int64_t>& value) {
  Mix(hash, value.size());
  for (const int64_t number : value) {
    Mix(hash, static_cast<uint64_t>(number));
  }
}
template <typename T>
void MixValue(uint64_t& hash, const T& value) {
  Mix(hash, static_cast<uint64_t>(value));
}

}  // namespace

uint64_t HashOf(const KernelShape& shape) {
  uint64_t hash = 0;
  Mix(hash, shape.index());
  std::visit(
      [&]<typename S>(const S& typed) {
        ForEachField<S>(
            [&](const auto& field) { MixValue(hash, typed.*field.member); });
      },
      shape);
  return hash;
}

ShapeSet::ShapeSet() : slots_(kFirstSlots) {}

ShapeId ShapeSet::Insert(const KernelShape& shape) {
  const uint64_t hash = HashOf(shape);
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  while (slots_[at].id.valid()) {
    if (slots_[at].hash == hash && shapes_[slots_[at].id] == shape) {
      return slots_[at].id;
    }
    at = (at + 1) & mask;
  }
  const ShapeId id = shapes_.push_back(shape);
  slots_[at] = Slot{.hash = hash, .id = id};
  if (size_t{shapes_.size()} * 2 > slots_.size()) {
    Grow();
  }
  return id;
}

void ShapeSet::Grow() {
  std::vector<Slot> bigger(slots_.size() * 2);
  const size_t mask = bigger.size() - 1;
  for (const Slot& slot : slots_) {
    if (!slot.id.valid()) {
      continue;
    }
    size_t at = slot.hash & mask;
    while (bigger[at].id.valid()) {
      at = (at + 1) & mask;
    }
    bigger[at] = slot;
  }
  slots_ = std::move(bigger);
}

}  // namespace stepcast::ir

#include "collect/cuda/random.h"

namespace stepcast::collect {

uint64_t Hash(std::string_view text) {
  // Offset and prime of the 64-bit FNV-1a.
  uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : text) {
    hash ^= static_cast<unsigned char>(letter);
    hash *= 0x100000001b3;
  }
  return hash;
}

uint64_t Random::Next() {
  // The constants are those of the authors' reference implementation.
  state_ += 0x9e3779b97f4a7c15;
  uint64_t mixed = state_;
  mixed = (mixed ^ (mixed >> 30U)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27U)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31U);
}

double Random::Uniform() {
  // As many bits as a double's fraction has.
  return static_cast<double>(Next() >> 11U) * 0x1.0p-53;
}

int64_t Random::Below(int64_t count) {
  // Off by less than count / 2^64 from even: of no matter here.
  return static_cast<int64_t>(Next() % static_cast<uint64_t>(count));
}

}  // namespace stepcast::collect

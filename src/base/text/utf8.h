// Walking UTF-8 text that may be broken.
#ifndef STEPCAST_BASE_TEXT_UTF8_H_
#define STEPCAST_BASE_TEXT_UTF8_H_

#include <cstddef>
#include <string_view>

namespace stepcast {

/// The length of the valid UTF-8 sequence at the start of `text` (1 to 4), or
/// 0 if the first byte starts none (also overlong, surrogate, above U+10FFFF).
inline size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) {
    return static_cast<unsigned char>(text[i]);
  };
  const auto continues = [&](size_t i) {
    return i < text.size() && (byte(i) & 0xC0) == 0x80;
  };
  if (text.empty()) {
    return 0;
  }
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    return 1;
  }
  if (lead >= 0xC2 && lead <= 0xDF) {
    return continues(1) ? 2 : 0;
  }
  if (lead >= 0xE0 && lead <= 0xEF) {
    if (!continues(1) || !continues(2) || (lead == 0xE0 && byte(1) < 0xA0) ||
        (lead == 0xED && byte(1) > 0x9F)) {
      return 0;
    }
    return 3;
  }
  if (lead >= 0xF0 && lead <= 0xF4) {
    if (!continues(1) || !continues(2) || !continues(3) ||
        (lead == 0xF0 && byte(1) < 0x90) || (lead == 0xF4 && byte(1) > 0x8F)) {
      return 0;
    }
    return 4;
  }
  return 0;
}

}  // namespace stepcast

#endif  // STEPCAST_BASE_TEXT_UTF8_H_

// Characters of ASCII, whatever the locale.
#ifndef STEPCAST_BASE_TEXT_ASCII_H_
#define STEPCAST_BASE_TEXT_ASCII_H_

namespace stepcast {

constexpr bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace stepcast

#endif  // STEPCAST_BASE_TEXT_ASCII_H_

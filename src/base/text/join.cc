#include "base/text/join.h"

namespace stepcast {

std::string JoinTexts(std::span<const std::string_view> items,
                      std::string_view between) {
  std::string text;
  for (size_t i = 0; i < items.size(); ++i) {
    text += i == 0 ? "" : between;
    text += items[i];
  }
  return text;
}

}  // namespace stepcast

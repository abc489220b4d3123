// Lists as text.
#ifndef STEPCAST_BASE_TEXT_JOIN_H_
#define STEPCAST_BASE_TEXT_JOIN_H_

#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace stepcast {

/// "a, b, c" with ", " between them.
std::string JoinTexts(std::span<const std::string_view> items,
                      std::string_view between);

/// The same of texts and of whole numbers of any kind. fmt::join does it too,
/// but everybody who calls it compiles half of fmt again.
template <typename Range>
std::string Join(const Range& items, std::string_view between) {
  using Item = std::remove_cvref_t<decltype(*std::begin(items))>;
  if constexpr (std::is_integral_v<Item>) {
    std::vector<std::string> texts;
    texts.reserve(std::size(items));
    for (const Item item : items) {
      texts.push_back(std::to_string(item));
    }
    return Join(texts, between);
  } else {
    const std::vector<std::string_view> texts(std::begin(items),
                                              std::end(items));
    return JoinTexts(texts, between);
  }
}

}  // namespace stepcast

#endif  // STEPCAST_BASE_TEXT_JOIN_H_

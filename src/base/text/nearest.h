// Messages about words nobody knows, with the word that was probably meant.
#ifndef STEPCAST_BASE_TEXT_NEAREST_H_
#define STEPCAST_BASE_TEXT_NEAREST_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace stepcast {

/// The candidate with the fewest changed letters, if that is at most a third
/// of the word; the first of several.
std::optional<std::string_view> Nearest(
    std::string_view word, std::span<const std::string_view> candidates);

/// "a", "a or b", "a, b or c".
std::string OneOf(std::span<const std::string_view> names);

/// "unknown command 'doctr'; did you mean doctor?", or without a near one
/// "...; expected doctor, convert or list".
std::string Unknown(std::string_view what, std::string_view word,
                    std::span<const std::string_view> candidates);

}  // namespace stepcast

#endif  // STEPCAST_BASE_TEXT_NEAREST_H_

// Small nested values written as text: JSON as profilers write it, or Python's
// repr as Chakra stores it.
#ifndef STEPCAST_BASE_TEXT_VALUE_TEXT_H_
#define STEPCAST_BASE_TEXT_VALUE_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stepcast {

// Numbers with units as people write them: 5ms, 20GB, 900 GB/s, 80%.

/// Whether the word is a unit: "us", "GiB".
bool IsUnit(std::string_view word);

/// The number in `unit` ("us", "GB", "GB/s", "W", "%", or "" for a plain number
/// or a share); the text may be in another unit of the same kind, or in none,
/// which is `unit`. The error says what was expected: "a number of us, or of
/// ns, ms, s".
Result<double> ParseQuantity(std::string_view text, std::string_view unit);

/// [[5, 6, 0, 112, 4, "cuda:0"], True, 1.5, None]
struct Value {
  enum class Kind { kNone, kBool, kInt, kFloat, kString, kList };

  Kind kind = Kind::kNone;
  int64_t integer = 0;      // Of kInt and, as 0 or 1, kBool.
  double number = 0;        // Of kFloat and kInt.
  std::string_view text{};  // Of kString: a view into the parsed text, escapes
                            // as they are.
  std::vector<Value> items{};  // Of kList; Python's tuples too.

  bool is_int() const { return kind == Kind::kInt; }
  bool is_string() const { return kind == Kind::kString; }
  bool is_list() const { return kind == Kind::kList; }
};

/// Parses one value. Nothing if the text is no such value, has something
/// after it, or nests deeper than 16 lists (real arguments nest 3 deep).
std::optional<Value> ParseValue(std::string_view text);

/// The value as a list of whole numbers, or nothing if it is anything else.
std::optional<std::vector<int64_t>> AsIntList(const Value& value);

}  // namespace stepcast

#endif  // STEPCAST_BASE_TEXT_VALUE_TEXT_H_

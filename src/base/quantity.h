// Numbers with units as people write them: 5ms, 20GB, 900 GB/s, 80%.
#ifndef STEPCAST_BASE_QUANTITY_H_
#define STEPCAST_BASE_QUANTITY_H_

#include <string>
#include <string_view>

#include "base/result.h"

namespace stepcast {

/// Whether the word is a unit: "us", "GiB".
bool IsUnit(std::string_view word);

/// The number in `unit` ("us", "GB", "GB/s", "W", "%", or "" for a plain number
/// or a share); the text may be in another unit of the same kind, or in none,
/// which is `unit`. The error says what was expected: "a number of us, or of
/// ns, ms, s".
Result<double> ParseQuantity(std::string_view text, std::string_view unit);

}  // namespace stepcast

#endif  // STEPCAST_BASE_QUANTITY_H_

// Values that several JSON reports write the same way.
#ifndef STEPCAST_REPORT_JSON_PARTS_H_
#define STEPCAST_REPORT_JSON_PARTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/json_write.h"
#include "base/units.h"

namespace stepcast::report {

/// Nanoseconds are the finest that times have.
inline constexpr int kTimeDecimals = 3;
/// Shares are rounded to a hundredth of a percent.
inline constexpr int kShareDecimals = 4;

/// In microseconds; keys end in _us, or stand in an object whose key does.
inline void WriteTime(JsonWriter& json, std::string_view key, Duration time) {
  json.Key(key).Fixed(ToMicroseconds(time), kTimeDecimals);
}

inline void WriteStrings(JsonWriter& json, std::string_view key,
                         const std::vector<std::string>& strings) {
  json.Key(key).BeginArray();
  for (const std::string& text : strings) {
    json.String(text);
  }
  json.EndArray();
}

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_JSON_PARTS_H_

// Pieces that several reports for people are made of.
#ifndef STEPCAST_REPORT_TEXT_PARTS_H_
#define STEPCAST_REPORT_TEXT_PARTS_H_

#include <string>
#include <string_view>

#include "base/units.h"

namespace stepcast::report {

/// "14.455": milliseconds with the microseconds as decimals.
std::string MillisecondsText(Duration time);
/// The same of microseconds.
std::string MillisecondsText(double us);

/// "45.6 %" for 0.456.
std::string PercentText(double share);
/// The same for part / whole; "-" if the whole is nothing.
std::string PercentText(Duration part, Duration whole);

/// "1.5 MB", in powers of 1000; "-" for 0.
std::string BytesText(Bytes bytes);

/// "1 step", "3 steps".
std::string CountText(int64_t count, std::string_view singular);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_TEXT_PARTS_H_

// How one time becomes another: a step for each part that differs.
#ifndef STEPCAST_HTML_WATERFALL_H_
#define STEPCAST_HTML_WATERFALL_H_

#include <string>
#include <vector>

#include "base/units.h"

namespace stepcast::html {

struct WaterfallStep {
  std::string name;  // "gemm"
  Duration delta{};  // Negative is a gain.
};

/// `begin` and the deltas sum to the end.
struct Waterfall {
  std::string begin_name{};
  Duration begin{};
  std::vector<WaterfallStep> steps{};
  std::string end_name{};
};

/// An <svg>, a row for the beginning, for each step and for the end. Steps
/// below half a percent of the longer of the two are told together.
std::string WaterfallHtml(const Waterfall& waterfall);

}  // namespace stepcast::html

#endif  // STEPCAST_HTML_WATERFALL_H_

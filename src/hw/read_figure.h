// Reading a published number with its source from a TOML file.
#ifndef STEPCAST_HW_READ_FIGURE_H_
#define STEPCAST_HW_READ_FIGURE_H_

#include <string_view>

#include "base/result.h"
#include "base/toml_read.h"
#include "hw/gpu.h"

namespace stepcast::hw {

/// What a figure is called and the range in which it makes sense; outside of
/// it the unit is wrong.
struct FigureRange {
  std::string_view key;
  double low = 0;
  double high = 0;
  std::string_view unit;
};

/// { value = 1.5, source = "datasheet" }
Result<Figure> ReadFigure(const toml::node& node, const FigureRange& range);

}  // namespace stepcast::hw

#endif  // STEPCAST_HW_READ_FIGURE_H_

// Shapes of kernels and ops written as text, for tests.
#ifndef STEPCAST_TRACE_CLASSIFY_CLASSIFY_TESTING_H_
#define STEPCAST_TRACE_CLASSIFY_CLASSIFY_TESTING_H_

#include <string>
#include <string_view>
#include <vector>

#include "trace/classify/classify.h"

namespace stepcast::trace {

/// An op with its recorded arguments, as JSON.
struct OpText {
  std::string_view name{};
  std::string_view dims{};
  std::string_view types{};
  std::string_view values{};
  std::string_view out_dims{};
  std::string_view out_types{};
  std::string_view collective{};
};

/// A device event and the ops around its launch, innermost first.
struct LaunchText {
  std::string_view kernel;
  std::vector<OpText> ops{};
  OpText partner{};
  std::string_view collective{};
  int64_t siblings = 1;
  int64_t world_size = 0;
};

/// The rules in the binary.
const Rules& BuiltInRules();

/// The shape's text form.
std::string ShapeOf(const LaunchText& launch);
/// The text forms of what ClassifyOp expects, joined by "; ".
std::string ShapesOf(const OpText& op, const OpText& partner = {},
                     int64_t world_size = 0);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_CLASSIFY_CLASSIFY_TESTING_H_

// Reading and writing shapes word by word, as part of a longer line.
#ifndef STEPCAST_IR_TEXT_SHAPE_TEXT_H_
#define STEPCAST_IR_TEXT_SHAPE_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/shape.h"

namespace stepcast::ir {

/// ShapeText at the end of `out`.
void AppendShape(std::string& out, const KernelShape& shape);

/// Takes the words of a shape one by one.
class ShapeReader {
 public:
  /// Starts with the family's name: "gemm".
  static Result<ShapeReader> Start(std::string_view family);

  /// One field: "m=2048".
  Status Add(std::string_view word);

  const KernelShape& shape() const { return shape_; }

 private:
  explicit ShapeReader(KernelShape shape) : shape_(std::move(shape)) {}

  KernelShape shape_;
  uint32_t seen_ = 0;  // Bit i: the family's field i was given.
};

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_TEXT_SHAPE_TEXT_H_

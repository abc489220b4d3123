// From rows of measured PyTorch operators to the kernels they ran.
#ifndef STEPCAST_LEARN_MEASURED_ATEN_SHAPE_H_
#define STEPCAST_LEARN_MEASURED_ATEN_SHAPE_H_

#include <string_view>
#include <vector>

#include "ir/shape.h"
#include "trace/classify/rules.h"

namespace stepcast::learn {

/// An operator with its arguments as the CSV files write them: lists as Python
/// does, with semicolons for commas.
struct AtenRow {
  std::string_view op{};               // "copy_", without "aten::".
  std::string_view dtype{};            // Of the first tensor: "bf16".
  std::string_view input_dims{};       // [[512;768];[768;64];[]]
  std::string_view input_strides{};    // ((768;1);(1;768);())
  std::string_view concrete_inputs{};  // ('';'';'1')
  std::string_view kernel_names{};     // Memset+gemm_kernel*2
};

/// A concatenation, in the same manner.
struct ConcatRow {
  std::string_view dtype{};         // "bf16", or "bytes2" if only the width is
                                    // known.
  std::string_view input_dims{};    // [[4;1;768];[4;196;768]]
  std::string_view kernel_names{};  // at::native::CatArrayBatchedCopy
};

/// The shapes whose times add up to the row's. A row that does not have enough
/// to size every one of its kernels has none.
std::vector<ir::KernelShape> ShapesOf(const AtenRow& row,
                                      const trace::Rules& rules);
std::vector<ir::KernelShape> ShapesOf(const ConcatRow& row);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_MEASURED_ATEN_SHAPE_H_

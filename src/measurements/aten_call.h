// The arguments of a measured PyTorch operator, as the CSV files write them.
#ifndef STEPCAST_MEASUREMENTS_ATEN_CALL_H_
#define STEPCAST_MEASUREMENTS_ATEN_CALL_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "ingest/arguments.h"
#include "ir/dtype.h"

namespace stepcast::measurements {

using Dims = std::vector<int64_t>;

/// An operator as the classifier reads it, with what it does not: strides.
struct AtenCall {
  ingest::Arguments arguments{};
  std::vector<Dims> strides{};  // Of every argument; empty for plain values.
};

/// The text of an operator's arguments: lists as Python writes them, with
/// semicolons for commas.
struct AtenText {
  std::string_view op{};               // "copy_", without "aten::".
  std::string_view dtype{};            // Of the first tensor: "bf16".
  std::string_view input_dims{};       // [[512;768];[768;64];[]]
  std::string_view input_strides{};    // ((768;1);(1;768);())
  std::string_view concrete_inputs{};  // ('';'';'1')
};

/// Nothing if the dims are no list.
std::optional<AtenCall> ParseAtenCall(const AtenText& text);

/// The tensors' sizes of a list of them: [[4;1;768];[4;196;768]].
std::optional<std::vector<Dims>> ParseDimsList(std::string_view text);

/// Elements of a tensor; 0 if they cannot be counted.
int64_t ElementsOf(const Dims& dims);

/// The tensor at a position, or null.
const ir::Tensor* TensorAt(const AtenCall& call, size_t position);

}  // namespace stepcast::measurements

#endif  // STEPCAST_MEASUREMENTS_ATEN_CALL_H_

// Element types of tensors.
#ifndef STEPCAST_IR_DTYPE_H_
#define STEPCAST_IR_DTYPE_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace stepcast::ir {

enum class DType {
  kUnknown,
  kFp64,
  kFp32,
  kTf32,
  kFp16,
  kBf16,
  kFp8,
  kInt64,
  kInt32,
  kInt16,
  kInt8,
  kUint8,
  kBool,
};

/// Bytes of one element; 0 for kUnknown.
int64_t SizeOf(DType dtype);

/// "fp32", as in the text form and in JSON.
std::string_view Name(DType dtype);
std::optional<DType> DTypeFromName(std::string_view name);

/// From what PyTorch writes: "float", "c10::BFloat16", "Tensor(long int)",
/// "at::Half", "int64". kUnknown if it is none of the known ones.
DType DTypeFromTorch(std::string_view text);

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_DTYPE_H_

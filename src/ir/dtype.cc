#include "ir/dtype.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "ir/names.h"

namespace stepcast::ir {
namespace {

struct TorchName {
  std::string_view name;  // In lower case, without "c10::" and the like.
  DType dtype = DType::kUnknown;
};

// C++ type names as at::toString and typeid give them, ScalarType's own names
// as NCCL metadata shows them, and Python's.
constexpr std::array kTorchNames = {
    TorchName{"float", DType::kFp32},
    TorchName{"long int", DType::kInt64},
    TorchName{"long", DType::kInt64},
    TorchName{"int", DType::kInt32},
    TorchName{"double", DType::kFp64},
    TorchName{"half", DType::kFp16},
    TorchName{"bfloat16", DType::kBf16},
    TorchName{"bool", DType::kBool},
    TorchName{"unsigned char", DType::kUint8},
    TorchName{"byte", DType::kUint8},
    TorchName{"signed char", DType::kInt8},
    TorchName{"char", DType::kInt8},
    TorchName{"short int", DType::kInt16},
    TorchName{"short", DType::kInt16},
    TorchName{"long long", DType::kInt64},
    TorchName{"long long int", DType::kInt64},
    TorchName{"float64", DType::kFp64},
    TorchName{"float32", DType::kFp32},
    TorchName{"float16", DType::kFp16},
    TorchName{"int64", DType::kInt64},
    TorchName{"int32", DType::kInt32},
    TorchName{"int16", DType::kInt16},
    TorchName{"int8", DType::kInt8},
    TorchName{"uint8", DType::kUint8},
    TorchName{"int64_t", DType::kInt64},
    TorchName{"int32_t", DType::kInt32},
    TorchName{"int16_t", DType::kInt16},
    TorchName{"int8_t", DType::kInt8},
    TorchName{"uint8_t", DType::kUint8},
    TorchName{"float8_e4m3fn", DType::kFp8},
    TorchName{"float8_e4m3fnuz", DType::kFp8},
    TorchName{"float8_e5m2", DType::kFp8},
    TorchName{"float8_e5m2fnuz", DType::kFp8},
};

constexpr std::array<std::string_view, 4> kNamespaces = {
    "c10::", "at::", "torch::", "torch."};

}  // namespace

int64_t SizeOf(DType dtype) {
  switch (dtype) {
    case DType::kUnknown:
      return 0;
    case DType::kFp64:
    case DType::kInt64:
      return 8;
    case DType::kFp32:
    case DType::kTf32:
    case DType::kInt32:
      return 4;
    case DType::kFp16:
    case DType::kBf16:
    case DType::kInt16:
      return 2;
    case DType::kFp8:
    case DType::kInt8:
    case DType::kUint8:
    case DType::kBool:
      return 1;
  }
  return 0;
}

std::string_view Name(DType dtype) {
  return Name<DType>(dtype);
}

std::optional<DType> DTypeFromName(std::string_view name) {
  return FromName<DType>(name);
}

DType DTypeFromTorch(std::string_view text) {
  constexpr std::string_view kTensor = "Tensor(";
  if (text.starts_with(kTensor) && text.ends_with(')')) {
    text.remove_prefix(kTensor.size());
    text.remove_suffix(1);
  }
  for (const std::string_view prefix : kNamespaces) {
    if (text.starts_with(prefix)) {
      text.remove_prefix(prefix.size());
      break;
    }
  }
  const auto same_letter = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == b;
  };
  const auto* const found =
      std::ranges::find_if(kTorchNames, [&](const TorchName& row) {
        return std::ranges::equal(text, row.name, same_letter);
      });
  return found == kTorchNames.end() ? DType::kUnknown : found->dtype;
}

}  // namespace stepcast::ir

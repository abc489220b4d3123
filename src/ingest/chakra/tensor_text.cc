#include "ingest/chakra/tensor_text.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/join.h"

namespace stepcast::ingest {
namespace {

struct TorchNames {
  ir::DType dtype{};
  std::string_view scalar{};  // ScalarType
  std::string_view cpp{};     // In "Tensor(...)".
};
constexpr std::array<TorchNames, 12> kTorchNames = {{
    {ir::DType::kFp64, "Double", "double"},
    {ir::DType::kFp32, "Float", "float"},
    {ir::DType::kTf32, "Float", "float"},
    {ir::DType::kFp16, "Half", "c10::Half"},
    {ir::DType::kBf16, "BFloat16", "c10::BFloat16"},
    {ir::DType::kFp8, "Float8_e4m3fn", "c10::Float8_e4m3fn"},
    {ir::DType::kInt64, "Long", "long int"},
    {ir::DType::kInt32, "Int", "int"},
    {ir::DType::kInt16, "Short", "short int"},
    {ir::DType::kInt8, "Char", "signed char"},
    {ir::DType::kUint8, "Byte", "unsigned char"},
    {ir::DType::kBool, "Bool", "bool"},
}};

const TorchNames* FindNames(ir::DType dtype) {
  for (const TorchNames& names : kTorchNames) {
    if (names.dtype == dtype) {
      return &names;
    }
  }
  return nullptr;
}

std::string_view DeviceName(ir::Device device) {
  switch (device) {
    case ir::Device::kCpu:
      return "cpu";
    case ir::Device::kGpu:
      return "cuda:0";
    case ir::Device::kUnknown:
      break;
  }
  return "";
}

// 0 if the product does not fit.
int64_t ElementsOf(const ir::Tensor& tensor) {
  int64_t elements = 1;
  for (const int64_t dim : tensor.dims) {
    if (__builtin_mul_overflow(elements, dim, &elements)) {
      return 0;
    }
  }
  return elements;
}

}  // namespace

std::string_view TorchDType(ir::DType dtype) {
  const TorchNames* names = FindNames(dtype);
  // Without a type, sizes are counted in bytes.
  return names != nullptr ? names->scalar : "Byte";
}

void WriteTensors(const ir::GraphData& graph, IdRange<ir::TensorId> tensors,
                  chakra::InputsOutputs& out) {
  std::vector<std::string> values;
  std::vector<std::string> shapes;
  std::vector<std::string> types;
  for (const ir::TensorId id : tensors) {
    const ir::Tensor& tensor = graph.tensors[id];
    const TorchNames* names = FindNames(tensor.dtype);
    values.push_back(fmt::format("[{}, {}, 0, {}, {}, '{}']", id.value,
                                 tensor.storage, ElementsOf(tensor),
                                 ir::SizeOf(tensor.dtype),
                                 DeviceName(tensor.device)));
    shapes.push_back(fmt::format("[{}]", Join(tensor.dims, ", ")));
    types.push_back(
        fmt::format("'Tensor({})'", names != nullptr ? names->cpp : ""));
  }
  out.set_values(fmt::format("[{}]", Join(values, ", ")));
  out.set_shapes(fmt::format("[{}]", Join(shapes, ", ")));
  out.set_types(fmt::format("[{}]", Join(types, ", ")));
}

}  // namespace stepcast::ingest

// Copies, memsets and fills, concatenation, random numbers.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "trace/classify/sizers.h"

namespace stepcast::trace {
namespace {

struct CopyName {
  std::string_view part;  // Of the event's name.
  ir::CopyKind kind = ir::CopyKind::kUnknown;
};

// "Memcpy HtoD (Pinned -> Device)", on ROCm "CopyHostToDevice".
constexpr std::array<CopyName, 10> kCopyNames = {{
    {"HtoD", ir::CopyKind::kHostToDevice},
    {"DtoH", ir::CopyKind::kDeviceToHost},
    {"DtoD", ir::CopyKind::kDeviceToDevice},
    {"PtoP", ir::CopyKind::kPeerToPeer},
    {"HtoH", ir::CopyKind::kHostToHost},
    {"HostToDevice", ir::CopyKind::kHostToDevice},
    {"DeviceToHost", ir::CopyKind::kDeviceToHost},
    {"DeviceToDevice", ir::CopyKind::kDeviceToDevice},
    {"PeerToPeer", ir::CopyKind::kPeerToPeer},
    {"HostToHost", ir::CopyKind::kHostToHost},
}};

// copy_(destination, source) between the devices the arguments name.
ir::KernelShape CopyFromOp(const OpContext& op) {
  const ir::Tensor* to = TensorAt(*op.arguments, 0);
  const ir::Tensor* from = TensorAt(*op.arguments, 1);
  if (PlainName(op.name) == "_local_scalar_dense" && to != nullptr) {
    return ir::Copy{.kind = ir::CopyKind::kDeviceToHost, .bytes = BytesOf(*to)};
  }
  if (to == nullptr || from == nullptr) {
    return ir::Copy{};
  }
  const bool to_gpu = to->device == ir::Device::kGpu;
  const bool from_gpu = from->device == ir::Device::kGpu;
  if (to_gpu && from_gpu && to->dtype != from->dtype) {
    // A cast is a kernel, not a memcpy.
    return ir::Elementwise{.elements = ElementCount(*to),
                           .read = BytesOf(*from),
                           .written = BytesOf(*to),
                           .dtype = to->dtype};
  }
  const ir::CopyKind kind = to_gpu && from_gpu ? ir::CopyKind::kDeviceToDevice
                            : to_gpu           ? ir::CopyKind::kHostToDevice
                            : from_gpu         ? ir::CopyKind::kDeviceToHost
                                               : ir::CopyKind::kUnknown;
  return ir::Copy{.kind = kind, .bytes = BytesOf(*to)};
}

}  // namespace

ir::KernelShape SizeCopy(const SizeRequest& request) {
  const std::string_view name = request.facts.name;
  if (request.facts.kind != DeviceEventKind::kMemcpy) {
    const RuledOp* op = FindOp(request, "copy");
    return op == nullptr ? ir::KernelShape(ir::Copy{}) : CopyFromOp(op->op);
  }
  ir::Copy copy{.bytes = {std::max<int64_t>(request.facts.bytes, 0)},
                .pinned = name.find("Pinned") != std::string_view::npos};
  const auto* const row =
      std::ranges::find_if(kCopyNames, [&](const CopyName& candidate) {
        return name.find(candidate.part) != std::string_view::npos;
      });
  if (row != kCopyNames.end()) {
    copy.kind = row->kind;
  }
  // Some profilers leave the size out; the op that copies has it.
  const RuledOp* op = FindWorkingOp(request);
  if (copy.bytes.count == 0 && op != nullptr && op->IsFamily("copy")) {
    const ir::KernelShape expected = CopyFromOp(op->op);
    if (const auto* same = std::get_if<ir::Copy>(&expected)) {
      copy.bytes = same->bytes;
    }
  }
  return copy;
}

ir::KernelShape SizeFill(const SizeRequest& request) {
  if (request.facts.bytes > 0) {
    return ir::Fill{.bytes = {request.facts.bytes}};
  }
  const RuledOp* ruled = FindWorkingOp(request);
  if (request.facts.kind != DeviceEventKind::kKernel || ruled == nullptr ||
      !ruled->IsFamily("fill")) {
    return ir::Fill{};
  }
  const ir::Tensor* tensor = FirstTensor(ruled->op.arguments->inputs);
  return tensor == nullptr ? ir::Fill{} : ir::Fill{.bytes = BytesOf(*tensor)};
}

ir::KernelShape SizeRandom(const SizeRequest& request) {
  const RuledOp* ruled = FindWorkingOp(request);
  const ir::Tensor* tensor = nullptr;
  if (ruled != nullptr) {
    tensor = FirstTensor(ruled->op.arguments->inputs);
    tensor =
        tensor != nullptr ? tensor : FirstTensor(ruled->op.arguments->outputs);
  }
  return tensor == nullptr ? ir::Random{}
                           : ir::Random{.elements = ElementCount(*tensor),
                                        .dtype = tensor->dtype};
}

ir::KernelShape SizeConcat(const SizeRequest& request) {
  ir::Concat concat;
  const RuledOp* ruled = FindOp(request, "concat");
  if (ruled == nullptr) {
    return concat;
  }
  for (const Argument& argument : ruled->op.arguments->inputs) {
    if (argument.kind == Argument::Kind::kTensorList) {
      concat.tensors = static_cast<int64_t>(argument.tensors.size());
      for (const ir::Tensor& tensor : argument.tensors) {
        concat.elements = Plus(concat.elements, ElementCount(tensor));
        concat.dtype =
            tensor.dtype != ir::DType::kUnknown ? tensor.dtype : concat.dtype;
      }
      break;
    }
  }
  if (const ir::Tensor* output = FirstTensor(ruled->op.arguments->outputs)) {
    concat.dtype = output->dtype;
  }
  const OpContext& partner = request.facts.partner;
  if (concat.elements == 0 && partner.arguments != nullptr) {
    // The list was not recorded; the gradient is as large as the result.
    if (const ir::Tensor* gradient = FirstTensor(partner.arguments->inputs)) {
      concat.elements = ElementCount(*gradient);
      concat.dtype = gradient->dtype;
    }
  }
  if (concat.dtype == ir::DType::kUnknown) {
    // Profiler traces do not show the types inside a list.
    concat.dtype = TypeAfter(request.facts.name, "CatArrayBatchedCopy");
  }
  // Lists too long for one launch are split over several.
  const int64_t launches = std::max<int64_t>(request.facts.siblings, 1);
  concat.tensors = (concat.tensors + launches - 1) / launches;
  concat.elements = concat.elements / launches;
  return concat;
}

}  // namespace stepcast::trace

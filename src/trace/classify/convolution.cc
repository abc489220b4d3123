// Convolutions: cuDNN and MIOpen kernels of all three passes.
#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "trace/classify/sizers.h"

namespace stepcast::trace {
namespace {

constexpr size_t kNowhere = static_cast<size_t>(-1);

// Where an op keeps what. Backward ops of old releases do not have the input.
struct ConvolutionOp {
  std::string_view name;
  size_t input = 0;
  size_t weight = 1;
  size_t output = kNowhere;  // The gradient of the output.
  size_t stride = kNowhere;
  size_t padding = kNowhere;
  size_t groups = kNowhere;
  size_t transposed = kNowhere;
};

// cudnn_, miopen_ and mkldnn_ ops put padding before stride.
constexpr std::array<ConvolutionOp, 12> kOps = {{
    {.name = "convolution",
     .stride = 3,
     .padding = 4,
     .groups = 8,
     .transposed = 6},
    {.name = "_convolution",
     .stride = 3,
     .padding = 4,
     .groups = 8,
     .transposed = 6},
    {.name = "conv2d", .stride = 3, .padding = 4, .groups = 6},
    {.name = "conv1d", .stride = 3, .padding = 4, .groups = 6},
    {.name = "cudnn_convolution", .stride = 3, .padding = 2, .groups = 5},
    {.name = "miopen_convolution", .stride = 4, .padding = 3, .groups = 6},
    {.name = "mkldnn_convolution", .stride = 4, .padding = 3, .groups = 6},
    {.name = "_slow_conv2d_forward", .stride = 4, .padding = 5},
    {.name = "_slow_conv2d_backward",
     .input = 1,
     .weight = 2,
     .output = 0,
     .stride = 4,
     .padding = 5},
    {.name = "convolution_backward",
     .input = 1,
     .weight = 2,
     .output = 0,
     .stride = 4,
     .padding = 5,
     .groups = 9,
     .transposed = 7},
    {.name = "cudnn_convolution_backward",
     .input = 0,
     .weight = 2,
     .output = 1,
     .stride = 4,
     .padding = 3,
     .groups = 6},
    {.name = "miopen_convolution_backward",
     .input = 0,
     .weight = 2,
     .output = 1,
     .stride = 4,
     .padding = 3,
     .groups = 6},
}};

// Height and width; a signal has height 1. Nothing for volumes.
std::optional<std::array<int64_t, 2>> ImageOf(const ir::Tensor& tensor) {
  const std::vector<int64_t>& dims = tensor.dims;
  if (dims.size() == 3) {
    return std::array<int64_t, 2>{1, dims[2]};
  }
  if (dims.size() == 4) {
    return std::array<int64_t, 2>{dims[2], dims[3]};
  }
  return std::nullopt;
}

int64_t OutputSize(int64_t input, int64_t kernel, int64_t stride,
                   int64_t padding) {
  const int64_t room = input + 2 * padding - kernel;
  return room < 0 || stride < 1 ? 0 : room / stride + 1;
}

// Stride and padding from the sizes of input and output, where they were not
// recorded: the usual padding of half the filter before any other, the smallest
// stride that fits.
void SolveStride(ir::Convolution& convolution, int64_t output_width) {
  constexpr int64_t kMostStride = 8;
  const int64_t half = (convolution.kernel_width - 1) / 2;
  for (int64_t try_padding = half; try_padding >= 0; --try_padding) {
    for (int64_t stride = 1; stride <= kMostStride; ++stride) {
      if (OutputSize(convolution.width, convolution.kernel_width, stride,
                     try_padding) == output_width) {
        convolution.stride = stride;
        convolution.padding = try_padding;
        return;
      }
    }
  }
}

// The sizes are bounded so that the arithmetic above cannot overflow.
bool IsSane(const ir::Convolution& convolution) {
  constexpr int64_t kMost = int64_t{1} << 31;
  return convolution.width > 0 && convolution.width < kMost &&
         convolution.height > 0 && convolution.height < kMost &&
         convolution.kernel_width > 0 && convolution.kernel_width < 1024 &&
         convolution.kernel_height > 0 && convolution.kernel_height < 1024 &&
         convolution.stride >= 0 && convolution.stride < kMost &&
         convolution.padding >= 0 && convolution.padding < kMost;
}

std::optional<ir::Convolution> FromOp(const OpContext& op,
                                      const ir::Tensor* known_output) {
  const std::string_view name = PlainName(op.name);
  const auto* const row = std::ranges::find(kOps, name, &ConvolutionOp::name);
  if (row == kOps.end()) {
    return std::nullopt;
  }
  const Arguments& arguments = *op.arguments;
  const ir::Tensor* input = TensorAt(arguments, row->input);
  const ir::Tensor* weight = TensorAt(arguments, row->weight);
  if (input == nullptr || weight == nullptr || input->dims.size() < 3 ||
      weight->dims.size() != input->dims.size()) {
    return std::nullopt;
  }
  ir::Convolution convolution{.batch = input->dims[0],
                              .in_channels = input->dims[1],
                              .out_channels = weight->dims[0],
                              .stride = 0,
                              .dtype = input->dtype};
  const auto image = ImageOf(*input);
  const auto filter = ImageOf(*weight);
  if (!image || IntAt(arguments, row->transposed).value_or(0) != 0) {
    return convolution;  // Volumes and transposed ones have no shape of ours.
  }
  convolution.height = (*image)[0];
  convolution.width = (*image)[1];
  convolution.kernel_height = (*filter)[0];
  convolution.kernel_width = (*filter)[1];
  if (weight->dims[1] > 0) {
    convolution.groups = convolution.in_channels / weight->dims[1];
  }
  const auto stride = IntsAt(arguments, row->stride);
  const auto padding = IntsAt(arguments, row->padding);
  if (stride && padding && !stride->empty() && !padding->empty()) {
    convolution.stride = stride->back();
    convolution.padding = padding->back();
  }
  const ir::Tensor* output = TensorAt(arguments, row->output);
  output = output != nullptr ? output : FirstTensor(arguments.outputs);
  output = output != nullptr ? output : known_output;
  if (!IsSane(convolution)) {
    return ir::Convolution{.stride = 0};
  }
  if (convolution.stride == 0 && output != nullptr) {
    if (const auto size = ImageOf(*output)) {
      SolveStride(convolution, (*size)[1]);
    }
  }
  return convolution;
}

ir::Pass ConvolutionPass(std::string_view detail, const RuledOp* op) {
  if (HasWord(detail, "dgrad")) {
    return ir::Pass::kBackwardData;
  }
  if (HasWord(detail, "wgrad")) {
    return ir::Pass::kBackwardWeight;
  }
  // The kernel's name does not say; the op's may, at least the direction.
  if (op != nullptr && detail != op->rule->detail) {
    return ConvolutionPass(op->rule->detail, op);
  }
  return PassOf(detail);
}

}  // namespace

std::optional<ir::Convolution> ConvolutionOf(const SizeRequest& request) {
  // Autograd's node of the other pass has the gradient of the output.
  const ir::Tensor* output = nullptr;
  if (const OpContext& partner = request.facts.partner;
      partner.arguments != nullptr) {
    output = TensorAt(*partner.arguments, 0);
  }
  std::optional<ir::Convolution> best;
  for (const RuledOp& ruled : request.ops) {
    if (ruled.IsFamily("convolution")) {
      const auto found = FromOp(ruled.op, output);
      if (found && (!best || best->stride == 0)) {
        best = found;
      }
    }
  }
  return best;
}

int64_t OutputElements(const ir::Convolution& convolution) {
  if (convolution.stride < 1) {
    return 0;
  }
  const int64_t height =
      OutputSize(convolution.height, convolution.kernel_height,
                 convolution.stride, convolution.padding);
  const int64_t width = OutputSize(convolution.width, convolution.kernel_width,
                                   convolution.stride, convolution.padding);
  return Times(Times(convolution.batch, convolution.out_channels),
               Times(height, width));
}

ir::KernelShape SizeConvolution(const SizeRequest& request) {
  ir::Convolution convolution =
      ConvolutionOf(request).value_or(ir::Convolution{.stride = 0});
  convolution.pass =
      ConvolutionPass(request.detail, FindOp(request, "convolution"));
  return convolution;
}

}  // namespace stepcast::trace

#include "trace/classify/classify.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "trace/classify/request.h"
#include "trace/classify/sizers.h"

namespace stepcast::trace {
namespace {

std::vector<RuledOp> RuleOps(const Rules& rules,
                             std::span<const OpContext> ops) {
  static const Arguments nothing;
  std::vector<RuledOp> ruled;
  ruled.reserve(ops.size());
  for (const OpContext& op : ops) {
    ruled.push_back(
        {.op = {.name = op.name,
                .arguments = op.arguments != nullptr ? op.arguments : &nothing},
         .rule = rules.FindOp(op.name)});
  }
  return ruled;
}

ir::KernelShape Size(std::string_view family, const SizeRequest& request) {
  const auto sizers = AllSizers();
  const auto sizer = std::ranges::find(sizers, family, &FamilySizer::family);
  return sizer == sizers.end() ? ir::KernelShape(ir::Opaque{})
                               : sizer->size(request);
}

// Whether there is anything to do on a device: a tensor there that holds
// something. PyTorch launches nothing for empty ones.
bool HasWorkOnDevice(const Arguments& arguments) {
  const auto on_gpu = [](const Argument& argument) {
    return std::ranges::any_of(argument.tensors, [](const ir::Tensor& tensor) {
      return tensor.device == ir::Device::kGpu &&
             std::ranges::find(tensor.dims, 0) == tensor.dims.end();
    });
  };
  return std::ranges::any_of(arguments.inputs, on_gpu) ||
         std::ranges::any_of(arguments.outputs, on_gpu);
}

// One op, two kernels: the gradients of data and weights. The first layer's
// data has none, as its mask shows.
std::vector<ir::KernelShape> ConvolutionGradients(const OpContext& op,
                                                  SizeRequest request) {
  struct Masked {
    std::string_view name;
    size_t mask = 0;  // The place of the argument.
  };
  constexpr std::array<Masked, 2> kMasked = {
      {{"convolution_backward", 10}, {"_slow_conv2d_backward", 6}}};
  std::vector<int64_t> wanted = {1, 1};
  const auto* const found =
      std::ranges::find(kMasked, PlainName(op.name), &Masked::name);
  if (found != kMasked.end()) {
    wanted = IntsAt(*op.arguments, found->mask).value_or(wanted);
  }
  std::vector<ir::KernelShape> gradients;
  constexpr std::array<std::string_view, 2> kDetails = {"dgrad", "wgrad"};
  for (size_t i = 0; i < kDetails.size(); ++i) {
    if (i >= wanted.size() || wanted[i] != 0) {
      request.detail = kDetails[i];
      gradients.push_back(SizeConvolution(request));
    }
  }
  return gradients;
}

}  // namespace

ir::KernelShape ClassifyDevice(const Rules& rules, const DeviceFacts& facts,
                               std::span<const OpContext> ops) {
  const std::vector<RuledOp> ruled = RuleOps(rules, ops);
  SizeRequest request{.facts = facts, .detail = {}, .ops = ruled};
  if (facts.kind == DeviceEventKind::kMemcpy) {
    return SizeCopy(request);
  }
  if (facts.kind == DeviceEventKind::kMemset) {
    return SizeFill(request);
  }
  const KernelRule* rule = rules.FindKernel(facts.name);
  if (rule == nullptr && facts.collective.empty()) {
    // The name says nothing: the op that does the work may.
    const RuledOp* op = FindWorkingOp(request);
    rule = op == nullptr ? nullptr : op->rule;
  }
  if (rule != nullptr) {
    request.detail = rule->detail;
    return Size(rule->family, request);
  }
  return facts.collective.empty() ? ir::KernelShape(ir::Opaque{})
                                  : SizeCollective(request);
}

std::vector<ir::KernelShape> ClassifyOp(const Rules& rules, const OpContext& op,
                                        const OpContext& partner,
                                        int64_t world_size) {
  if (op.arguments == nullptr || !HasWorkOnDevice(*op.arguments)) {
    return {};
  }
  const KernelRule* rule = rules.FindOp(op.name);
  if (rule == nullptr) {
    return {ir::Opaque{}};
  }
  if (rule->family == kNoFamily) {
    return {};
  }
  const RuledOp ruled{.op = op, .rule = rule};
  const DeviceFacts facts{
      .name = {}, .partner = partner, .world_size = world_size};
  SizeRequest request{
      .facts = facts, .detail = rule->detail, .ops = {&ruled, 1}};
  if (rule->family == "convolution" && rule->detail == "backward") {
    return ConvolutionGradients(op, request);
  }
  return {Size(rule->family, request)};
}

}  // namespace stepcast::trace

#include "tests/testing/kernel_names.h"

#include <string>
#include <vector>

#include <fmt/format.h>

namespace stepcast::testing {
namespace {

using Names = std::vector<std::string>;

// A lambda inside nested dispatch lambdas of a PyTorch operator.
std::string Lambda(std::string_view function, std::string_view arguments) {
  return fmt::format(
      "at::native::{}(at::TensorIteratorBase&)::{{lambda()#2}}::operator()() "
      "const::{{lambda()#7}}::operator()() const::{{lambda({})#1}}",
      function, arguments);
}

std::string Vectorized(std::string_view functor, int tensors) {
  return fmt::format(
      "void at::native::vectorized_elementwise_kernel<4, {0}, "
      "at::detail::Array<char*, {1}> >(int, {0}, at::detail::Array<char*, "
      "{1}>)",
      functor, tensors);
}

std::string Unrolled(std::string_view functor, int tensors) {
  return fmt::format(
      "void at::native::unrolled_elementwise_kernel<{0}, "
      "at::detail::Array<char*, {1}>, TrivialOffsetCalculator<{2}, unsigned "
      "int>, TrivialOffsetCalculator<1, unsigned int>, "
      "at::native::memory::LoadWithoutCast, "
      "at::native::memory::StoreWithoutCast>(int, {0}, "
      "at::detail::Array<char*, {1}>, TrivialOffsetCalculator<{2}, unsigned "
      "int>, TrivialOffsetCalculator<1, unsigned int>, "
      "at::native::memory::LoadWithoutCast, "
      "at::native::memory::StoreWithoutCast)",
      functor, tensors, tensors - 1);
}

Names MakeElementwise() {
  const std::string multiply =
      "at::native::BinaryFunctor<float, float, float, "
      "at::native::binary_internal::MulFunctor<float> >";
  return {Vectorized("at::native::CUDAFunctor_add<float>", 3),
          Vectorized("at::native::FillFunctor<float>", 1),
          Vectorized(multiply, 3),
          Vectorized(Lambda("sigmoid_kernel_cuda", "float"), 2),
          Vectorized(Lambda("launch_clamp_scalar", "float"), 2),
          Vectorized(Lambda("threshold_kernel_impl", "float, float"), 3),
          Unrolled(Lambda("direct_copy_kernel_cuda", "long"), 2),
          Unrolled(multiply, 3)};
}

Names MakeOptimizer() {
  return {
      Vectorized(Lambda("addcmul_cuda_kernel", "float, float, float"), 4),
      Vectorized(Lambda("sqrt_kernel_cuda", "float"), 2),
      Vectorized("at::native::CUDAFunctorOnSelf_add<float>", 2),
      Vectorized(Lambda("addcdiv_cuda_kernel", "float, float, float"), 4),
  };
}

Names MakeReduce() {
  Names names;
  for (const int threads : {512, 128}) {
    for (const std::string_view type : {"float", "long"}) {
      const std::string operation = fmt::format(
          "at::native::ReduceOp<{0}, at::native::func_wrapper_t<{0}, "
          "at::native::sum_functor<{0}, {0}, "
          "{0}>::operator()(at::TensorIterator&)::{{lambda({0}, {0})#1}}>, "
          "unsigned int, {0}, 4>",
          type);
      names.push_back(
          fmt::format("void at::native::reduce_kernel<{0}, 1, {1} >({1})",
                      threads, operation));
    }
  }
  return names;
}

// FBGEMM's kernels take a dozen accessors, all spelled out.
std::string Embedding(std::string_view name, int accessors) {
  std::string text =
      fmt::format("void {}<float, float, float, long, 1ul, 8ul>", name);
  for (int i = 0; i < accessors; ++i) {
    text += fmt::format(
        "{}at::GenericPackedTensorAccessor<{}, {}ul, at::RestrictPtrTraits, "
        "{}>",
        i == 0 ? "(" : ", ", i % 3 == 0 ? "float" : "int", 1 + i % 2,
        i % 4 == 0 ? "long" : "int");
  }
  return text + ", fbgemm_gpu::FixedDivisor, float)";
}

Names MakeNames(KernelFamily family) {
  switch (family) {
    case KernelFamily::kGemm:
      return {"volta_sgemm_128x32_tn", "volta_sgemm_64x32_sliced1x4_nn",
              "ampere_sgemm_128x64_nt",
              "void gemmSN_TN_kernel<float, 128, 16, 2, 4, 8, 9, false, "
              "cublasGemvTensorStridedBatched<float const>, "
              "cublasGemvTensorStridedBatched<float> "
              ">(cublasGemmSmallNParams<cublasGemvTensorStridedBatched<float "
              "const>, cublasGemvTensorStridedBatched<float>, float>)"};
    case KernelFamily::kElementwise:
      return MakeElementwise();
    case KernelFamily::kReduce:
      return MakeReduce();
    case KernelFamily::kEmbeddingForward:
      return {
          Embedding("split_embedding_codegen_forward_unweighted_kernel", 11)};
    case KernelFamily::kEmbeddingBackward:
      return {Embedding("split_embedding_backward_codegen_adagrad_unweighted_"
                        "kernel_cta_per_row_1",
                        16),
              Embedding("split_embedding_backward_codegen_adagrad_unweighted_"
                        "kernel_warp_per_row_1",
                        15)};
    case KernelFamily::kSort:
      return {
          "void cub::DeviceRadixSortSingleTileKernel<"
          "cub::DeviceRadixSortPolicy<long, int, int>::Policy800, false, "
          "long, int, int>(long const*, long*, int const*, int*, int, int, "
          "int)"};
    case KernelFamily::kConcat:
      return {
          "void at::native::(anonymous namespace)::CatArrayBatchedCopy<"
          "float, unsigned int, 2, 128, 1>(float*, "
          "at::native::(anonymous namespace)::CatArrInputTensorMetadata<"
          "float, unsigned int, 128, 1>, "
          "at::native::(anonymous namespace)::TensorSizeStride<unsigned "
          "int, 4u>, int, unsigned int)"};
    case KernelFamily::kIndex:
      return {
          "void at::native::index_elementwise_kernel<128, 4, "
          "at::native::gpu_index_kernel<at::native::index_kernel_impl<"
          "at::native::OpaqueType<4> >(at::TensorIteratorBase&, "
          "c10::ArrayRef<long>, c10::ArrayRef<long>)::{lambda(char*, "
          "char*, long)#1}>(at::TensorIteratorBase&, "
          "c10::ArrayRef<long>, c10::ArrayRef<long>)::{lambda(int)#1}>"
          "(int)"};
    case KernelFamily::kOptimizer:
      return MakeOptimizer();
    case KernelFamily::kAllToAll:
      return {
          "ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*, "
          "unsigned long, ncclWork*)"};
    case KernelFamily::kAllReduce:
      return {
          "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned "
          "long, ncclWork*)"};
  }
  return {};
}

constexpr size_t kFamilies = static_cast<size_t>(KernelFamily::kAllReduce) + 1;

}  // namespace

std::string_view KernelName(KernelFamily family, size_t which) {
  static const std::vector<Names>& all = *[] {
    auto* names = new std::vector<Names>(kFamilies);
    for (size_t i = 0; i < kFamilies; ++i) {
      (*names)[i] = MakeNames(static_cast<KernelFamily>(i));
    }
    return names;
  }();
  const Names& names = all[static_cast<size_t>(family)];
  return names[which % names.size()];
}

std::string_view HipKernelName(KernelFamily family, size_t which) {
  switch (family) {
    case KernelFamily::kGemm:
      return which % 2 == 0 ? "Cijk_Ailk_Bljk_SB_MT64x64x16_MI32x32x2x1_SE_K1"
                            : "Cijk_Alik_Bljk_SB_MT128x64x16_SN_K1.kd";
    case KernelFamily::kAllToAll:
    case KernelFamily::kAllReduce:
      return "ncclDevKernel_Generic(ncclDevComm*, unsigned long, ncclWork*)";
    default:
      return KernelName(family, which);
  }
}

}  // namespace stepcast::testing

#include "trace/classify/rules.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"

namespace stepcast::trace {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

// The rules in the binary.
const Rules& BuiltIn() {
  static const Result<Rules> rules = Rules::Load();
  EXPECT_TRUE(rules) << rules.error().message;
  return *rules;
}

std::string KernelFamily(std::string_view name) {
  const KernelRule* rule = BuiltIn().FindKernel(name);
  if (rule == nullptr) {
    return "";
  }
  return rule->detail.empty() ? rule->family
                              : rule->family + " " + rule->detail;
}

struct NameCase {
  std::string_view name;
  std::string_view expected;
};

TEST(RulesTest, KnowsKernelsOfManyReleases) {
  constexpr std::array kCases = {
      // cuBLAS, CUTLASS, rocBLAS, hipBLASLt.
      NameCase{"volta_sgemm_128x64_tn", "gemm fp32"},
      NameCase{"ampere_fp16_s16816gemm_fp16_128x64_ldg8_f2f_stages_32x6_tn",
               "gemm fp16"},
      NameCase{"turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn", "gemm fp16"},
      NameCase{"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64",
               "gemm bf16"},
      NameCase{"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3",
               "gemm fp32"},
      NameCase{"void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_128x64_32x6_"
               "nt_align1>(Params)",
               "gemm tf32"},
      NameCase{"void gemmSN_TN_kernel<float, 128, 16, 2, 4, 8, 9, false>()",
               "gemm fp32"},
      NameCase{"nvjet_tst_128x256_64x4_2x1_v_bz_coopA_NTN", "gemm bf16"},
      NameCase{"Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI32x32x8x1_SE",
               "gemm fp16"},
      NameCase{"void cublasLt::splitKreduce_kernel<32, 16, int, float>()",
               "reduction splitk"},
      // ATen.
      NameCase{"void at::native::vectorized_elementwise_kernel<4, "
               "at::native::FillFunctor<float>, at::detail::Array<char*, 1> >",
               "fill"},
      NameCase{"void at::native::vectorized_elementwise_kernel<8, "
               "at::native::CUDAFunctor_add<c10::BFloat16>, std::array<char*, "
               "3ul> >(int)",
               "elementwise"},
      NameCase{"void at::native::elementwise_kernel<128, 2, "
               "at::native::gpu_kernel_impl<at::native::direct_copy_kernel_cuda"
               "(at::TensorIteratorBase&)>()>",
               "transpose copy"},
      NameCase{"void at::native::(anonymous namespace)::"
               "CatArrayBatchedCopy_aligned16_contig<float, unsigned int, 2>()",
               "concat"},
      NameCase{"void at::native::(anonymous namespace)::multi_tensor_apply_"
               "kernel<TensorListMetadata<4>, AdamFunctor<float> >()",
               "optimizer_step adam"},
      NameCase{"void at::native::batch_norm_backward_kernel<float>()",
               "normalization batch backward"},
      NameCase{
          "void at::native::_scatter_gather_elementwise_kernel<128, 4, "
          "at::native::_cuda_scatter_gather_internal_kernel<true, float> >",
          "index scatter"},
      NameCase{"void at::native::_scatter_gather_elementwise_kernel<128, 4, "
               "at::native::_cuda_scatter_gather_internal_kernel<false, int> >",
               "index gather"},
      NameCase{"void cunn_SpatialClassNLLCriterion_updateOutput_kernel<>()",
               "reduction targets"},
      // CUB in its many namespaces.
      NameCase{"void at_cuda_detail::cub::DeviceRadixSortSingleTileKernel<int>",
               "sort sort"},
      NameCase{"void cub::CUB_200200_700_750_NS::DeviceScanKernel<int>()",
               "sort scan"},
      NameCase{"void rocprim::detail::onesweep_iteration_kernel<int>()",
               "sort sort"},
      // FBGEMM.
      NameCase{"void split_embedding_codegen_forward_unweighted_v2_kernel<>()",
               "embedding_bag forward"},
      NameCase{"void split_embedding_nobag_backward_codegen_rowwise_adagrad_"
               "unweighted_kernel_warp_per_row_1<float>()",
               "embedding_bag backward rowwise_adagrad short_runs"},
      NameCase{"void split_embedding_backward_codegen_dense_unweighted_kernel_"
               "cta_per_row_1<float>()",
               "embedding_bag backward long_runs"},
      NameCase{"split_embedding_backward_codegen_find_long_segments(int)",
               "elementwise lookups"},
      // Collectives.
      NameCase{"ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclWorkElem)",
               "collective send_recv"},
      NameCase{"ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*)",
               "collective all_reduce"},
      NameCase{"ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)",
               "collective"},
      // Convolution: cuDNN and MIOpen.
      NameCase{"sm80_xmma_wgrad_implicit_gemm_indexed_tf32f32_tf32f32_f32",
               "convolution wgrad"},
      NameCase{"igemm_fwd_gtcx2_nhwc_bf16_bx0_ex1", "convolution"},
      NameCase{"void ck::kernel_grouped_conv_bwd_weight_xdl<GridwiseGemm>()",
               "convolution wgrad"},
      NameCase{"batched_transpose_16x64_pack_1x4_ediv_1x2_half", "transpose"},
      // Attention, with softmax and products among its template arguments.
      NameCase{"void cutlass::device_kernel<flash::FlashAttnFwdSm90<flash::"
               "CollectiveMainloopFwd<Softmax, gemm> > >(int)",
               "attention forward"},
      NameCase{"fmha_cutlassB_f16_aligned_64x64_k64_sm80(int)",
               "attention backward"},
      // Triton names list what was fused.
      NameCase{"triton_poi_fused_native_batch_norm_backward_relu_3",
               "elementwise"},
      NameCase{"triton_red_fused__softmax_backward_data_4", "reduction"},
  };
  for (const NameCase& test : kCases) {
    EXPECT_EQ(KernelFamily(test.name), test.expected) << test.name;
  }
  EXPECT_EQ(KernelFamily("my_kernel_17"), "");
}

TEST(RulesTest, KnowsCallsOfCudaAndHip) {
  const auto kind_of = [](std::string_view name) {
    const CallRule* rule = BuiltIn().FindCall(name);
    return rule == nullptr || !rule->relevant ? std::nullopt
                                              : std::optional(rule->kind);
  };
  using ir::CallKind;
  EXPECT_EQ(kind_of("cudaLaunchKernel"), CallKind::kLaunch);
  EXPECT_EQ(kind_of("cudaLaunchKernelExC_v11060"), CallKind::kLaunch);
  EXPECT_EQ(kind_of("cuLaunchKernelEx"), CallKind::kLaunch);
  EXPECT_EQ(kind_of("hipExtModuleLaunchKernel"), CallKind::kLaunch);
  EXPECT_EQ(kind_of("hipMemcpyDtoDAsync"), CallKind::kLaunch);
  EXPECT_EQ(kind_of("cudaMemcpy"), CallKind::kLaunch);
  EXPECT_EQ(kind_of("cudaGraphLaunch_v10000"), CallKind::kGraphLaunch);
  EXPECT_EQ(kind_of("cudaGraphInstantiate"), CallKind::kOther);
  EXPECT_EQ(kind_of("cudaStreamSynchronize"), CallKind::kStreamSync);
  EXPECT_EQ(kind_of("hipDeviceSynchronize"), CallKind::kDeviceSync);
  EXPECT_EQ(kind_of("cudaEventSynchronize"), CallKind::kEventSync);
  EXPECT_EQ(kind_of("cudaEventRecordWithFlags"), CallKind::kEventRecord);
  EXPECT_EQ(kind_of("cudaStreamWaitEvent"), CallKind::kStreamWait);
  EXPECT_EQ(kind_of("cudaMalloc"), CallKind::kOther);
  EXPECT_EQ(kind_of("cuMemMap"), CallKind::kOther);
  for (const std::string_view noise :
       {"cudaEventQuery", "cudaPeekAtLastError", "INVALID",
        "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
        "cudaStreamIsCapturing", "cudaPointerGetAttributes",
        "cudaHostGetDevicePointer", "cudaMemGetInfo",
        "hipGetDevicePropertiesR0600"}) {
    ASSERT_NE(BuiltIn().FindCall(noise), nullptr) << noise;
    EXPECT_EQ(kind_of(noise), std::nullopt) << noise;
  }
  EXPECT_EQ(BuiltIn().FindCall("somethingElse"), nullptr);
}

TEST(RulesTest, PartsOfSparseTensorsLaunchNothing) {
  for (const std::string_view name :
       {"aten::_indices", "aten::_values", "aten::indices", "aten::values",
        "aten::_nnz", "aten::_sparse_coo_tensor_with_dims_and_tensors"}) {
    const KernelRule* rule = BuiltIn().FindOp(name);
    ASSERT_NE(rule, nullptr) << name;
    EXPECT_EQ(rule->family, kNoFamily) << name;
  }
}

// Since 1.9 TorchRec writes the batch's number into the ranges of its
// pipelines, and the module and its sharding into those of its modules.
TEST(RulesTest, KnowsTorchRecsRangesWithNumbersAndModules) {
  using ir::Phase;
  const Rules& rules = BuiltIn();
  EXPECT_EQ(rules.FindPhase("## forward 4 ##"), Phase::kForward);
  EXPECT_EQ(rules.FindPhase("## backward 4 ##"), Phase::kBackward);
  EXPECT_EQ(rules.FindPhase("## optimizer 4 ##"), Phase::kOptimizer);
  EXPECT_EQ(rules.FindPhase("## copy_batch_to_gpu 6 ##"), Phase::kDataLoading);
  EXPECT_EQ(rules.FindPhase("## wait_for_batch 4 ##"), Phase::kDataLoading);
  EXPECT_EQ(rules.FindPhase("## load batch 4 from dataloader (host) ##"),
            Phase::kDataLoading);
  for (const std::string_view name :
       {"## start_sparse_data_dist 5 ##", "## wait_sparse_data_dist 5 ##",
        "[splits_dist]_[model.ebc]_[table_wise]",
        "[tensors_dist]_[model.ebc]_[table_wise]"}) {
    EXPECT_EQ(rules.FindPhase(name), Phase::kSparseDataDist) << name;
  }
  for (const std::string_view name :
       {"[lookup]_[model.ebc]_[row_wise]",
        "[output_dist]_[model.ebc]_[row_wise]",
        "[output_dist_wait]_[model.ebc]_[row_wise]"}) {
    EXPECT_EQ(rules.FindPhase(name), Phase::kForward) << name;
  }
}

TEST(RulesTest, KnowsPhasesAndSteps) {
  using ir::Phase;
  const Rules& rules = BuiltIn();
  EXPECT_EQ(rules.FindPhase("## forward ##"), Phase::kForward);
  EXPECT_EQ(rules.FindPhase("autograd::engine::evaluate_function: X"),
            Phase::kBackward);
  EXPECT_EQ(rules.FindPhase("AddmmBackward0"), Phase::kBackward);
  EXPECT_EQ(rules.FindPhase("Optimizer.zero_grad#SGD.zero_grad"),
            Phase::kOptimizer);
  EXPECT_EQ(rules.FindPhase("## copy_batch_to_gpu ##"), Phase::kDataLoading);
  EXPECT_EQ(rules.FindPhase("## all2all_data:kjt splits ##"),
            Phase::kSparseDataDist);
  EXPECT_EQ(rules.FindPhase("aten::add"), std::nullopt);
  EXPECT_EQ(rules.FindPhase("torch.distributed.ddp.reducer::copy_bucket"),
            Phase::kBackward);
  EXPECT_TRUE(rules.IsStep("ProfilerStep#12"));
  EXPECT_FALSE(rules.IsStep("ProfilerStep"));
  EXPECT_TRUE(rules.IsStepEnd("Optimizer.step#SGD.step"));
  EXPECT_TRUE(rules.IsRecorderNode("[pytorch|profiler|execution_graph|x]"));
  EXPECT_FALSE(rules.IsRecorderNode("[param|torch.add|0]"));
}

TEST(RulesTest, KnowsOpsThatLaunchNothing) {
  const auto family_of = [](std::string_view name) {
    const KernelRule* rule = BuiltIn().FindOp(name);
    return rule == nullptr ? "" : rule->family;
  };
  EXPECT_EQ(family_of("aten::view"), kNoFamily);
  EXPECT_EQ(family_of("aten::expand"), kNoFamily);
  EXPECT_EQ(family_of("aten::exp"), "elementwise");
  EXPECT_EQ(family_of("aten::_log_softmax"), "softmax");
  EXPECT_EQ(family_of("aten::log_"), "elementwise");
  EXPECT_EQ(family_of("aten::addmm"), "gemm");
  EXPECT_EQ(family_of("aten::add_"), "elementwise");
  EXPECT_EQ(family_of("my::op"), "");
}

TEST(RulesTest, RulesOfAUserComeFirst) {
  const std::filesystem::path path =
      std::filesystem::path(::testing::TempDir()) / "stepcast_rules_test.toml";
  ASSERT_TRUE(WriteFile(path, R"(
[[kernel]]
family = "interaction"
detail = "forward"
match = ["my_kernel_*", "volta_sgemm_*"]

[[call]]
kind = "ignore"
match = ["cudaLaunchKernel"]
)"));
  const std::array<std::filesystem::path, 1> extra = {path};
  const auto rules = Rules::Load(extra);
  std::filesystem::remove(path);
  ASSERT_TRUE(rules) << rules.error().message;
  EXPECT_EQ(rules->FindKernel("my_kernel_17")->family, "interaction");
  EXPECT_EQ(rules->FindKernel("volta_sgemm_128x64_tn")->detail, "forward");
  EXPECT_EQ(rules->FindKernel("ampere_sgemm_128x64_tn")->family, "gemm");
  EXPECT_FALSE(rules->FindCall("cudaLaunchKernel")->relevant);
}

TEST(RulesTest, ErrorsNameFileAndLine) {
  const auto error_of = [](std::string_view text) {
    Rules rules;
    const Status status = rules.Add(text, "my.toml");
    return status ? "" : status.error().message;
  };
  EXPECT_THAT(error_of("[[kernel]]\nfamily = \"gem\"\nmatch = [\"*\"]"),
              StartsWith("my.toml:2: 'gem' is not a known family; expected one "
                         "of: "));
  EXPECT_THAT(error_of("[[kernel]]\nfamily = \"none\"\nmatch = [\"*\"]"),
              StartsWith("my.toml:2: "));
  EXPECT_EQ(error_of("[[op]]\nfamily = \"none\"\nmatch = [\"*\"]"), "");
  EXPECT_THAT(error_of("[[call]]\nkind = \"lunch\"\nmatch = [\"*\"]"),
              HasSubstr("expected one of: launch, graph_launch"));
  EXPECT_THAT(error_of("[[phase]]\nphase = 3\nmatch = [\"*\"]"),
              StartsWith("my.toml:2: 'phase' must be a string"));
  EXPECT_THAT(error_of("[[kernel]]\nfamily = \"gemm\"\n"),
              HasSubstr("'match' must be a list of strings"));
  EXPECT_THAT(error_of("[[kernel]]\nfamily = \"gemm\"\nmatch = []\n"),
              HasSubstr("'match' must be a list of strings"));
  EXPECT_THAT(error_of("[[kernel]]\nfamily = \"gemm\"\nmatch = [\"a\",\n1]"),
              StartsWith("my.toml:4: "));
  EXPECT_THAT(error_of("[[step]]\nmatch = [\"a\"]\nkind = \"launch\"\n"),
              HasSubstr("my.toml:3: unknown key 'kind'"));
  EXPECT_THAT(error_of("[[kernels]]\n"), HasSubstr("unknown key 'kernels'"));
  EXPECT_THAT(error_of("[kernel]\nfamily = \"gemm\"\nmatch = [\"a\"]"),
              HasSubstr("must be written as [[kernel]]"));
  EXPECT_THAT(error_of("[[kernel]]\nfamily ="), StartsWith("my.toml:2: "));
}

TEST(RulesTest, AMissingFileIsNamed) {
  const std::array<std::filesystem::path, 1> extra = {"no/such/rules.toml"};
  const auto rules = Rules::Load(extra);
  ASSERT_FALSE(rules);
  EXPECT_THAT(rules.error().message, HasSubstr("no/such/rules.toml"));
}

}  // namespace
}  // namespace stepcast::trace

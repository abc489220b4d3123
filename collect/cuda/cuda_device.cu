#include <utility>

#include "collect/cuda/cuda_cases.h"
#include "collect/cuda/cuda_device.h"
#include "collect/cuda/cuda_memory.h"

namespace stepcast::collect {
namespace {

// The workspace of cuBLAS; its own would be allocated while a graph is
// captured. 32 MB is its default on Hopper, the largest so far.
constexpr int64_t kWorkspaceBytes = 32 << 20;

class CudaDevice : public Device {
 public:
  CudaDevice(DeviceFacts facts, CudaContext context, Memory workspace)
      : facts_(std::move(facts)),
        context_(context),
        workspace_(std::move(workspace)) {}
  ~CudaDevice() override {
    cublasDestroy(context_.blas);
    cudaStreamDestroy(context_.stream);
  }
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  const DeviceFacts& facts() const override { return facts_; }

  std::unique_ptr<Prepared> Prepare(const Point& point, int64_t copies,
                                    std::string& why) override {
    switch (point.kind) {
      case Kind::kGemm:
        return MakeGemmCase(context_, point, copies, why);
      case Kind::kEmbeddingBag:
        return MakeBagCase(context_, point, copies, why);
      case Kind::kElementwise:
      case Kind::kBandwidth:
        return MakeStreamCase(context_, point, copies, why);
      case Kind::kMemcpy:
        return MakeCopyCase(context_, point, copies, why);
      case Kind::kLaunch:
        return MakeLaunchCase(context_, point, copies, why);
      case Kind::kCollective:
        break;
    }
    why = "nccl_bench measures collectives";
    return nullptr;
  }

 private:
  DeviceFacts facts_;
  CudaContext context_;
  Memory workspace_;
};

}  // namespace

bool ReadFacts(int number, DeviceFacts& facts, std::string& why) {
  int count = 0;
  std::string error;
  if (!Succeeded(cudaGetDeviceCount(&count), error) || number >= count) {
    why = "no GPU " + std::to_string(number) +
          (error.empty() ? "" : " (" + error + ")") + "; expected " +
          (count > 0 ? "one below " + std::to_string(count)
                     : "a machine with GPUs and their driver");
    return false;
  }
  cudaDeviceProp found{};
  int clock_khz = 0;
  if (!Succeeded(cudaSetDevice(number), why) ||
      !Succeeded(cudaGetDeviceProperties(&found, number), why) ||
      !Succeeded(
          cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, number),
          why)) {
    return false;
  }
  facts.title = found.name;
  facts.major = found.major;
  facts.minor = found.minor;
  facts.sms = found.multiProcessorCount;
  facts.memory_bytes = static_cast<double>(found.totalGlobalMem);
  facts.l2_bytes = static_cast<double>(found.l2CacheSize);
  facts.clock_mhz = clock_khz / 1e3;
  facts.gpus = count;
  facts.dtypes = {"fp32", "fp16"};
  if (found.major >= 8) {  // Ampere brought both.
    facts.dtypes.emplace_back("tf32");
    facts.dtypes.emplace_back("bf16");
  }
  return true;
}

std::unique_ptr<Device> OpenCudaDevice(int number, std::string& why) {
  DeviceFacts facts;
  if (!ReadFacts(number, facts, why)) {
    return nullptr;
  }
  CudaContext context;
  const Memory workspace = AllocateDevice(kWorkspaceBytes, why);
  if (workspace == nullptr ||
      !Succeeded(
          cudaStreamCreateWithFlags(&context.stream, cudaStreamNonBlocking),
          why)) {
    return nullptr;
  }
  if (cublasCreate(&context.blas) != CUBLAS_STATUS_SUCCESS ||
      cublasSetStream(context.blas, context.stream) != CUBLAS_STATUS_SUCCESS ||
      cublasSetWorkspace(context.blas, workspace.get(), kWorkspaceBytes) !=
          CUBLAS_STATUS_SUCCESS) {
    why =
        "cuBLAS does not start on this GPU; expected a release for its "
        "driver";
    return nullptr;
  }
  return std::make_unique<CudaDevice>(std::move(facts), context, workspace);
}

}  // namespace stepcast::collect

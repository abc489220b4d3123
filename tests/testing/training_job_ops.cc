// What a step of the generated training job does, op by op.
#include <fmt/format.h>

#include "tests/testing/training_job.h"

namespace stepcast::testing {
namespace {

constexpr int64_t kBatch = 2048;
constexpr int64_t kDense = 13;
constexpr int64_t kWidth = 512;
constexpr int64_t kDimension = 64;

}  // namespace

void TrainingJob::LoadBatch() {
  {
    const Scope next =
        Annotate("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
    for (int table = 0; table < options_.tables; ++table) {
      const int64_t ids = kBatch * (1 + table % 9);
      { const Scope fresh = Enter("aten::lift_fresh", {{ids}}); }
      {
        const Scope to = Enter("aten::to", {{ids}, {}, {}, {}, {}});
        const Scope copying = Enter("aten::_to_copy", {{ids}, {}, {}, {}, {}});
        {
          const Scope empty =
              Enter("aten::empty_strided", {{}, {}, {}, {}, {}});
        }
        const Scope copy = Enter("aten::copy_", {{ids}, {ids}, {}});
      }
      const Scope flat = Enter("aten::flatten", {{ids}, {}, {}});
      const Scope view = Enter("aten::view", {{ids}, {}});
    }
  }
  const Scope copy = Annotate("## copy_batch_to_gpu ##");
  CopyToDevice(kBatch, kDense);
  CopyToDevice(kBatch, options_.tables);
}

void TrainingJob::Forward() {
  const Scope forward = Annotate("## forward ##");
  const Scope frame = Frame("dlrm/model.py(214): forward");
  if (options_.graphs) {
    DenseGraph(options_.layers);
  } else {
    for (int layer = 0; layer < options_.layers; ++layer) {
      Linear(layer == 0 ? kDense : kWidth, kWidth);
    }
  }
  for (int table = 0; table < options_.tables; ++table) {
    Lookup(table);
  }
  AllToAll(kBatch * options_.tables * kDimension);
  Interact();
  for (int layer = 0; layer < options_.layers; ++layer) {
    Linear(kWidth, layer + 1 == options_.layers ? 1 : kWidth);
  }
  const Scope loss = Enter("aten::binary_cross_entropy_with_logits",
                           {{kBatch}, {kBatch}, {}, {}, {}});
  Launch(KernelFamily::kElementwise, kBatch);
  Launch(KernelFamily::kReduce, kBatch);
}

// The main thread waits while autograd's activities.
void TrainingJob::Backward() {
  const Scope backward = Annotate("## backward ##");
  Pass(20'000, 40'000);
  now_ns_[kAutogradThread] = now_ns_[kMainThread];
  thread_ = kAutogradThread;
  for (int layer = options_.layers; layer-- > 0;) {
    LinearBackward(kWidth, layer + 1 == options_.layers ? 1 : kWidth);
  }
  AllReduce(kWidth * kWidth * options_.layers);
  AllToAll(kBatch * options_.tables * kDimension);
  for (int table = 0; table < options_.tables; ++table) {
    LookupBackward(table);
  }
  for (int layer = options_.layers; layer-- > 0;) {
    LinearBackward(layer == 0 ? kDense : kWidth, kWidth);
  }
  thread_ = kMainThread;
  now_ns_[kMainThread] = now_ns_[kAutogradThread] + Random(20'000, 50'000);
}

void TrainingJob::Optimize() {
  const Scope optimizer = Annotate("## optimizer ##");
  const Scope step = Annotate("Optimizer.step#Adagrad.step");
  for (int layer = 0; layer < 2 * options_.layers; ++layer) {
    const Scope frame = Frame("torch/optim/adagrad.py(330): _single_tensor");
    for (const std::string_view name :
         {"aten::addcmul_", "aten::sqrt", "aten::add_", "aten::addcdiv_"}) {
      const Scope op = Enter(name, {{kWidth, kWidth}, {kWidth, kWidth}, {}});
      Launch(KernelFamily::kOptimizer, kWidth * kWidth);
    }
  }
}

void TrainingJob::Linear(int64_t in, int64_t out) {
  const Scope module = Frame("nn.Module: Linear_0");
  const Scope call = Frame("torch/nn/modules/module.py(1501): _call_impl");
  const Scope frame = Frame("torch/nn/modules/linear.py(113): forward");
  {
    const Scope linear =
        Enter("aten::linear", {{kBatch, in}, {out, in}, {out}});
    Transpose(out, in);
    Scope addmm =
        Enter("aten::addmm", {{out}, {kBatch, in}, {in, out}, {}, {}});
    addmm.event().sequence = sequence_++;
    Launch(KernelFamily::kGemm, kBatch * out);
  }
  Scope relu = Enter("aten::relu", {{kBatch, out}});
  relu.event().sequence = sequence_++;
  const Scope clamp = Enter("aten::clamp_min", {{kBatch, out}, {}});
  Launch(KernelFamily::kElementwise, kBatch * out);
}

// One call, one correlation id, many kernels.
void TrainingJob::DenseGraph(int layers) {
  const Scope replay = Frame("torch/cuda/graphs.py(88): replay");
  const size_t call = Call("cudaGraphLaunch", 311, Random(40'000, 90'000));
  for (int i = 0; i < layers * 8; ++i) {
    const auto family =
        i % 2 == 0 ? KernelFamily::kGemm : KernelFamily::kElementwise;
    LaunchActivity(call,
                   {.name = KernelName(family, next_kernel_++),
                    .stream = kComputeStream,
                    .grid = 64},
                   6'000, Random(3'000, 20'000));
  }
}

void TrainingJob::Transpose(int64_t rows, int64_t columns) {
  const Scope t = Enter("aten::t", {{rows, columns}});
  const Scope transpose = Enter("aten::transpose", {{rows, columns}, {}, {}});
  const Scope strided =
      Enter("aten::as_strided", {{rows, columns}, {}, {}, {}});
}

void TrainingJob::LinearBackward(int64_t in, int64_t out) {
  Scope evaluate = Enter("autograd::engine::evaluate_function: AddmmBackward0");
  evaluate.event().sequence = sequence_ - 1;
  {
    const Scope backward = Enter("AddmmBackward0", {{kBatch, out}});
    Transpose(out, in);
    {
      const Scope mm = Enter("aten::mm", {{kBatch, out}, {out, in}});
      Launch(KernelFamily::kGemm, kBatch * in);
    }
    Transpose(kBatch, out);
    const Scope mm = Enter("aten::mm", {{out, kBatch}, {kBatch, in}});
    Launch(KernelFamily::kGemm, out * in);
  }
  const Scope sum = Enter("aten::sum", {{kBatch, out}, {}, {}, {}});
  Launch(KernelFamily::kReduce, kBatch * out);
  Accumulate(out, in);
}

void TrainingJob::Accumulate(int64_t rows, int64_t columns) {
  const Scope evaluate = Enter(
      "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad");
  const Scope accumulate =
      Enter("torch::autograd::AccumulateGrad", {{rows, columns}});
  {
    const Scope detach = Enter("aten::detach", {{rows, columns}});
    const Scope inner = Enter("detach", {{rows, columns}});
  }
  const Scope multiply =
      Enter("aten::mul", {{rows, columns}, {}, {rows, columns}});
  Call("cudaPeekAtLastError", 11, Random(300, 900));
}

void TrainingJob::Lookup(int table) {
  const int64_t rows = 1'000 * (1 + table);
  const int64_t pooled = kBatch * (1 + table % 9);
  Scope lookup =
      Enter("fbgemm::split_embedding_codegen_lookup_adagrad_function",
            {{rows * kDimension},
             {0},
             {0, 0},
             {1},
             {2},
             {},
             {},
             {pooled},
             {kBatch + 1},
             {},
             {},
             {},
             {rows},
             {}});
  lookup.event().sequence = sequence_++;
  { const Scope empty = Enter("aten::empty", {{}, {}, {}, {}, {}, {}}); }
  Launch(KernelFamily::kEmbeddingForward, pooled * kDimension);
}

void TrainingJob::LookupBackward(int table) {
  const int64_t pooled = kBatch * (1 + table % 9);
  Scope node = Enter("torch::autograd::CppNode<SplitLookupFunction_adagrad_Op>",
                     {{kBatch, kDimension}});
  node.event().sequence = sequence_ - 1;
  {
    const Scope zeros = Enter("aten::zero_", {{pooled}});
    const size_t call = Call("cudaMemsetAsync", 51, Random(2'000, 5'000));
    LaunchActivity(call,
                   {.name = "Memset (Device)",
                    .kind = JobActivityKind::kMemset,
                    .stream = kComputeStream,
                    .bytes = pooled * 8},
                   4'000, Random(800, 2'000));
  }
  for (const int64_t elements : {pooled, kBatch}) {
    const Scope slice = Enter("aten::slice", {{elements}, {}, {}, {}, {}});
    const Scope strided = Enter("aten::as_strided", {{elements}, {}, {}, {}});
  }
  Launch(KernelFamily::kSort, pooled);
  Launch(KernelFamily::kEmbeddingBackward, pooled * kDimension);
  Launch(KernelFamily::kEmbeddingBackward, pooled * kDimension);
}

void TrainingJob::Interact() {
  const int64_t vectors = options_.tables + 1;
  {
    Scope bmm = Enter("aten::bmm", {{kBatch, vectors, kDimension},
                                    {kBatch, kDimension, vectors}});
    bmm.event().sequence = sequence_++;
    Launch(KernelFamily::kGemm, kBatch * vectors * vectors);
  }
  {
    const Scope index = Enter("aten::index", {{kBatch, vectors, vectors}, {}});
    CopyToDevice(2, vectors * vectors / 2);
    Call("cudaStreamSynchronize", 131, Random(8'000, 30'000));
    Launch(KernelFamily::kIndex, kBatch * vectors * vectors / 2);
  }
  const Scope cat = Enter("aten::cat", {{}, {}});
  Launch(KernelFamily::kConcat, kBatch * kWidth);
}

void TrainingJob::AllToAll(int64_t elements) {
  const Scope outer =
      Enter("c10d::alltoall_base_", {{elements}, {elements}, {}, {}, {}, {}});
  Scope record = Enter("record_param_comms", {{elements}, {}, {}, {}});
  record.event().collective = fmt::format(
      R"("Collective name": "all_to_allv", "In msg nelems": {0}, )"
      R"("Out msg nelems": {0}, "Group size": 4, "dtype": "Float", )"
      R"("In split size": "[{1}, {1}, {1}, {1}]", )"
      R"("Out split size": "[{1}, {1}, {1}, {1}]", )"
      R"("Process Group Name": "0", "Process Group Ranks": "[0, 1, 2, 3]")",
      elements, elements / 4);
  const Scope nccl = Annotate("nccl:all_to_all");
  Launch(KernelFamily::kAllToAll, elements);
}

void TrainingJob::AllReduce(int64_t elements) {
  const Scope outer = Enter("c10d::allreduce_", {{}, {}, {}, {}});
  Scope record = Enter("record_param_comms", {{elements}, {}, {}, {}});
  record.event().collective = fmt::format(
      R"("Collective name": "allreduce", "In msg nelems": {0}, )"
      R"("Out msg nelems": {0}, "Group size": 4, "dtype": "Float", )"
      R"("In split size": "[]", "Out split size": "[]", )"
      R"("Process Group Name": "0", "Process Group Ranks": "[0, 1, 2, 3]")",
      elements);
  const Scope nccl = Annotate("nccl:all_reduce");
  Launch(KernelFamily::kAllReduce, elements);
}

void TrainingJob::CopyToDevice(int64_t rows, int64_t columns) {
  const Scope to = Enter("aten::to", {{rows, columns}, {}, {}, {}, {}, {}});
  const Scope copying =
      Enter("aten::_to_copy", {{rows, columns}, {}, {}, {}, {}});
  {
    const Scope empty = Enter("aten::empty_strided", {{}, {}, {}, {}, {}, {}});
  }
  const Scope copy =
      Enter("aten::copy_", {{rows, columns}, {rows, columns}, {}});
  Call("cudaEventQuery", 138, Random(600, 2'000));
  const size_t call = Call("cudaMemcpyAsync", 41, Random(5'000, 12'000));
  LaunchActivity(call,
                 {.name = options_.hip ? "CopyHostToDevice"
                                       : "Memcpy HtoD (Pageable -> Device)",
                  .kind = JobActivityKind::kMemcpy,
                  .stream = kCopyStream,
                  .bytes = rows * columns * 4},
                 5'000, Random(1'000, 30'000));
}

}  // namespace stepcast::testing

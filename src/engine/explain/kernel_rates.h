// What the kernels of a step reach: FLOP and bytes per second, against what the
// GPU could do and against what such kernels usually take.
#ifndef STEPCAST_ENGINE_EXPLAIN_KERNEL_RATES_H_
#define STEPCAST_ENGINE_EXPLAIN_KERNEL_RATES_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "cost/kernel_models.h"
#include "engine/explain/limits.h"
#include "engine/explain/step_result.h"
#include "ir/graph.h"

namespace stepcast::engine {

/// Why a rate may be above a peak of the datasheet.
enum class RateMark : uint8_t {
  kNone,
  kInL2,           // More bytes than DRAM moves: they stay in L2.
  kFewerProducts,  // More FLOP than the units do: Winograd's algorithms.
  kAbovePeak,      // No cause known: clocks, sizes or units are other ones.
};

/// Kernels together. FLOP, bytes and the times that the GPU needs are of those
/// whose sizes are known, and so are rates and shares.
struct RateSum {
  int64_t count = 0;
  double time_us = 0;      // As the step has them.
  double recorded_us = 0;  // As the trace has them; 0: it has none.
  int64_t sized = 0;       // Kernels.
  double sized_us = 0;     // Their time.
  double flops = 0;
  double bytes = 0;
  double roofline_us = 0;  // No GPU of its kind is faster.
  double model_us = 0;     // What such kernels usually take on it.

  double tflops() const { return flops / sized_us / 1e6; }
  double gbs() const { return bytes / sized_us / 1e3; }
  double flops_per_byte() const { return flops / bytes; }
  double roofline_share() const { return roofline_us / sized_us; }
  double model_share() const { return model_us / sized_us; }
};

struct FamilyRates {
  std::string_view family;
  RateSum sum{};
  RateMark mark = RateMark::kNone;
};

/// Kernels of one op and shape.
struct ShapeRates {
  StringId op = StringPool::kEmpty;  // Around the launch, else the kernel.
  ir::ShapeId shape{};
  RateSum sum{};
  RateMark mark = RateMark::kNone;
  cost::Origin origin = cost::Origin::kUnknown;  // Of model_us.
};

/// Kernels of one op and shape that took much longer than others of that shape
/// do.
struct SlowKernels {
  StringId op = StringPool::kEmpty;
  ir::ShapeId shape{};
  int64_t count = 0;        // Of the slow ones,
  int64_t all = 0;          // of so many.
  double time_us = 0;       // Of the slow ones, sum.
  double longest_us = 0;    // Of one of them.
  double usual_us = 0;      // Of one, by its model;
  double usual_p90_us = 0;  // one in ten takes longer.
  double shared_us = 0;     // How long something else ran on the GPU, too.
  std::vector<int64_t> ranks{};
  double lost_us() const {
    return time_us - static_cast<double>(count) * usual_us;
  }
};

/// Memcpys of one direction.
struct CopyRates {
  ir::CopyKind kind = ir::CopyKind::kUnknown;
  bool pinned = false;
  int64_t count = 0;
  double bytes = 0;
  double time_us = 0;
  double roofline_us = 0;
  double model_us = 0;
  double gbs() const { return bytes / time_us / 1e3; }
};

/// How much of what the matrix units could do in a rank's step was asked of
/// them: model FLOP utilization.
struct RankUse {
  int64_t rank = 0;
  double flops = 0;     // Of products, convolutions and attention.
  double ideal_us = 0;  // At the peaks of their data types.
  double step_us = 0;
  double known_us = 0;  // Time of those kernels whose sizes are known,
  double all_us = 0;    // and of all of them.
  double mfu() const { return ideal_us / step_us; }
};

struct KernelRates {
  std::vector<FamilyRates> families;  // The longest first.
  std::vector<ShapeRates> kernels;    // The longest first.
  std::vector<SlowKernels> slow;      // By what they lost.
  std::vector<CopyRates> copies;
  std::vector<RankUse> ranks;
};

/// 1 for the activities that the step launched. Those at the head of a stream
/// that no recorded call launched are the end of the step before; where a
/// stream has no calls at all, nothing is known and all are the step's.
IdVector<ir::ActivityId, char> LaunchedByStep(const ir::GraphData& data);

/// Whom kernels are compared with.
struct RateModels {
  const cost::KernelModels* models = nullptr;
  /// They are of the GPU that the times are of. Otherwise FLOP and bytes are
  /// known, and nothing that a GPU decides.
  bool same_gpu = true;
};

/// Over all ranks, of what the step launched; of several repeats the last.
KernelRates RateKernels(const StepResult& result, const RateModels& models);

/// What the kernels are bound by on the GPU of `models`.
KernelBounds BoundsOf(const KernelRates& rates,
                      const cost::KernelModels& models);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_EXPLAIN_KERNEL_RATES_H_

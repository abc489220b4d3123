#include "learn/fit/ceilings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "base/stats.h"
#include "cost/kernel_models.h"
#include "cost/kernels/bandwidth.h"
#include "cost/kernels/cpu_kernels.h"
#include "cost/kernels/family.h"
#include "cost/machine.h"
#include "learn/fit/overheads/overhead_samples.h"
#include "learn/fit/training_rows.h"

namespace stepcast::learn {
namespace {

// A ceiling from fewer rows than this is an accident.
constexpr size_t kFewestCeilingRows = 10;

// The rows of one GPU that may be fitted to, with what a launch adds to them.
class Rows {
 public:
  Rows(const KernelRows& all, uint16_t gpu, const cost::Profile& profile)
      : all_(all), profile_(profile) {
    for (const KernelRow& row : all.rows) {
      if (row.gpu == gpu && row.more.empty() &&
          PartOf(row.shape) == Part::kFit) {
        rows_.push_back(&row);
      }
    }
  }

  const std::vector<const KernelRow*>& list() const { return rows_; }

  // The kernel's own time: without the lead of its launch.
  double KernelUs(const KernelRow& row) const {
    const auto launch = profile_.launches.find(all_.ops[row.op]);
    return row.timing != Timing::kEventOp || launch == profile_.launches.end()
               ? row.time_us
               : row.time_us - launch->second.lead_us;
  }

 private:
  const KernelRows& all_;
  const cost::Profile& profile_;
  std::vector<const KernelRow*> rows_;
};

// Anything below these is a mistake rather than a share. Products of a
// processor without a vector library are far from what its convolutions reach.
constexpr double kLeastShare = 0.05;
constexpr double kLeastCpuShare = 0.001;

void SetShare(cost::Profile& profile, const char* key,
              std::vector<double> shares, double quantile, double least) {
  if (shares.size() >= kFewestCeilingRows) {
    profile.ceilings[key] =
        std::clamp(Quantile(std::move(shares), quantile), least, 1.0);
  }
}

void Set(cost::Profile& profile, const char* key, std::vector<double> shares,
         double quantile) {
  SetShare(profile, key, std::move(shares), quantile, kLeastShare);
}

double FlopsOf(const ir::Gemm& gemm) {
  return 2.0 * static_cast<double>(gemm.batch) * static_cast<double>(gemm.m) *
         static_cast<double>(gemm.n) * static_cast<double>(gemm.k);
}

// Products that fill the GPU for milliseconds, but not so long that it gets
// hot, nor so deep that their rows leave the caches.
void FitGemms(const Rows& rows, const cost::Machine& machine,
              cost::Profile& profile) {
  constexpr double kShortestUs = 3e3;
  constexpr double kLongestUs = 200e3;
  std::vector<double> linear;
  std::vector<double> batched;
  std::vector<double> half;
  for (const KernelRow* row : rows.list()) {
    const auto* gemm = std::get_if<ir::Gemm>(&row->shape);
    if (gemm == nullptr) {
      continue;
    }
    const double share =
        FlopsOf(*gemm) / row->time_us / machine.peak_gemm_rate(gemm->dtype);
    const bool is_large = gemm->m >= 1000 && gemm->n >= 1000 && gemm->k >= 1000;
    const bool is_long =
        row->time_us > kShortestUs && row->time_us < kLongestUs;
    if (cost::VariantOf(row->shape) == cost::Variant::kHalf) {
      if (is_large) {
        half.push_back(share);
      }
    } else if (gemm->batch == 1 && is_large && gemm->k < 8192 && is_long) {
      linear.push_back(share);
    } else if (gemm->batch > 1 && gemm->m >= 500 && gemm->n >= 500 &&
               gemm->k >= 300 && is_long) {
      batched.push_back(share);
    }
  }
  Set(profile, "gemm_fp32_share", linear, 0.85);
  Set(profile, "bmm_fp32_share", batched, 0.85);
  Set(profile, "gemm_half_share", half, 0.90);
}

// A processor has no size from which on it is full: the median over products
// that last long enough for their call not to matter.
constexpr double kCpuLongUs = 100;

void FitCpuGemms(const Rows& rows, const cost::Machine& machine,
                 cost::Profile& profile) {
  std::vector<double> linear;
  std::vector<double> batched;
  for (const KernelRow* row : rows.list()) {
    const auto* gemm = std::get_if<ir::Gemm>(&row->shape);
    if (gemm != nullptr && row->time_us > kCpuLongUs) {
      (gemm->batch > 1 ? batched : linear)
          .push_back(FlopsOf(*gemm) / row->time_us /
                     machine.peak_gemm_rate(gemm->dtype));
    }
  }
  SetShare(profile, "gemm_fp32_share", linear, 0.5, kLeastCpuShare);
  SetShare(profile, "bmm_fp32_share", batched, 0.5, kLeastCpuShare);
}

// The largest plain elementwise kernels, of one input and of two.
std::vector<double> LargestStreams(const Rows& rows,
                                   const cost::Machine& machine, int inputs) {
  std::vector<std::pair<double, double>> streams;  // Bytes and their rate.
  for (const KernelRow* row : rows.list()) {
    const auto* op = std::get_if<ir::Elementwise>(&row->shape);
    if (op == nullptr || op->arithmetic != ir::Arithmetic::kPlain ||
        op->read.count != inputs * op->written.count) {
      continue;
    }
    const double bytes =
        static_cast<double>(op->read.count + op->written.count);
    const double time = rows.KernelUs(*row) - cost::LatencyUs(machine);
    if (time > 0) {
      streams.emplace_back(bytes, bytes / time / machine.peak_dram_rate());
    }
  }
  std::ranges::sort(streams, std::greater<>());
  streams.resize(streams.size() / 20);
  std::vector<double> shares;
  shares.reserve(streams.size());
  for (const auto& [bytes, share] : streams) {
    shares.push_back(share);
  }
  return shares;
}

// Products with so few rows that they only read their weights.
std::vector<double> ThinProducts(const Rows& rows,
                                 const cost::Machine& machine) {
  std::vector<double> shares;
  for (const KernelRow* row : rows.list()) {
    const auto* gemm = std::get_if<ir::Gemm>(&row->shape);
    if (gemm == nullptr || gemm->m > 32 ||
        cost::VariantOf(row->shape) != cost::Variant::kHalf) {
      continue;
    }
    const double bytes =
        2.0 * static_cast<double>(gemm->n) * static_cast<double>(gemm->k);
    if (bytes > 3 * machine.l2_bytes()) {
      shares.push_back(bytes / row->time_us / machine.peak_dram_rate());
    }
  }
  return shares;
}

void FitCopies(const Rows& rows, const cost::Machine& machine,
               cost::Profile& profile) {
  const std::vector<double> one = LargestStreams(rows, machine, 1);
  const std::vector<double> two = LargestStreams(rows, machine, 2);
  if (one.size() >= kFewestCeilingRows && two.size() >= kFewestCeilingRows) {
    profile.ceilings["copy_share"] =
        std::clamp((Quantile(one, 0.5) + Quantile(two, 0.5)) / 2, 0.05, 1.0);
  } else if (one.size() + two.size() >= kFewestCeilingRows) {
    Set(profile, "copy_share", one.size() > two.size() ? one : two, 0.5);
  } else {
    Set(profile, "copy_share", ThinProducts(rows, machine), 0.9);
  }
}

// Convolutions count their arithmetic in more than one way, so the share is the
// one that makes the formula right for the median of the long ones.
void FitConvolutions(const Rows& rows, const cost::Machine& machine,
                     cost::Profile& profile) {
  const bool cpu = cost::IsCpu(machine);
  const double shortest_us = cpu ? kCpuLongUs : 2e3;
  const double least = cpu ? kLeastCpuShare : kLeastShare;
  constexpr int kRounds = 4;
  cost::Machine tried = machine;
  cost::ApplyCeilings(profile, tried.device);
  const cost::Family* family =
      cost::FindFamily(ir::KernelShape(ir::Convolution{}));
  for (int round = 0; round < kRounds; ++round) {
    std::vector<double> ratios;
    for (const KernelRow* row : rows.list()) {
      if (std::holds_alternative<ir::Convolution>(row->shape) &&
          row->time_us > shortest_us) {
        ratios.push_back(family->base(row->shape, tried).time_us /
                         rows.KernelUs(*row));
      }
    }
    if (ratios.size() < kFewestCeilingRows) {
      return;
    }
    double& share = tried.device.conv_fp32_share;
    share = std::clamp(share * Quantile(ratios, 0.5), least, 1.0);
    profile.ceilings["conv_fp32_share"] = share;
  }
}

}  // namespace

void FitCeilings(const KernelRows& rows, uint16_t gpu,
                 const cost::Machine& machine, cost::Profile& profile) {
  const Rows own(rows, gpu, profile);
  if (cost::IsCpu(machine)) {
    FitCpuGemms(own, machine, profile);
  } else {
    FitGemms(own, machine, profile);
  }
  FitCopies(own, machine, profile);
  FitConvolutions(own, machine, profile);
}

}  // namespace stepcast::learn

#include "timeline/lin_walk.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "cost/overheads/op_names.h"

namespace stepcast::timeline {
namespace {

// The papers' constants, in microseconds: between two kernels of a stream,
// what a kernel takes on top of its model, and the call of a copy that turns
// out to copy nothing.
constexpr double kKernelGap = 1;
constexpr double kKernelExtra2022 = 4;
constexpr double kKernelExtra2024 = 5;
constexpr double kEmptyCopyCall = 2;

bool IsCopy(const LinOp& op) {
  return cost::PlainOpName(op.name) == "to";
}
bool IsOptimizer(const LinOp& op) {
  return op.name.starts_with("Optimizer.");
}
bool IsCollective(const LinOp& op) {
  return op.modelled &&
         std::ranges::any_of(op.kernels, &LinKernel::communication);
}

// The clocks of one rank.
class Walker {
 public:
  Walker(std::span<const LinOp> ops, const LinOverheads& overheads,
         LinVariant variant)
      : ops_(ops),
        overheads_(overheads),
        variant_(variant),
        t1_(overheads.T1()) {
    result_.clocks_us.reserve(ops.size());
  }

  /// Walks to behind the next collective; false if there is none left.
  bool ToCollective() {
    while (next_ < ops_.size()) {
      const LinOp& op = ops_[next_++];
      Visit(op);
      result_.clocks_us.push_back(host_);
      if (variant_ == LinVariant::k2024 && IsCollective(op)) {
        return true;
      }
    }
    return false;
  }
  double communication_clock() const { return communication_; }
  /// The collective ends for all ranks at once.
  void WaitUntil(double clock) {
    result_.active_us += clock - communication_;
    communication_ = clock;
    front_ = std::max(front_, clock);
  }
  LinResult Finish() {
    result_.host_us = host_;
    result_.gpu_us = std::max(compute_, communication_);
    result_.step_us = std::max(host_, result_.gpu_us);
    return std::move(result_);
  }

 private:
  void Visit(const LinOp& op) {
    host_ += t1_;
    if (op.launches.empty()) {
      host_ += overheads_.WholeOp(op.name);
      return;
    }
    switch (variant_) {
      case LinVariant::k2021:
        return Visit2021(op);
      case LinVariant::k2022:
        return Visit2022(op);
      case LinVariant::k2024:
        return Visit2024(op);
    }
  }
  void Visit2021(const LinOp& op);
  void Visit2022(const LinOp& op);
  void Visit2024(const LinOp& op);
  void AddCalls(const LinOp& op) {
    for (const std::string& call : op.launches) {
      host_ += overheads_.T4(call);
    }
    host_ +=
        static_cast<double>(op.launches.size() - 1) * overheads_.T5(op.name);
  }
  void Place(const LinKernel& kernel, double t4);

  const std::span<const LinOp> ops_;
  const LinOverheads& overheads_;
  const LinVariant variant_;
  const double t1_;
  size_t next_ = 0;
  double host_ = 0;
  double compute_ = 0;
  double communication_ = 0;
  double front_ = 0;  // What the streams had reached before the op.
  LinResult result_;
};

// The optimizer's T2 and T3 count twice and its calls not at all: a slip of
// that version which its printed clocks confirm.
void Walker::Visit2021(const LinOp& op) {
  const double t5 = overheads_.T5(op.name);
  const bool optimizer = IsOptimizer(op);
  const double times = optimizer ? 2 : 1;
  host_ += times * overheads_.T2(op.name);
  for (size_t i = 0; i < op.launches.size(); ++i) {
    const double t4 = overheads_.T4(op.launches[i]);
    if (op.modelled && i < op.kernels.size()) {
      compute_ = std::max(compute_, host_ + t4 / 2) + op.kernels[i].us;
      result_.active_us += op.kernels[i].us;
    }
    host_ += (optimizer ? 0 : t4) + (i + 1 < op.launches.size() ? t5 : 0);
  }
  host_ += times * overheads_.T3(op.name);
}

void Walker::Visit2022(const LinOp& op) {
  const double t5 = overheads_.T5(op.name);
  host_ += overheads_.T2(op.name);
  if (!op.modelled) {
    AddCalls(op);
  } else {
    for (size_t i = 0; i < op.launches.size(); ++i) {
      const double t4 = overheads_.T4(op.launches[i]);
      compute_ = std::max(compute_ + kKernelGap, host_ + t4);
      if (i < op.kernels.size()) {
        const double time = op.kernels[i].us + kKernelExtra2022;
        compute_ += time;
        result_.active_us += time;
      }
      host_ += IsCopy(op) && !op.has_children ? kEmptyCopyCall : t4;
      host_ += i + 1 < op.launches.size() ? t5 : 0;
    }
  }
  host_ += overheads_.T3(op.name);
}

// A kernel on its stream; a collective also waits for the other stream.
void Walker::Place(const LinKernel& kernel, double t4) {
  double& stream = kernel.communication ? communication_ : compute_;
  stream = std::max(stream + kKernelGap, host_ + t4);
  if (kernel.communication) {
    stream = std::max(compute_ + kKernelGap, stream);
  }
  const double time = kernel.us + kKernelExtra2024;
  result_.active_us += std::clamp(stream + time - front_, 0.0, time);
  stream += time;
}

void Walker::Visit2024(const LinOp& op) {
  if (op.waits_for_collective || IsCollective(op)) {
    compute_ = communication_ = std::max(compute_, communication_);
  }
  host_ += overheads_.T2(op.name);
  if (!op.modelled) {
    AddCalls(op);
  } else {
    // Launches beyond the modelled kernels cost nothing.
    const size_t count = std::min(op.launches.size(), op.kernels.size());
    for (size_t i = 0; i < count; ++i) {
      const double t4 = overheads_.T4(op.launches[i]);
      Place(op.kernels[i], t4);
      host_ += t4 + (i + 1 < count ? overheads_.T5(op.name) : 0);
    }
  }
  host_ += overheads_.T3(op.name);
  if (IsCopy(op)) {
    host_ = std::max(host_, compute_);
  }
  front_ = std::max({front_, compute_, communication_});
}

}  // namespace

double LinOverheads::MeanOf(cost::OverheadPart part,
                            std::string_view name) const {
  const cost::OverheadRow row = table_.Lookup(part, name).row;
  return profiled_ ? row.mean_us : table_.WithoutProfiler(row);
}

double LinOverheads::T4(std::string_view call) const {
  return MeanOf(cost::OverheadPart::kCall, fmt::format("launch {}", call));
}

LinResult LinWalk(std::span<const LinOp> ops, const LinOverheads& overheads,
                  LinVariant variant) {
  Walker walker(ops, overheads, variant);
  while (walker.ToCollective()) {
  }
  return walker.Finish();
}

std::vector<LinResult> LinWalkRanks(std::span<const std::vector<LinOp>> ranks,
                                    const LinOverheads& overheads,
                                    LinVariant variant) {
  std::vector<Walker> walkers;
  for (const std::vector<LinOp>& ops : ranks) {
    walkers.emplace_back(ops, overheads, variant);
  }
  std::vector<Walker*> meeting;
  do {
    meeting.clear();
    double last = 0;
    for (Walker& walker : walkers) {
      if (walker.ToCollective()) {
        meeting.push_back(&walker);
        last = std::max(last, walker.communication_clock());
      }
    }
    for (Walker* walker : meeting) {
      walker->WaitUntil(last);
    }
  } while (!meeting.empty());
  std::vector<LinResult> results;
  results.reserve(walkers.size());
  for (Walker& walker : walkers) {
    results.push_back(walker.Finish());
  }
  return results;
}

}  // namespace stepcast::timeline

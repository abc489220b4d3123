#include "fit/overhead_samples.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "cost/overheads/host_plan.h"
#include "cost/overheads/piece_key.h"
#include "cost/overheads/silent_waits.h"
#include "ir/names.h"

namespace stepcast::fit {
namespace {

using cost::HostPiece;
using cost::OverheadPart;

// Device work starts behind its cause within this time, or something that the
// graph does not know kept it: another stream that filled the device, the end
// of the step before. In the recorded traces nine of ten launches on an idle
// stream take less than half of it.
constexpr Duration kMostDelay = std::chrono::microseconds(50);

class Adder {
 public:
  Adder(const ir::GraphData& data, uint32_t workload, OverheadSamples& samples,
        const std::function<bool(ir::RankId)>& wanted)
      : data_(data), workload_(workload), samples_(samples), wanted_(wanted) {}

  void AddHost(const cost::HostPlan& plan);
  void AddDevice();

 private:
  void Add(OverheadPart part, const std::string& name, Duration time,
           uint32_t events) {
    samples_[part][name].push_back(
        {.us = ToMicroseconds(time), .events = events, .workload = workload_});
  }
  bool IsWanted(ir::RankId rank) const { return !wanted_ || wanted_(rank); }
  void AddBlocking(const HostPiece& piece, const std::string& name);
  void AddWork(ir::WorkId id);
  std::optional<Duration> EndOf(ir::WorkId id) const {
    const auto& measured = data_.works[id].measured;
    const auto start = ir::StartOf(measured);
    return start ? std::optional(*start + measured->duration) : std::nullopt;
  }

  const ir::GraphData& data_;
  const uint32_t workload_;
  OverheadSamples& samples_;
  const std::function<bool(ir::RankId)>& wanted_;
};

void Adder::AddBlocking(const HostPiece& piece, const std::string& name) {
  const Duration whole = data_.calls[piece.call].measured->duration;
  if (piece.tail == Duration{} && piece.duration == whole) {
    Add(OverheadPart::kCall, name, whole, piece.events);
  } else {
    Add(OverheadPart::kSyncTail, name, piece.tail, 0);
  }
}

void Adder::AddHost(const cost::HostPlan& plan) {
  std::set<std::pair<ir::ThreadId, size_t>> silent;
  for (const cost::SilentWait& wait : cost::FindSilentWaits(data_, plan)) {
    silent.emplace(wait.thread, wait.piece);
  }
  for (const ir::ThreadId thread : data_.threads.ids()) {
    if (!IsWanted(data_.threads[thread].rank)) {
      continue;
    }
    const std::vector<cost::PieceKey> keys = cost::KeysOf(data_, plan, thread);
    const std::vector<bool> opening = cost::OpeningPieces(data_, plan, thread);
    const std::vector<HostPiece>& pieces = plan.threads[thread];
    for (size_t i = 0; i < pieces.size(); ++i) {
      if (opening[i] || silent.contains({thread, i})) {
        continue;
      }
      const std::string name = cost::KeyText(data_, keys[i]);
      if (keys[i].word == cost::KeyWord::kBlocking) {
        AddBlocking(pieces[i], name);
      } else {
        Add(keys[i].part, name, pieces[i].duration, pieces[i].events);
      }
    }
  }
}

void Adder::AddWork(ir::WorkId id) {
  const ir::Work& work = data_.works[id];
  const auto start = ir::StartOf(work.measured);
  const auto call = work.call.valid()
                        ? ir::StartOf(data_.calls[work.call].measured)
                        : std::nullopt;
  if (!start || !call || *start < *call) {
    return;
  }
  OverheadPart part = OverheadPart::kLaunchLatency;
  Duration cause = *call;
  if (id.value > 0) {
    const ir::WorkId previous{id.value - 1};
    const auto end = data_.works[previous].stream == work.stream
                         ? EndOf(previous)
                         : std::nullopt;
    if (end && *end > cause) {
      part = OverheadPart::kWorkGap;
      cause = *end;
    }
  }
  const auto first = std::ranges::lower_bound(data_.stream_waits, id, {},
                                              &ir::StreamWait::after);
  for (auto it = first; it != data_.stream_waits.end() && it->after == id;
       ++it) {
    const auto end = EndOf(it->before);
    if (end && *end > cause) {
      part = OverheadPart::kStreamWait;
      cause = *end;
    }
  }
  // Behind a cause that came shortly after the call, either may have been the
  // last; such works tell nothing.
  const bool clear =
      part == OverheadPart::kLaunchLatency || cause - *call > kMostDelay;
  if (clear && *start >= cause && *start - cause <= kMostDelay) {
    Add(part, std::string(ir::Name(work.kind)), *start - cause, 0);
  }
}

void Adder::AddDevice() {
  for (const ir::WorkId id : data_.works.ids()) {
    if (IsWanted(data_.streams[data_.works[id].stream].rank)) {
      AddWork(id);
    }
  }
}

}  // namespace

size_t OverheadSamples::size() const {
  size_t count = 0;
  for (const ByName& part : parts) {
    for (const auto& [name, list] : part) {
      count += list.size();
    }
  }
  return count;
}

void AddSamples(const ir::GraphData& data, uint32_t workload,
                OverheadSamples& samples,
                const std::function<bool(ir::RankId)>& wanted) {
  Adder adder(data, workload, samples, wanted);
  adder.AddHost(cost::MeasuredPlan(data));
  adder.AddDevice();
  for (const ir::RankId rank : data.ranks.ids()) {
    samples.steps += !wanted || wanted(rank) ? 1 : 0;
  }
}

}  // namespace stepcast::fit

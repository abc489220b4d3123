#include "timeline/handoff.h"

#include <algorithm>
#include <string_view>

namespace stepcast::timeline {
namespace {

// The engine runs tasks without a device on the thread that called it.
bool IsEngineTask(std::string_view name) {
  return name.starts_with("autograd::engine::") ||
         name.starts_with("torch::autograd::");
}

struct TimedBurst {
  uint32_t first_item = 0;
  uint32_t last_item = 0;
};

std::vector<TimedBurst> FindTimedBursts(const ir::GraphData& data,
                                        const TimedThread& main,
                                        const TimedThread& autograd) {
  std::vector<Duration> main_starts;
  for (const TimedItem& item : main.items) {
    const bool engine = item.op.valid() &&
                        IsEngineTask(data.strings.view(data.ops[item.op].name));
    if (!engine) {
      main_starts.push_back(item.start);
    }
  }
  std::vector<TimedBurst> bursts;
  for (uint32_t i = 0; i < autograd.items.size(); ++i) {
    const auto next = i == 0 ? main_starts.end()
                             : std::ranges::upper_bound(
                                   main_starts, autograd.items[i - 1].start);
    if (i == 0 ||
        (next != main_starts.end() && *next < autograd.items[i].start)) {
      bursts.push_back({.first_item = i, .last_item = i});
    }
    bursts.back().last_item = i;
  }
  return bursts;
}

class Splitter {
 public:
  Splitter(ir::ThreadId main_id, TimedThread& main, ir::ThreadId autograd_id,
           TimedThread& autograd, std::vector<TimedBurst> bursts)
      : main_id_(main_id),
        main_(main),
        autograd_id_(autograd_id),
        autograd_(autograd),
        bursts_(std::move(bursts)) {}

  std::vector<Handoff> Split();

 private:
  static constexpr uint32_t kNoItem = ir::OpId::kNone;

  void SplitSegment(const TimedSegment& timed);
  void Open(const TimedSegment& timed, Duration begin);
  uint32_t LastItemEnding(Duration after, Duration until) const;
  void Push(const TimedSegment& timed, cost::HostKind kind, Duration begin,
            Duration end);

  const ir::ThreadId main_id_;
  TimedThread& main_;
  const ir::ThreadId autograd_id_;
  TimedThread& autograd_;
  const std::vector<TimedBurst> bursts_;
  size_t opened_ = 0;  // Bursts that had their handoff.
  std::vector<TimedSegment> segments_;
  std::vector<Handoff> handoffs_;
};

void Splitter::Push(const TimedSegment& timed, cost::HostKind kind,
                    Duration begin, Duration end) {
  TimedSegment part = timed;
  part.segment.kind = kind;
  part.segment.duration = end - begin;
  part.segment.events = 0;
  part.begin = begin;
  part.end = end;
  segments_.push_back(part);
}

// The main thread's segment ends where the next burst begins, which waits for
// it instead of for the burst before.
void Splitter::Open(const TimedSegment& timed, Duration begin) {
  const TimedItem& item = autograd_.items[bursts_[opened_].first_item];
  Push(timed, cost::HostKind::kHandoff, begin, item.start);
  TimedSegment& wait = autograd_.segments[item.first_segment];
  wait.begin = wait.end = item.start;
  wait.segment.duration = {};
  handoffs_.push_back(
      {.from = main_id_,
       .from_segment = static_cast<uint32_t>(segments_.size()) - 1,
       .to = autograd_id_,
       .to_segment = item.first_segment});
  ++opened_;
}

// The last item of the opened bursts to end in (after, until].
uint32_t Splitter::LastItemEnding(Duration after, Duration until) const {
  if (opened_ == 0) {
    return kNoItem;
  }
  const TimedBurst& burst = bursts_[opened_ - 1];
  for (uint32_t i = burst.last_item + 1; i-- > burst.first_item;) {
    if (autograd_.items[i].end <= until) {
      return autograd_.items[i].end > after ? i : kNoItem;
    }
  }
  return kNoItem;
}

void Splitter::SplitSegment(const TimedSegment& timed) {
  if (timed.segment.kind == cost::HostKind::kCall) {
    segments_.push_back(timed);
    return;
  }
  Duration begin = timed.begin;
  uint32_t awaited = kNoItem;
  for (;;) {
    const uint32_t item = LastItemEnding(begin, timed.end);
    if (item != kNoItem) {
      awaited = item;
      begin = autograd_.items[item].end;
    }
    const bool opens =
        opened_ < bursts_.size() &&
        autograd_.items[bursts_[opened_].first_item].start >= begin &&
        autograd_.items[bursts_[opened_].first_item].start < timed.end;
    if (!opens) {
      break;
    }
    Open(timed, begin);
    if (awaited != kNoItem) {  // The part between two bursts waited, too.
      handoffs_.push_back(
          {.from = autograd_id_,
           .from_segment = autograd_.items[awaited].last_segment,
           .to = main_id_,
           .to_segment = static_cast<uint32_t>(segments_.size()) - 1});
      awaited = kNoItem;
    }
    begin = segments_.back().end;
  }
  const bool split = begin != timed.begin || awaited != kNoItem;
  if (!split) {
    segments_.push_back(timed);
    return;
  }
  Push(timed, cost::HostKind::kHandoff, begin, timed.end);
  if (awaited != kNoItem) {
    handoffs_.push_back(
        {.from = autograd_id_,
         .from_segment = autograd_.items[awaited].last_segment,
         .to = main_id_,
         .to_segment = static_cast<uint32_t>(segments_.size()) - 1});
  }
}

std::vector<Handoff> Splitter::Split() {
  for (const TimedSegment& timed : main_.segments) {
    // A burst that began inside a call or before the step has no handoff.
    while (opened_ < bursts_.size() &&
           autograd_.items[bursts_[opened_].first_item].start < timed.begin) {
      ++opened_;
    }
    SplitSegment(timed);
  }
  main_.segments = std::move(segments_);
  return std::move(handoffs_);
}

}  // namespace

std::vector<Handoff> SplitWaits(const ir::GraphData& data, ir::ThreadId main_id,
                                TimedThread& main, ir::ThreadId autograd_id,
                                TimedThread& autograd) {
  return Splitter(main_id, main, autograd_id, autograd,
                  FindTimedBursts(data, main, autograd))
      .Split();
}

}  // namespace stepcast::timeline

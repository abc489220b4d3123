#include "timeline/silent_waits.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/stats.h"

namespace stepcast::timeline {
namespace {

// Host work between two events of a trace rarely takes so long; the pieces of
// the recorded traces that do are waits, stalls of the data loader and calls
// that allocate.
constexpr Duration kLeast = std::chrono::milliseconds(1);
// The share of the piece in which the device must have been busy.
constexpr double kBusyShare = 0.9;
// The framework's range around fetching a batch that worker processes made.
constexpr std::string_view kLoader = "_MultiProcessingDataLoaderIter";

std::optional<Duration> EndOf(const std::optional<ir::Measured>& measured) {
  const auto start = ir::StartOf(measured);
  return start ? std::optional(*start + measured->duration) : std::nullopt;
}

class Finder {
 public:
  Finder(const ir::GraphData& data, const HostPlan& plan)
      : data_(data), plan_(plan), works_(data.ranks.size()) {
    for (const ir::WorkId id : data.works.ids()) {
      if (EndOf(data.works[id].measured)) {
        works_[data.streams[data.works[id].stream].rank].push_back(id);
      }
    }
  }

  std::vector<SilentWait> Find();

 private:
  std::optional<Duration> PieceEnd(ir::ThreadId thread, size_t piece) const;
  bool IsFetched(ir::OpId op) const;
  std::optional<ir::WorkId> WaitedFor(ir::RankId rank, Duration begin,
                                      Duration end) const;

  const ir::GraphData& data_;
  const HostPlan& plan_;
  IdVector<ir::RankId, std::vector<ir::WorkId>> works_;
};

// Pieces do not carry their times; what they end at does.
std::optional<Duration> Finder::PieceEnd(ir::ThreadId thread,
                                         size_t piece) const {
  const std::vector<HostPiece>& pieces = plan_.threads[thread];
  const HostPiece& at = pieces[piece];
  const HostPiece* next =
      piece + 1 < pieces.size() ? &pieces[piece + 1] : nullptr;
  switch (at.kind) {
    case cost::HostKind::kCall:
      return EndOf(data_.calls[at.call].measured);
    case cost::HostKind::kAfterLaunch:
    case cost::HostKind::kNoLaunch:
      return EndOf(data_.ops[at.op].measured);
    case cost::HostKind::kHandOver:
      return std::nullopt;
    default:
      break;
  }
  if (next != nullptr && next->kind == cost::HostKind::kCall) {
    return ir::StartOf(data_.calls[next->call].measured);
  }
  if (at.op.valid()) {
    return ir::StartOf(data_.ops[at.op].measured);
  }
  const auto& step = data_.ranks[data_.threads[thread].rank].step;
  return step ? std::optional(step->duration) : std::nullopt;
}

// Whether an op unpacks what another process loaded.
bool Finder::IsFetched(ir::OpId op) const {
  if (!op.valid()) {
    return false;
  }
  const ir::OpId parent = data_.ops[op].parent;
  return parent.valid() &&
         data_.strings.view(data_.ops[parent].name).find(kLoader) !=
             std::string_view::npos;
}

// The last work to end in [begin, end), if the device was busy for it.
std::optional<ir::WorkId> Finder::WaitedFor(ir::RankId rank, Duration begin,
                                            Duration end) const {
  std::vector<Interval> busy;
  std::optional<ir::WorkId> last;
  for (const ir::WorkId id : works_[rank]) {
    const auto& measured = data_.works[id].measured;
    const Duration work_begin = *measured->start;
    const Duration work_end = work_begin + measured->duration;
    if (work_end > begin && work_begin < end) {
      busy.push_back({std::max(work_begin, begin), std::min(work_end, end)});
    }
    if (work_end > begin && work_end <= end &&
        (!last || work_end > *EndOf(data_.works[*last].measured))) {
      last = id;
    }
  }
  const auto needed = Duration(static_cast<int64_t>(
      kBusyShare * static_cast<double>((end - begin).count())));
  return TotalLength(Union(std::move(busy))) >= needed ? last : std::nullopt;
}

std::vector<SilentWait> Finder::Find() {
  std::vector<SilentWait> waits;
  for (const ir::ThreadId thread : data_.threads.ids()) {
    const std::vector<HostPiece>& pieces = plan_.threads[thread];
    for (uint32_t i = 0; i < pieces.size(); ++i) {
      const HostPiece& piece = pieces[i];
      const auto end =
          piece.duration >= kLeast ? PieceEnd(thread, i) : std::nullopt;
      if (!end) {
        continue;
      }
      if (piece.kind == cost::HostKind::kBetweenOps && IsFetched(piece.op)) {
        waits.push_back({.thread = thread, .piece = i, .work = {}});
      } else if (const auto work = WaitedFor(data_.threads[thread].rank,
                                             *end - piece.duration, *end)) {
        waits.push_back({.thread = thread, .piece = i, .work = *work});
      }
    }
  }
  return waits;
}

}  // namespace

std::vector<SilentWait> FindSilentWaits(const ir::GraphData& data,
                                        const HostPlan& measured) {
  return Finder(data, measured).Find();
}

}  // namespace stepcast::timeline

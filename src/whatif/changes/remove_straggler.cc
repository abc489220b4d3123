// remove-straggler: no rank takes far longer than the others for the same
// thing, and all start at once.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "timeline/silent_waits.h"
#include "whatif/changes/all.h"

namespace stepcast::whatif {
namespace {

// What lasts at least this long, and twice as long as on the median rank, is
// the straggler's own. A millisecond is what silent waits start at
// (timeline/silent_waits.h); ranks of the traces at hand differ by less
// in what they do alike.
constexpr double kLong = 1e6;
constexpr double kTimes = 2;

// The same thing on all ranks: where, what, and which time on this rank.
struct Key {
  uint32_t place = 0;  // Thread or stream, counted within the rank.
  uint32_t kind = 0;
  StringId op = StringPool::kEmpty;
  StringId name = StringPool::kEmpty;
  uint32_t times = 0;
  // clang-tidy 14 takes the 0 in a rewritten `a < b` for a pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const Key&, const Key&) = default;
};

// A rank's time for a thing.
struct Time {
  double* time = nullptr;  // Where it is kept.
  bool waiting = false;    // Nothing but a wait, for whoever is late.
};
using Times = std::map<Key, std::vector<Time>>;

// Numbers things that are called alike, in the order they come.
class Counter {
 public:
  Key Next(Key key) {
    key.times = counts_[key]++;
    return key;
  }

 private:
  std::map<Key, uint32_t> counts_;
};

void AddSegments(StepEditor& editor, Times& times) {
  const ir::GraphData& data = editor.data();
  std::set<std::pair<ir::ThreadId, uint32_t>> silent;
  for (const timeline::SilentWait& wait :
       timeline::FindSilentWaits(data, editor.plan())) {
    silent.emplace(wait.thread, wait.segment);
  }
  uint32_t place = 0;
  for (const ir::ThreadId thread : data.threads.ids()) {
    const bool first = thread.value == 0 ||
                       data.threads[ir::ThreadId{thread.value - 1}].rank !=
                           data.threads[thread].rank;
    place = first ? 0 : place + 1;
    Counter counter;
    const auto& segments = editor.plan().threads[thread];
    for (uint32_t i = 0; i < segments.size(); ++i) {
      const timeline::HostSegment& segment = segments[i];
      Key key{.place = place, .kind = static_cast<uint32_t>(segment.kind)};
      key.op = segment.op.valid() ? data.ops[segment.op].name : key.op;
      key.name =
          segment.call.valid() ? data.calls[segment.call].name : key.name;
      EditedSegment& edited = editor.times().segments[thread][i];
      times[counter.Next(key)].push_back(
          {.time = &edited.duration, .waiting = silent.contains({thread, i})});
    }
  }
}

void AddActivities(StepEditor& editor, Times& times) {
  const ir::GraphData& data = editor.data();
  // After all kinds of segments.
  constexpr uint32_t kActivity = cost::kHostKindCount;
  uint32_t place = 0;
  ir::StreamId stream{};
  Counter counter;
  for (const ir::ActivityId id : data.activities.ids()) {
    const ir::Activity& activity = data.activities[id];
    if (activity.stream != stream) {
      const bool same_rank =
          stream.valid() &&
          data.streams[stream].rank == data.streams[activity.stream].rank;
      place = same_rank ? place + 1 : 0;
      stream = activity.stream;
      counter = {};
    }
    if (activity.kind != ir::ActivityKind::kCollective) {
      times[counter.Next(
                {.place = place, .kind = kActivity, .name = activity.name})]
          .push_back({.time = &editor.times().activities[id].duration});
    }
  }
}

// Cuts what is far above the middle down to it, and waits to the shortest;
// returns by how much in all.
double Cut(const std::vector<Time>& same) {
  std::vector<double> sorted;
  for (const Time& item : same) {
    sorted.push_back(*item.time);
  }
  std::ranges::sort(sorted);
  const double middle = sorted[(sorted.size() - 1) / 2];
  double cut = 0;
  for (const Time& item : same) {
    const double limit = item.waiting ? sorted.front() : middle;
    if (*item.time - limit > kLong && *item.time > kTimes * limit) {
      cut += *item.time - limit;
      *item.time = limit;
    }
  }
  return cut;
}

}  // namespace

Status RemoveStraggler(const Change& change, StepEditor& editor) {
  RETURN_IF_ERROR(NoValue(change));
  const ir::GraphData& data = editor.data();
  if (data.ranks.size() < 2) {
    return Fail(ErrorCode::kUnsupported,
                "change remove-straggler does not apply: there is one rank; "
                "expected traces of several");
  }
  if (!editor.graph().is_timed()) {
    return Fail(ErrorCode::kUnsupported,
                "change remove-straggler does not apply: the ranks have no "
                "measured times; expected profiler traces");
  }
  Times times;
  AddSegments(editor, times);
  AddActivities(editor, times);
  double cut = 0;
  size_t places = 0;
  for (const auto& [key, same] : times) {
    const double here = same.size() < 2 ? 0 : Cut(same);
    cut += here;
    places += here > 0 ? 1 : 0;
  }
  Duration skew{};
  for (Duration& start : editor.times().rank_starts) {
    skew = std::max(skew, start);
    start = {};
  }
  constexpr double kMillisecond = 1e6;
  const std::string beyond =
      places == 0 ? "nothing lasts far longer than on the median rank"
                  : fmt::format(
                        "{:.3f} ms in {} place{} beyond what the median rank "
                        "takes",
                        cut / kMillisecond, places, places == 1 ? "" : "s");
  editor.Note(fmt::format("{}, and {}", beyond,
                          skew == Duration{}
                              ? "all ranks start at once"
                              : fmt::format("up to {:.3f} ms of later starts",
                                            ToMilliseconds(skew))));
  return {};
}

}  // namespace stepcast::whatif

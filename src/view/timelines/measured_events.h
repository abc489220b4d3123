// The measured events of a graph, for a timeline.
#ifndef STEPCAST_VIEW_TIMELINES_MEASURED_EVENTS_H_
#define STEPCAST_VIEW_TIMELINES_MEASURED_EVENTS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "ir/graph.h"
#include "view/timelines/perfetto.h"

namespace stepcast::view {

/// How the processes of a timeline stand for ranks.
struct RankProcesses {
  int64_t first = 0;  // Of rank 0.
  int64_t stride = 1;
  std::string_view suffix{};  // Of their names.

  int64_t Of(int64_t rank) const { return first + stride * rank; }
};

struct MeasuredTimeline {
  int64_t step = 0;  // Marked as ProfilerStep#`step`.
  Duration zero{};   // On the clock that all ranks share; shown as 0.
  RankProcesses processes{};
};

/// Kineto's category of an activity.
std::string_view CategoryOf(ir::ActivityKind kind);

/// A rank's time on the clock that all ranks share.
Duration SharedTime(const ir::GraphData& data, ir::RankId rank, Duration time);

/// The earliest measured time on that clock; none if nothing has a time.
std::optional<Duration> FirstTime(const ir::GraphData& data);

/// Devices of all ranks, numbered in order: each rank may call its own 0.
using DeviceNumbers = std::map<std::pair<ir::RankId, int64_t>, int64_t>;
DeviceNumbers NumberDevices(const ir::GraphData& data);

/// Where the threads and streams of a graph are shown.
struct Tracks {
  std::vector<Track> threads;
  std::vector<Track> streams;
};
enum class TrackNames : uint8_t {
  kRecorded,  // With the names of GPUs and threads that were recorded.
  kShort,
};
/// Names a process for each rank, and its tracks: threads first, then streams,
/// numbered from 1 in every rank.
Tracks NameTracks(const ir::Graph& graph, const RankProcesses& processes,
                  TrackNames names, ChromeEvents& events);

/// One process per rank, one track per host thread and per stream; arrows,
/// numbered as the activities are, go from launches to activities. What has no
/// measured time is left out.
void AddMeasuredEvents(const ir::Graph& graph, const MeasuredTimeline& timeline,
                       ChromeEvents& events);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_TIMELINES_MEASURED_EVENTS_H_

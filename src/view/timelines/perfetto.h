// A graph as a timeline that Perfetto, chrome://tracing and our own Kineto
// reader open.
#ifndef STEPCAST_VIEW_TIMELINES_PERFETTO_H_
#define STEPCAST_VIEW_TIMELINES_PERFETTO_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json/json_write.h"
#include "base/result.h"
#include "base/units.h"
#include "engine/explain/step_result.h"
#include "ir/graph.h"
#include "sim/simulate.h"

namespace stepcast::view {

// A simulated step as slices of its tracks: ops, calls and activities, with
// when they ran.

/// The time that a timeline of the step starts at. A step of a trace: the first
/// measured time; one of several repeats: where its host begins.
Duration ZeroOf(const engine::StepResult& result);

/// Takes the slices of the last repeat, with times as simulated. Those of one
/// thread or stream come in the order they start; a call comes before the op
/// around it.
class SliceSink {
 public:
  SliceSink() = default;
  SliceSink(const SliceSink&) = delete;
  SliceSink& operator=(const SliceSink&) = delete;
  virtual ~SliceSink() = default;

  /// A top-level op.
  virtual void Op(ir::OpId op, ir::ThreadId thread, Duration start,
                  Duration end) = 0;
  /// With what it waited for.
  virtual void Call(ir::CallId call, Duration start, Duration end) = 0;
  /// `call_start` is that of the call that launched it, if there is one.
  virtual void Activity(ir::ActivityId activity,
                        const sim::Placement& placement,
                        Duration call_start) = 0;
};

void WalkSlices(const engine::StepResult& result, SliceSink& sink);

// Events of a Chrome trace, as text.

/// A row of the timeline: a process and a thread of it.
struct Track {
  int64_t process = 0;
  int64_t thread = 0;
};

/// Something that lasted.
struct CompleteEvent {
  std::string_view name;
  std::string_view category;
  Track track{};
  Duration start{};
  Duration duration{};
};

/// One end of an arrow.
struct ArrowEnd {
  Track track{};
  Duration time{};
};

/// In microseconds, with their nanoseconds.
void WriteTime(JsonWriter& json, std::string_view key, Duration time);

/// Collects events; times are written as microseconds with their nanoseconds.
class ChromeEvents {
 public:
  /// Processes and threads are shown in the order of their numbers.
  void NameProcess(int64_t process, std::string_view name);
  void NameThread(const Track& track, std::string_view name);

  /// `write_args` fills the args object through the JsonWriter it gets.
  template <typename WriteArgs>
  void AddComplete(const CompleteEvent& event, WriteArgs&& write_args) {
    JsonWriter json = BeginComplete(event);
    write_args(json);
    json.EndObject();
    Finish(json);
  }

  /// Ids tell arrows apart.
  void AddArrow(int64_t id, const ArrowEnd& from, const ArrowEnd& to);

  /// The list of all events, one a line.
  std::string ToString() const;

 private:
  static JsonWriter Begin(std::string_view phase, std::string_view name,
                          const Track& track);
  static JsonWriter BeginComplete(const CompleteEvent& event);
  void Finish(JsonWriter& json);
  void AddMetadata(std::string_view what, const Track& track,
                   std::string_view name, int64_t order);
  void AddArrowEnd(std::string_view phase, int64_t id, const ArrowEnd& end);

  std::vector<std::string> events_;
};

/// Chrome JSON with Kineto's categories. One process per rank, one track per
/// host thread and per stream, all ranks on one clock that starts at the first
/// event; arrows go from launches to activities. What has no measured time is
/// left out; fails if nothing has one. The step is marked as
/// ProfilerStep#`step`.
Result<std::string> PerfettoJson(const ir::Graph& graph, int64_t step = 0);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_TIMELINES_PERFETTO_H_

// Events of a Chrome trace, as text.
#ifndef STEPCAST_REPORT_CHROME_EVENTS_H_
#define STEPCAST_REPORT_CHROME_EVENTS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_write.h"
#include "base/units.h"

namespace stepcast::report {

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

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_CHROME_EVENTS_H_

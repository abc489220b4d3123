// Turns the events of a Kineto trace into the columns of a ProfilerTrace.
#ifndef STEPCAST_INGEST_KINETO_EVENT_COLLECTOR_H_
#define STEPCAST_INGEST_KINETO_EVENT_COLLECTOR_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "base/json_read.h"
#include "base/string_pool.h"
#include "ingest/kineto/event_fields.h"
#include "ingest/profiler_trace.h"

namespace stepcast::ingest {

/// The year 2112. Starts and base times are no later, so that the sum of both
/// and of a duration fits in 64 bits.
inline constexpr Duration kLatestTime{4'500'000'000'000'000'000};

class EventCollector {
 public:
  EventCollector(ProfilerTrace& trace, Diagnostics& diagnostics)
      : trace_(trace), diagnostics_(diagnostics) {}

  void Add(JsonValue event);

  /// How many records were events of any kind.
  int64_t event_count() const { return event_count_; }
  /// "2021", "2022" or "2024", by what the events look like.
  std::string_view dialect() const;

 private:
  struct Times {
    Duration start{};
    Duration duration{};
  };

  void AddComplete(const EventFields& fields);
  void AddMetadata(const EventFields& fields);
  void AddHost(const EventFields& fields, const Times& times,
               EventCategory category);
  void AddRuntime(const EventFields& fields, const Times& times);
  void AddDevice(const EventFields& fields, const Times& times,
                 EventCategory category);
  void AddSync(const EventFields& fields, const Times& times);

  bool ReadTimes(const EventFields& fields, Times& times);
  EventArgs ArgsOf(const EventFields& fields);
  StringId InternName(std::string_view raw);
  uint32_t ThreadOf(const EventFields& fields);
  int32_t ArgumentsOf(const EventArgs& args, const EventFields& fields);

  ProfilerTrace& trace_;
  Diagnostics& diagnostics_;
  std::string unescaped_;
  // Threads by "process\nthread"; ids count from 1, as 0 is the empty string.
  StringPool thread_keys_;
  std::string last_process_;
  std::string last_thread_;
  uint32_t last_thread_index_ = 0;
  // Argument sets by the bytes of their ids; ids count from 1 too.
  StringPool argument_keys_;
  int64_t event_count_ = 0;
  bool capitalised_ = false;
  bool has_record_function_ids_ = false;
};

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_KINETO_EVENT_COLLECTOR_H_

// One event of a Kineto trace, split into the fields we read.
#ifndef STEPCAST_TRACE_READ_KINETO_EVENT_FIELDS_H_
#define STEPCAST_TRACE_READ_KINETO_EVENT_FIELDS_H_

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/json/json_read.h"

namespace stepcast::trace {

/// What kind of event a category stands for; capitalised names are of 2021.
enum class EventCategory {
  kOther,
  kOp,
  kAnnotation,
  kRuntime,
  kKernel,
  kMemcpy,
  kMemset,
  kSync,
  kPython,
  kGpuAnnotation,
};

/// The members of an event. Absent ones are empty or invalid.
struct EventFields {
  char phase = 0;  // 'X', 's', 'f', 'M', 'i', ...
  std::string_view category;
  std::string_view name;  // Escapes as they are.
  std::string_view process;
  std::string_view thread;
  std::string_view start;     // Microseconds.
  std::string_view duration;  // Microseconds.
  std::optional<JsonValue> args;
};

/// The args we read, whatever the dialect calls them.
struct EventArgs {
  std::optional<int64_t> external_id;
  std::optional<int64_t> event_index;
  std::optional<int64_t> sequence;
  std::optional<int64_t> correlation;
  std::optional<int64_t> stream;
  std::optional<int64_t> original_stream;  // Where `stream` is for display.
  std::optional<int64_t> device;
  std::optional<int64_t> bytes;
  std::optional<int64_t> wait_on_stream;
  std::optional<int64_t> record_correlation;
  std::string_view dims;
  std::string_view types;
  std::string_view values;
  std::string_view strides;
  std::string_view grid;
  std::string_view block;
  std::string_view sync_kind;
  std::string_view copy_kind;  // "HtoD"; in names before 2.14.
  std::string_view src_kind;   // "pinned"
  std::string_view dst_kind;   // "device"
  std::string_view label;      // "name": of metadata events.
  bool describes_collective = false;
  bool has_record_function_id = false;
};

/// False if `event` is not an object or its syntax is broken.
bool ReadFields(JsonValue event, EventFields& fields);
bool ReadArgs(JsonValue args, EventArgs& out);
EventCategory CategoryOf(std::string_view category);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_READ_KINETO_EVENT_FIELDS_H_

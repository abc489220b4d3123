#include "trace/read/kineto/read_kineto.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/diagnostics.h"
#include "base/json/json_read.h"
#include "base/text/string_pool.h"
#include "base/text/text_table.h"
#include "trace/read/kineto/event_fields.h"
#include "trace/read/oddities.h"
#include "trace/read/profiler_trace.h"

namespace stepcast::trace {
namespace {

// Turns the events of a Kineto trace into the columns of a ProfilerTrace.

// The year 2112. Starts and base times are no later, so that the sum of both
// and of a duration fits in 64 bits.
constexpr Duration kLatestTime{4'500'000'000'000'000'000};

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
  void AddPython(const EventFields& fields);

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
  StringPool python_keys_;  // The same of python_threads.
  // Argument sets by the bytes of their ids; ids count from 1 too.
  StringPool argument_keys_;
  int64_t event_count_ = 0;
  bool capitalised_ = false;
  bool has_record_function_ids_ = false;
};

// Nothing in a training step lasts this long. Keeping longer events out keeps
// sums of times, also of a hundred thousand events, inside 64 bits.
constexpr Duration kLongestEvent = std::chrono::hours(24);

// A short name for messages.
std::string Label(const EventFields& fields) {
  constexpr size_t kWidth = 60;
  return ElideMiddle(Printable(fields.name), kWidth);
}

// "pinned" as Kineto writes it in names: "Pinned".
std::string Capitalised(std::string_view word) {
  std::string text(word);
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  }
  return text;
}

// Kineto names a copy "Memcpy HtoD (Pinned -> Device)". The writers of 2.14 and
// 2.15 that read CUPTI from Python name all "Memcpy" and say the rest in args.
std::string CopyName(std::string_view name, const EventArgs& args) {
  if (args.copy_kind.empty() || name.find(' ') != std::string_view::npos) {
    return std::string(name);
  }
  const std::string kind = fmt::format("{} {}", name, args.copy_kind);
  return args.src_kind.empty() || args.dst_kind.empty()
             ? kind
             : fmt::format("{} ({} -> {})", kind, Capitalised(args.src_kind),
                           Capitalised(args.dst_kind));
}

// "stream 7" and "7" are both stream 7.
int64_t StreamFromThread(std::string_view thread) {
  if (thread.starts_with("stream ")) {
    thread.remove_prefix(7);
  }
  int64_t number = 0;
  std::from_chars(thread.data(), thread.data() + thread.size(), number);
  return number;
}

// "Linear_0" of "nn.Module: Linear_0", a call of a module; else nothing.
std::string_view ModuleIn(std::string_view name) {
  constexpr std::string_view kModule = "nn.Module: ";
  return name.starts_with(kModule) ? name.substr(kModule.size())
                                   : std::string_view();
}

// Whether a function, "path/file.py(12): name", is of the user's or a library's
// code: neither built in nor in the package torch, nor what Python wraps
// functions and threads with.
bool IsOwnCode(std::string_view name) {
  constexpr std::array<std::string_view, 4> kWrappers = {
      "contextlib.py(", "functools.py(", "threading.py(", "typing.py("};
  return !name.starts_with('<') && name.find(".py(") != name.npos &&
         !name.starts_with("torch/") && name.find("/torch/") == name.npos &&
         std::ranges::none_of(kWrappers, [&](std::string_view wrapper) {
           return name.find(wrapper) != name.npos;
         });
}

void EventCollector::Add(JsonValue event) {
  EventFields fields;
  if (!ReadFields(event, fields)) {
    constexpr size_t kExample = 40;
    diagnostics_.Add(kMalformedRecord,
                     Printable(event.raw().substr(0, kExample)));
    return;
  }
  event_count_ += fields.phase != 0 ? 1 : 0;
  switch (fields.phase) {
    case 'X':
      AddComplete(fields);
      return;
    case 'M':
      AddMetadata(fields);
      return;
    case 's':
    case 't':
    case 'f':
      ++trace_.skipped.flows;
      return;
    case 'i':
    case 'I':
      ++trace_.skipped.instants;
      return;
    case 'C':
      ++trace_.skipped.counters;
      return;
    case 0:
      diagnostics_.Add(kMissingField, fmt::format("ph of '{}'", Label(fields)));
      return;
    default:
      ++trace_.skipped.other;
      return;
  }
}

std::string_view EventCollector::dialect() const {
  if (capitalised_) {
    return "2021";
  }
  const bool is_new =
      has_record_function_ids_ || trace_.info.base_time != Duration{};
  return is_new ? "2024" : "2022";
}

void EventCollector::AddComplete(const EventFields& fields) {
  const EventCategory category = CategoryOf(fields.category);
  switch (category) {
    case EventCategory::kOther:
      ++trace_.skipped.other;
      return;
    case EventCategory::kPython:
      ++trace_.skipped.python;
      AddPython(fields);
      return;
    case EventCategory::kGpuAnnotation:
      ++trace_.skipped.gpu_annotations;
      return;
    default:
      break;
  }
  Times times;
  if (!ReadTimes(fields, times)) {
    return;
  }
  const char initial = fields.category.front();
  capitalised_ = capitalised_ || (initial >= 'A' && initial <= 'Z');
  switch (category) {
    case EventCategory::kOp:
    case EventCategory::kAnnotation:
      AddHost(fields, times, category);
      return;
    case EventCategory::kRuntime:
      AddRuntime(fields, times);
      return;
    case EventCategory::kSync:
      AddSync(fields, times);
      return;
    default:
      AddDevice(fields, times, category);
      return;
  }
}

void EventCollector::AddMetadata(const EventFields& fields) {
  ++trace_.skipped.metadata;
  if (fields.name == "thread_name" && fields.args) {
    const EventArgs args = ArgsOf(fields);
    std::string& known = trace_.threads[ThreadOf(fields)].name;
    // Some write "thread 77" once more after "thread 77 (pt_autograd_0)".
    if (const auto name = JsonUnescape(args.label, unescaped_);
        !known.starts_with(name)) {
      known = name;
    }
  }
}

void EventCollector::AddHost(const EventFields& fields, const Times& times,
                             EventCategory category) {
  const EventArgs args = ArgsOf(fields);
  has_record_function_ids_ =
      has_record_function_ids_ || args.has_record_function_id;
  trace_.host_events.push_back({.name = InternName(fields.name),
                                .thread = ThreadOf(fields),
                                .start = times.start,
                                .duration = times.duration,
                                .external_id = args.external_id.value_or(-1),
                                .event_index = args.event_index.value_or(-1),
                                .sequence = args.sequence.value_or(-1),
                                .arguments = ArgumentsOf(args, fields),
                                .kind = category == EventCategory::kOp
                                            ? HostEventKind::kOp
                                            : HostEventKind::kAnnotation});
}

void EventCollector::AddRuntime(const EventFields& fields, const Times& times) {
  const EventArgs args = ArgsOf(fields);
  trace_.runtime_events.push_back(
      {.name = InternName(fields.name),
       .thread = ThreadOf(fields),
       .start = times.start,
       .duration = times.duration,
       .correlation = args.correlation.value_or(-1)});
}

void EventCollector::AddDevice(const EventFields& fields, const Times& times,
                               EventCategory category) {
  const EventArgs args = ArgsOf(fields);
  const int64_t device = args.device.value_or(0);
  if (device < 0 || device > std::numeric_limits<int32_t>::max()) {
    diagnostics_.Add(kBadNumber, fmt::format("device of '{}'", Label(fields)));
    return;
  }
  const std::optional<int64_t> stream =
      args.original_stream ? args.original_stream : args.stream;
  DeviceEvent event{
      .name = InternName(category == EventCategory::kMemcpy
                             ? CopyName(fields.name, args)
                             : std::string(fields.name)),
      .kind = category == EventCategory::kKernel   ? DeviceEventKind::kKernel
              : category == EventCategory::kMemcpy ? DeviceEventKind::kMemcpy
                                                   : DeviceEventKind::kMemset,
      .device = static_cast<int32_t>(device),
      .stream = stream ? *stream : StreamFromThread(fields.thread),
      .start = times.start,
      .duration = times.duration,
      .correlation = args.correlation.value_or(-1),
      .external_id = args.external_id.value_or(-1),
      .bytes = args.bytes.value_or(-1),
      .grid = trace_.strings.Intern(args.grid),
      .block = trace_.strings.Intern(args.block)};
  if (args.describes_collective) {
    event.collective = trace_.strings.Intern(fields.args->raw());
  }
  trace_.device_events.push_back(event);
}

void EventCollector::AddSync(const EventFields& fields, const Times& times) {
  const EventArgs args = ArgsOf(fields);
  trace_.sync_events.push_back(
      {.kind =
           InternName(args.sync_kind.empty() ? fields.name : args.sync_kind),
       .start = times.start,
       .duration = times.duration,
       .stream = args.stream.value_or(-1),
       .wait_on_stream = args.wait_on_stream.value_or(-1),
       .record_correlation = args.record_correlation.value_or(-1),
       .correlation = args.correlation.value_or(-1)});
}

void EventCollector::AddPython(const EventFields& fields) {
  const std::string_view module = ModuleIn(fields.name);
  Times times;
  if ((module.empty() && !IsOwnCode(fields.name)) ||
      !ReadTimes(fields, times)) {
    return;
  }
  const StringId key =
      python_keys_.Intern(fmt::format("{}\n{}", fields.process, fields.thread));
  if (key.value - 1 == trace_.python_threads.size()) {
    trace_.python_threads.push_back({.process = std::string(fields.process),
                                     .thread = std::string(fields.thread),
                                     .name = {}});
  }
  trace_.python_frames.push_back(
      {.name = InternName(module.empty() ? fields.name : module),
       .thread = key.value - 1,
       .is_module = !module.empty(),
       .start = times.start,
       .duration = times.duration});
}

bool EventCollector::ReadTimes(const EventFields& fields, Times& times) {
  if (fields.start.empty() || fields.duration.empty()) {
    diagnostics_.Add(
        kMissingField,
        fmt::format("{} of '{}'", fields.start.empty() ? "ts" : "dur",
                    Label(fields)));
    return false;
  }
  const auto start = ParseMicroseconds(fields.start);
  const auto duration = ParseMicroseconds(fields.duration);
  if (!start || *start < 0 || *start > kLatestTime.count() || !duration ||
      *duration < 0 || *duration > kLongestEvent.count()) {
    diagnostics_.Add(
        kBadNumber, fmt::format("ts {} dur {} of '{}'", Printable(fields.start),
                                Printable(fields.duration), Label(fields)));
    return false;
  }
  times = {.start = Duration(*start), .duration = Duration(*duration)};
  return true;
}

EventArgs EventCollector::ArgsOf(const EventFields& fields) {
  EventArgs args;
  if (fields.args && !ReadArgs(*fields.args, args)) {
    diagnostics_.Add(kMalformedRecord,
                     fmt::format("args of '{}'", Label(fields)));
  }
  return args;
}

StringId EventCollector::InternName(std::string_view raw) {
  return trace_.strings.Intern(JsonUnescape(raw, unescaped_));
}

uint32_t EventCollector::ThreadOf(const EventFields& fields) {
  if (!trace_.threads.empty() && fields.thread == last_thread_ &&
      fields.process == last_process_) {
    return last_thread_index_;
  }
  last_process_ = fields.process;
  last_thread_ = fields.thread;
  const StringId key = thread_keys_.Intern(last_process_ + "\n" + last_thread_);
  last_thread_index_ = key.value - 1;
  if (last_thread_index_ == trace_.threads.size()) {
    trace_.threads.push_back(
        {.process = last_process_, .thread = last_thread_, .name = {}});
  }
  return last_thread_index_;
}

int32_t EventCollector::ArgumentsOf(const EventArgs& args,
                                    const EventFields& fields) {
  if (args.dims.empty() && args.types.empty() && args.values.empty() &&
      !args.describes_collective) {
    return -1;
  }
  StringPool& strings = trace_.strings;
  RawArguments raw{.dims = strings.Intern(args.dims),
                   .types = strings.Intern(args.types),
                   .values = strings.Intern(args.values),
                   .strides = strings.Intern(args.strides)};
  if (args.describes_collective) {
    raw.collective = strings.Intern(fields.args->raw());
  }
  static_assert(sizeof(RawArguments) == 8 * sizeof(StringId));
  char bytes[sizeof(RawArguments)] = {};  // NOLINT(modernize-avoid-c-arrays)
  std::memcpy(bytes, &raw, sizeof(raw));
  const StringId key =
      argument_keys_.Intern(std::string_view(bytes, sizeof(bytes)));
  if (key.value - 1 == trace_.arguments.size()) {
    trace_.arguments.push_back(raw);
  }
  return static_cast<int32_t>(key.value - 1);
}

std::string Text(JsonValue value) {
  std::string buffer;
  const auto raw = value.raw_string();
  return std::string(JsonUnescape(raw ? *raw : value.raw(), buffer));
}

DeviceInfo ReadDevice(JsonValue object) {
  DeviceInfo device;
  std::string major;
  std::string minor;
  object.ForEachMember([&](std::string_view key, JsonValue value) {
    if (key == "id") {
      device.number = value.AsInt().value_or(-1);
    } else if (key == "name") {
      device.name = Text(value);
    } else if (key == "totalGlobalMem") {
      device.memory_bytes = value.AsInt().value_or(0);
    } else if (key == "numSms") {
      device.sm_count = value.AsInt().value_or(0);
    } else if (key == "computeMajor") {
      major = Text(value);
    } else if (key == "computeMinor") {
      minor = Text(value);
    }
  });
  if (!major.empty() && !minor.empty()) {
    device.compute_capability = major + "." + minor;
  }
  return device;
}

void ReadDistributedInfo(JsonValue object, TraceInfo& info) {
  object.ForEachMember([&](std::string_view key, JsonValue value) {
    if (key == "rank") {
      info.rank = value.AsInt();
    } else if (key == "world_size") {
      info.world_size = value.AsInt();
    } else if (key == "backend") {
      info.backend = Text(value);
    }
  });
}

void ReadBaseTime(JsonValue value, TraceInfo& info, Diagnostics& diagnostics) {
  const auto time = value.AsInt();
  if (!time || *time < 0 || *time > kLatestTime.count()) {
    diagnostics.Add(kBadNumber, "baseTimeNanoseconds");
    return;
  }
  info.base_time = Duration(*time);
}

void ReadMember(std::string_view key, JsonValue value, TraceInfo& info,
                Diagnostics& diagnostics) {
  if (key == "schemaVersion") {
    info.schema = Text(value);
  } else if (key == "deviceProperties") {
    value.ForEachElement(
        [&](JsonValue device) { info.devices.push_back(ReadDevice(device)); });
  } else if (key == "distributedInfo") {
    ReadDistributedInfo(value, info);
  } else if (key == "baseTimeNanoseconds") {
    ReadBaseTime(value, info, diagnostics);
  }
}

void Report(const JsonRecordReader::Counts& counts, Diagnostics& diagnostics) {
  diagnostics.Add(kTruncated, {}, counts.truncated ? 1 : 0);
  diagnostics.Add(kControlCharacters, {}, counts.control_characters);
  diagnostics.Add(kInvalidUtf8, {}, counts.invalid_utf8);
  diagnostics.Add(kTrailingData, {}, counts.trailing_bytes > 0 ? 1 : 0);
}

}  // namespace

bool SniffKineto(std::string_view head) {
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  if (head.starts_with(kByteOrderMark)) {
    head.remove_prefix(kByteOrderMark.size());
  }
  const size_t first = head.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos &&
         (head[first] == '{' || head[first] == '[');
}

Result<TraceFile> ReadKineto(ByteSource& source, Diagnostics& diagnostics) {
  constexpr std::array<std::string_view, 1> kRecords = {"traceEvents"};
  JsonRecordReader reader(source, kRecords);
  TraceFile file;
  ProfilerTrace& trace = file.profiler.emplace();
  EventCollector collector(trace, diagnostics);
  while (true) {
    ASSIGN_OR_RETURN(const auto item, reader.Next());
    if (!item) {
      break;
    }
    if (item->is_record) {
      collector.Add(item->value);
    } else {
      ReadMember(item->key, item->value, trace.info, diagnostics);
    }
  }
  if (collector.event_count() == 0) {
    if (reader.counts().truncated) {
      return Fail(ErrorCode::kInvalidInput,
                  "is cut off before the first event");
    }
    return Fail(ErrorCode::kUnsupported,
                "holds no events; expected a list of traceEvents, of nodes "
                "(execution trace) or a graph");
  }
  Report(reader.counts(), diagnostics);
  trace.info.text_bytes = reader.offset();
  trace.info.format = "kineto";
  trace.info.dialect = collector.dialect();
  return file;
}

}  // namespace stepcast::trace

#include "trace/read/pftrace/read_pftrace.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json/json_write.h"
#include "trace/read/chakra/read_chakra.h"
#include "trace/read/kineto/read_kineto.h"
#include "trace/read/oddities.h"

namespace stepcast::trace {
namespace {

// Numbers of fields, from perfetto_trace.proto; those from 1000 on are
// PyTorch's own.
constexpr uint32_t kTracePacket = 1;
constexpr uint32_t kPacketClocks = 6;
constexpr uint32_t kPacketTime = 8;
constexpr uint32_t kPacketTrackEvent = 11;
constexpr uint32_t kPacketInterned = 12;
constexpr uint32_t kPacketGpuStage = 53;
constexpr uint32_t kPacketTrack = 60;
constexpr uint32_t kKernelNames = 1000;

constexpr uint32_t kVarintWire = 0;
constexpr uint32_t kFixed64Wire = 1;
constexpr uint32_t kBytesWire = 2;
constexpr uint32_t kFixed32Wire = 5;

struct Field {
  uint32_t number = 0;
  uint32_t wire = 0;
  uint64_t value = 0;        // Of numbers.
  std::string_view bytes{};  // Of text and messages.
};

// The fields of a message one by one.
class Fields {
 public:
  explicit Fields(std::string_view message) : rest_(message) {}

  std::optional<Field> Next() {
    if (rest_.empty()) {
      return std::nullopt;
    }
    Field field;
    const auto tag = TakeVarint();
    if (!tag || *tag >> 3 > UINT32_MAX || *tag >> 3 == 0) {
      return Stop();
    }
    field.number = static_cast<uint32_t>(*tag >> 3);
    field.wire = static_cast<uint32_t>(*tag & 7);
    if (field.wire == kVarintWire) {
      const auto value = TakeVarint();
      field.value = value.value_or(0);
      return value ? std::optional(field) : Stop();
    }
    uint64_t size = field.wire == kFixed64Wire   ? 8
                    : field.wire == kFixed32Wire ? 4
                                                 : UINT64_MAX;
    if (field.wire == kBytesWire) {
      size = TakeVarint().value_or(UINT64_MAX);
    }
    if (size > rest_.size()) {
      return Stop();
    }
    field.bytes = rest_.substr(0, static_cast<size_t>(size));
    rest_.remove_prefix(static_cast<size_t>(size));
    if (field.wire != kBytesWire) {
      // Little-endian, as the machines we run on.
      std::memcpy(&field.value, field.bytes.data(), field.bytes.size());
    }
    return field;
  }

  /// Whether the message ended in the middle of a field.
  bool broken() const { return broken_; }

 private:
  std::optional<uint64_t> TakeVarint() {
    const auto varint = ParseVarint(rest_);
    if (!varint) {
      return std::nullopt;
    }
    rest_.remove_prefix(varint->size);
    return varint->value;
  }

  std::optional<Field> Stop() {
    broken_ = true;
    rest_ = {};
    return std::nullopt;
  }

  std::string_view rest_;
  bool broken_ = false;
};

// The first field of that number; empty or 0 if there is none.
Field Find(std::string_view message, uint32_t number) {
  Fields fields(message);
  while (const auto field = fields.Next()) {
    if (field->number == number) {
      return *field;
    }
  }
  return {};
}

template <typename Visit>
void ForEach(std::string_view message, Visit visit) {
  Fields fields(message);
  while (const auto field = fields.Next()) {
    visit(*field);
  }
}

// Arguments nest a list of lists deep; what is deeper is null.
constexpr int kMostDepth = 8;

// A DebugAnnotation's value as JSON.
void AppendValue(std::string_view annotation, int depth, std::string& out);

template <typename Append>
void AppendList(std::string_view annotation, uint32_t number, char open,
                Append append, std::string& out) {
  out += open;
  bool first = true;
  ForEach(annotation, [&](const Field& field) {
    if (field.number == number && field.wire == kBytesWire) {
      out += first ? "" : ", ";
      first = false;
      append(field.bytes);
    }
  });
  out += open == '[' ? ']' : '}';
}

void AppendMember(std::string_view annotation, int depth, std::string& out) {
  constexpr uint32_t kName = 10;
  out += JsonQuoted(Find(annotation, kName).bytes);
  out += ": ";
  AppendValue(annotation, depth, out);
}

void AppendValue(std::string_view annotation, int depth, std::string& out) {
  constexpr uint32_t kBool = 2;
  constexpr uint32_t kInt = 4;
  constexpr uint32_t kDouble = 5;
  constexpr uint32_t kString = 6;
  constexpr uint32_t kDict = 11;
  constexpr uint32_t kArray = 12;
  if (depth >= kMostDepth) {
    out += "null";
    return;
  }
  Fields fields(annotation);
  while (const auto field = fields.Next()) {
    switch (field->number) {
      case kBool:
        out += field->value != 0 ? "true" : "false";
        return;
      case kInt:
        out += fmt::format("{}", static_cast<int64_t>(field->value));
        return;
      case kDouble: {
        JsonWriter number(JsonWriter::Style::kCompact);
        number.Double(std::bit_cast<double>(field->value));
        out += number.Take();
        return;
      }
      case kString:
        out += JsonQuoted(field->bytes);
        return;
      case kDict:
        AppendList(
            annotation, kDict, '{',
            [&](std::string_view item) { AppendMember(item, depth + 1, out); },
            out);
        return;
      case kArray:
        AppendList(
            annotation, kArray, '[',
            [&](std::string_view item) { AppendValue(item, depth + 1, out); },
            out);
        return;
      default:
        break;
    }
  }
  out += "[]";  // An empty list has no value.
}

struct Track {
  uint64_t process = 0;
  uint64_t thread = 0;
};

struct Slice {
  std::string_view event;
  uint64_t track = 0;
  uint64_t start = 0;
};

// Writes the events of a trace as Kineto does.
class Transcriber {
 public:
  explicit Transcriber(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  std::string Run(std::string_view trace) {
    ReadNames(trace);
    out_ = fmt::format(
        R"({{"schemaVersion": 1, "baseTimeNanoseconds": {}, "traceEvents": [)",
        base_);
    Fields packets(trace);
    while (const auto packet = packets.Next()) {
      if (packet->number == kTracePacket && packet->wire == kBytesWire) {
        AddPacket(packet->bytes);
      }
    }
    if (packets.broken()) {
      diagnostics_.Add(kTruncated);
    }
    EndRun();
    out_ += "\n]}";
    return std::move(out_);
  }

 private:
  using Names = std::map<uint64_t, std::string_view>;

  static std::string_view NameOf(const Names& names, uint64_t id) {
    const auto found = names.find(id);
    return found == names.end() ? std::string_view() : found->second;
  }

  // Tracks and names come before what refers to them, but need not.
  void ReadNames(std::string_view trace) {
    ForEach(trace, [&](const Field& packet) {
      if (packet.number != kTracePacket) {
        return;
      }
      ForEach(packet.bytes, [&](const Field& field) {
        if (field.number == kPacketClocks) {
          constexpr uint32_t kClock = 1;
          constexpr uint32_t kClockTime = 2;
          base_ = Find(Find(field.bytes, kClock).bytes, kClockTime).value;
        } else if (field.number == kPacketTrack) {
          AddTrack(field.bytes);
        } else if (field.number == kPacketInterned) {
          AddNames(field.bytes);
        }
      });
    });
  }

  void AddTrack(std::string_view track) {
    constexpr uint32_t kUuid = 1;
    constexpr uint32_t kThread = 4;
    constexpr uint32_t kPid = 1;
    constexpr uint32_t kTid = 2;
    const std::string_view thread = Find(track, kThread).bytes;
    tracks_[Find(track, kUuid).value] = {.process = Find(thread, kPid).value,
                                         .thread = Find(thread, kTid).value};
  }

  void AddNames(std::string_view interned) {
    constexpr uint32_t kCategories = 1;
    constexpr uint32_t kEventNames = 2;
    constexpr uint32_t kSpecifications = 24;
    ForEach(interned, [&](const Field& entry) {
      constexpr uint32_t kId = 1;
      Names* const names = entry.number == kCategories       ? &categories_
                           : entry.number == kEventNames     ? &names_
                           : entry.number == kSpecifications ? &stages_
                           : entry.number == kKernelNames    ? &kernels_
                                                             : nullptr;
      if (names != nullptr) {
        const uint32_t name = entry.number == kKernelNames ? 3 : 2;
        names->emplace(Find(entry.bytes, kId).value,
                       Find(entry.bytes, name).bytes);
      }
    });
  }

  void AddPacket(std::string_view packet) {
    const uint64_t time = Find(packet, kPacketTime).value;
    if (const Field event = Find(packet, kPacketTrackEvent); event.number > 0) {
      AddTrackEvent(event.bytes, time);
    } else if (const Field stage = Find(packet, kPacketGpuStage);
               stage.number > 0) {
      AddStage(stage.bytes, time);
    }
  }

  // Ends carry no name: the beginnings of a run and the ends after it are in
  // the same order.
  void AddTrackEvent(std::string_view event, uint64_t time) {
    constexpr uint32_t kType = 9;
    constexpr uint32_t kTrack = 11;
    constexpr uint64_t kBegin = 1;
    constexpr uint64_t kEnd = 2;
    const uint64_t type = Find(event, kType).value;
    const uint64_t track = Find(event, kTrack).value;
    if (type == kBegin) {
      if (ended_ > 0) {
        EndRun();
      }
      run_.push_back({.event = event, .track = track, .start = time});
    } else if (type == kEnd) {
      if (ended_ < run_.size() && run_[ended_].track == track) {
        AddSlice(run_[ended_++], time);
      } else {
        diagnostics_.Add(kMalformedRecord, "an end without a beginning");
      }
    }
  }

  void EndRun() {
    if (ended_ < run_.size()) {
      diagnostics_.Add(kMalformedRecord, "a beginning without an end",
                       static_cast<int64_t>(run_.size() - ended_));
    }
    run_.clear();
    ended_ = 0;
  }

  void BeginEvent(std::string_view category, std::string_view name,
                  uint64_t start, uint64_t end) {
    constexpr uint64_t kNanos = 1000;
    const uint64_t from = start > base_ ? start - base_ : 0;
    const uint64_t length = end > start ? end - start : 0;
    out_ += is_first_ ? "\n" : ",\n";
    is_first_ = false;
    fmt::format_to(std::back_inserter(out_),
                   R"({{"ph": "X", "cat": "{}", "name": {}, "ts": {}.{:03}, )"
                   R"("dur": {}.{:03}, )",
                   category, JsonQuoted(name), from / kNanos, from % kNanos,
                   length / kNanos, length % kNanos);
  }

  void AddSlice(const Slice& slice, uint64_t end) {
    constexpr uint32_t kCategory = 3;
    constexpr uint32_t kArgument = 4;
    constexpr uint32_t kName = 10;
    std::string args;
    ForEach(slice.event, [&](const Field& field) {
      if (field.number == kArgument && field.wire == kBytesWire) {
        args += args.empty() ? "" : ", ";
        AppendMember(field.bytes, 0, args);
      }
    });
    std::string_view category =
        NameOf(categories_, Find(slice.event, kCategory).value);
    if (category.empty()) {
      const bool is_sync = args.find("\"cuda_sync_kind\"") != std::string::npos;
      category = is_sync ? "cuda_sync" : "overhead";
    }
    const Track track = tracks_[slice.track];
    BeginEvent(CategoryOf(category),
               NameOf(names_, Find(slice.event, kName).value), slice.start,
               end);
    fmt::format_to(std::back_inserter(out_),
                   R"("pid": {}, "tid": {}, "args": {{{}}}}})", track.process,
                   track.thread, args);
  }

  // Into a quoted text without escapes: categories are plain words.
  static std::string CategoryOf(std::string_view category) {
    std::string plain(category);
    std::erase_if(plain, [](char c) {
      return c == '"' || c == '\\' || static_cast<unsigned char>(c) < 0x20;
    });
    return plain;
  }

  void AddStage(std::string_view stage, uint64_t time) {
    constexpr uint32_t kDuration = 2;
    constexpr uint32_t kDevice = 11;
    constexpr uint32_t kStage = 14;
    constexpr uint32_t kKernel = 19;
    constexpr uint32_t kName = 20;
    constexpr uint32_t kLaunch = 21;
    const std::string_view kind = NameOf(stages_, Find(stage, kStage).value);
    const std::string_view category = kind == "Kernel"   ? "kernel"
                                      : kind == "Memcpy" ? "gpu_memcpy"
                                      : kind == "Memset" ? "gpu_memset"
                                      : kind == "Annotation"
                                          ? "gpu_user_annotation"
                                          : "graph_node";
    std::string_view name = NameOf(kernels_, Find(stage, kKernel).value);
    name = name.empty() ? NameOf(names_, Find(stage, kName).value) : name;
    const uint64_t device = Find(stage, kDevice).value;
    BeginEvent(category, name.empty() ? kind : name, time,
               time + Find(stage, kDuration).value);
    fmt::format_to(std::back_inserter(out_),
                   R"("pid": {0}, "tid": 0, "args": {{"device": {0})", device);
    AddExtraData(stage);
    if (const Field launch = Find(stage, kLaunch); launch.number > 0) {
      constexpr uint32_t kGrid = 1;
      constexpr uint32_t kBlock = 2;
      AddSize("grid", Find(launch.bytes, kGrid).bytes);
      AddSize("block", Find(launch.bytes, kBlock).bytes);
    }
    out_ += "}}";
  }

  void AddSize(std::string_view key, std::string_view size) {
    fmt::format_to(std::back_inserter(out_), R"(, "{}": [{}, {}, {}])", key,
                   Find(size, 1).value, Find(size, 2).value,
                   Find(size, 3).value);
  }

  // All values are text, also numbers.
  void AddExtraData(std::string_view stage) {
    constexpr uint32_t kExtra = 6;
    ForEach(stage, [&](const Field& field) {
      if (field.number != kExtra || field.wire != kBytesWire) {
        return;
      }
      const std::string_view key = Find(field.bytes, 1).bytes;
      const std::string_view value = Find(field.bytes, 2).bytes;
      const bool is_number =
          !value.empty() && value.size() <= 18 &&
          std::ranges::all_of(value,
                              [](char c) { return c >= '0' && c <= '9'; }) &&
          (value.size() == 1 || value[0] != '0');
      out_ += ", ";
      out_ += JsonQuoted(key == "stream id" ? "stream" : key);
      out_ += ": ";
      out_ += is_number ? std::string(value) : JsonQuoted(value);
    });
  }

  Diagnostics& diagnostics_;
  uint64_t base_ = 0;  // Nanoseconds after the epoch.
  std::map<uint64_t, Track> tracks_;
  Names categories_;
  Names names_;
  Names kernels_;
  Names stages_;  // And lanes.
  std::vector<Slice> run_;
  size_t ended_ = 0;  // Slices of the run.
  bool is_first_ = true;
  std::string out_;
};

}  // namespace

bool SniffPftrace(std::string_view head) {
  Fields packets(head);
  const auto first = packets.Next();
  if (!first || first->number != kTracePacket || first->wire != kBytesWire) {
    return false;
  }
  bool has_clocks = false;
  Fields fields(first->bytes);
  while (const auto field = fields.Next()) {
    has_clocks = has_clocks ||
                 (field->number == kPacketClocks && field->wire == kBytesWire);
  }
  return has_clocks && !fields.broken();
}

Result<TraceFile> ReadPftrace(ByteSource& source, Diagnostics& diagnostics) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadAll(source));
  const std::string json = Transcriber(diagnostics).Run(bytes);
  const auto events = OpenMemory(json);
  auto file = ReadKineto(*events, diagnostics);
  if (!file) {
    return Fail(ErrorCode::kInvalidInput,
                "holds no events; expected packets of PyTorch's profiler");
  }
  TraceInfo& info = file->profiler->info;
  info.format = "pftrace";
  info.text_bytes = bytes.size();
  diagnostics.Add(kPftraceLoss);
  return file;
}

}  // namespace stepcast::trace

#include "ingest/kineto/read_kineto.h"

#include <array>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/json_read.h"
#include "ingest/kineto/event_collector.h"
#include "ingest/oddities.h"
#include "ingest/profiler_trace.h"

namespace stepcast::ingest {
namespace {

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

}  // namespace stepcast::ingest

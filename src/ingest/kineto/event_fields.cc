#include "ingest/kineto/event_fields.h"

#include <array>
#include <utility>

namespace stepcast::ingest {
namespace {

// The text of a scalar: without quotes if it is a string.
std::string_view ScalarText(JsonValue value) {
  const auto string = value.raw_string();
  return string ? *string : value.raw();
}

void ReadOpArg(std::string_view key, JsonValue value, EventArgs& out) {
  if (key == "External id" || key == "external id") {
    out.external_id = value.AsInt();
  } else if (key == "Ev Idx" || key == "Profiler Event Index") {
    out.event_index = value.AsInt();
  } else if (key == "Sequence number") {
    out.sequence = value.AsInt();
  } else if (key == "Input Dims") {
    out.dims = value.raw();
  } else if (key == "Input type") {
    out.types = value.raw();
  } else if (key == "Concrete Inputs") {
    out.values = value.raw();
  } else if (key == "Input Strides") {
    out.strides = value.raw();
  } else if (key == "Collective name") {
    out.describes_collective = true;
  } else if (key == "Record function id") {
    out.has_record_function_id = true;
  }
}

void ReadDeviceArg(std::string_view key, JsonValue value, EventArgs& out) {
  if (key == "correlation") {
    out.correlation = value.AsInt();
  } else if (key == "stream") {
    out.stream = value.AsInt();
  } else if (key == "device") {
    out.device = value.AsInt();
  } else if (key == "bytes") {
    out.bytes = value.AsInt();
  } else if (key == "grid") {
    out.grid = value.raw();
  } else if (key == "block") {
    out.block = value.raw();
  } else if (key == "external id") {
    out.external_id = value.AsInt();
  } else if (key == "cuda_sync_kind") {
    out.sync_kind = ScalarText(value);
  } else if (key == "wait_on_stream") {
    out.wait_on_stream = value.AsInt();
  } else if (key == "wait_on_cuda_event_record_corr_id") {
    out.record_correlation = value.AsInt();
  } else if (key == "name") {
    out.label = ScalarText(value);
  }
}

}  // namespace

bool ReadFields(JsonValue event, EventFields& fields) {
  return event.ForEachMember([&](std::string_view key, JsonValue value) {
    if (key == "ph") {
      const std::string_view text = ScalarText(value);
      fields.phase = text.size() == 1 ? text.front() : 0;
    } else if (key == "cat") {
      fields.category = ScalarText(value);
    } else if (key == "name") {
      fields.name = ScalarText(value);
    } else if (key == "pid") {
      fields.process = ScalarText(value);
    } else if (key == "tid") {
      fields.thread = ScalarText(value);
    } else if (key == "ts") {
      fields.start = ScalarText(value);
    } else if (key == "dur") {
      fields.duration = ScalarText(value);
    } else if (key == "args") {
      fields.args = value;
    }
  });
}

bool ReadArgs(JsonValue args, EventArgs& out) {
  return args.ForEachMember([&](std::string_view key, JsonValue value) {
    if (key.empty()) {
      return;
    }
    // Keys of ops are capitalised, keys of device events are not.
    if (key.front() >= 'A' && key.front() <= 'Z') {
      ReadOpArg(key, value, out);
    } else {
      ReadDeviceArg(key, value, out);
    }
  });
}

EventCategory CategoryOf(std::string_view category) {
  using Row = std::pair<std::string_view, EventCategory>;
  constexpr std::array kCategories = {
      Row{"cpu_op", EventCategory::kOp},
      Row{"kernel", EventCategory::kKernel},
      Row{"cuda_runtime", EventCategory::kRuntime},
      Row{"gpu_memcpy", EventCategory::kMemcpy},
      Row{"gpu_memset", EventCategory::kMemset},
      Row{"user_annotation", EventCategory::kAnnotation},
      Row{"cuda_driver", EventCategory::kRuntime},
      Row{"hip_runtime", EventCategory::kRuntime},
      Row{"hip_driver", EventCategory::kRuntime},
      Row{"privateuse1_runtime", EventCategory::kRuntime},
      Row{"privateuse1_driver", EventCategory::kRuntime},
      Row{"cuda_sync", EventCategory::kSync},
      Row{"python_function", EventCategory::kPython},
      Row{"gpu_user_annotation", EventCategory::kGpuAnnotation},
      Row{"Operator", EventCategory::kOp},
      Row{"Runtime", EventCategory::kRuntime},
      Row{"Kernel", EventCategory::kKernel},
      Row{"Memcpy", EventCategory::kMemcpy},
      Row{"Memset", EventCategory::kMemset},
  };
  for (const auto& [name, kind] : kCategories) {
    if (name == category) {
      return kind;
    }
  }
  return EventCategory::kOther;
}

}  // namespace stepcast::ingest

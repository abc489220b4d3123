#include "trace/read/kineto/event_fields.h"

#include <cstring>

namespace stepcast::trace {
namespace {

// Whether `key` is this literal. Its length is known to the compiler, so a miss
// costs one comparison of numbers and a hit a few more.
template <size_t N>
bool Is(std::string_view key, const char (&literal)[N]) {
  return key.size() == N - 1 && std::memcmp(key.data(), literal, N - 1) == 0;
}

void ReadOpArg(std::string_view key, JsonValue value, EventArgs& out) {
  if (Is(key, "External id") || Is(key, "external id")) {
    out.external_id = value.AsInt();
  } else if (Is(key, "Ev Idx") || Is(key, "Profiler Event Index")) {
    out.event_index = value.AsInt();
  } else if (Is(key, "Sequence number")) {
    out.sequence = value.AsInt();
  } else if (Is(key, "Input Dims")) {
    out.dims = value.raw();
  } else if (Is(key, "Input type")) {
    out.types = value.raw();
  } else if (Is(key, "Concrete Inputs")) {
    out.values = value.raw();
  } else if (Is(key, "Input Strides")) {
    out.strides = value.raw();
  } else if (Is(key, "Collective name")) {
    out.describes_collective = true;
  } else if (Is(key, "Record function id")) {
    out.has_record_function_id = true;
  }
}

void ReadDeviceArg(std::string_view key, JsonValue value, EventArgs& out) {
  if (Is(key, "correlation")) {
    out.correlation = value.AsInt();
  } else if (Is(key, "stream")) {
    out.stream = value.AsInt();
  } else if (Is(key, "original_stream")) {
    out.original_stream = value.AsInt();
  } else if (Is(key, "device")) {
    out.device = value.AsInt();
  } else if (Is(key, "bytes")) {
    out.bytes = value.AsInt();
  } else if (Is(key, "grid")) {
    out.grid = value.raw();
  } else if (Is(key, "block")) {
    out.block = value.raw();
  } else if (Is(key, "external id")) {
    out.external_id = value.AsInt();
  } else if (Is(key, "copy kind")) {
    out.copy_kind = value.raw_text();
  } else if (Is(key, "src kind")) {
    out.src_kind = value.raw_text();
  } else if (Is(key, "dst kind")) {
    out.dst_kind = value.raw_text();
  } else if (Is(key, "cuda_sync_kind")) {
    out.sync_kind = value.raw_text();
  } else if (Is(key, "wait_on_stream")) {
    out.wait_on_stream = value.AsInt();
  } else if (Is(key, "wait_on_cuda_event_record_corr_id")) {
    out.record_correlation = value.AsInt();
  } else if (Is(key, "name")) {
    out.label = value.raw_text();
  }
}

}  // namespace

bool ReadFields(JsonValue event, EventFields& fields) {
  return event.ForEachMember([&](std::string_view key, JsonValue value) {
    if (Is(key, "ph")) {
      const std::string_view text = value.raw_text();
      fields.phase = text.size() == 1 ? text.front() : 0;
    } else if (Is(key, "cat")) {
      fields.category = value.raw_text();
    } else if (Is(key, "name")) {
      fields.name = value.raw_text();
    } else if (Is(key, "pid")) {
      fields.process = value.raw_text();
    } else if (Is(key, "tid")) {
      fields.thread = value.raw_text();
    } else if (Is(key, "ts")) {
      fields.start = value.raw_text();
    } else if (Is(key, "dur")) {
      fields.duration = value.raw_text();
    } else if (Is(key, "args")) {
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
  if (Is(category, "cpu_op") || Is(category, "Operator")) {
    return EventCategory::kOp;
  }
  if (Is(category, "kernel") || Is(category, "Kernel")) {
    return EventCategory::kKernel;
  }
  if (Is(category, "cuda_runtime") || Is(category, "Runtime") ||
      Is(category, "cuda_driver") || Is(category, "hip_runtime") ||
      Is(category, "hip_driver") || Is(category, "privateuse1_runtime") ||
      Is(category, "privateuse1_driver")) {
    return EventCategory::kRuntime;
  }
  if (Is(category, "gpu_memcpy") || Is(category, "Memcpy")) {
    return EventCategory::kMemcpy;
  }
  if (Is(category, "gpu_memset") || Is(category, "Memset")) {
    return EventCategory::kMemset;
  }
  if (Is(category, "python_function")) {
    return EventCategory::kPython;
  }
  if (Is(category, "user_annotation")) {
    return EventCategory::kAnnotation;
  }
  if (Is(category, "gpu_user_annotation")) {
    return EventCategory::kGpuAnnotation;
  }
  return Is(category, "cuda_sync") ? EventCategory::kSync
                                   : EventCategory::kOther;
}

}  // namespace stepcast::trace

#include "tests/testing/kineto_writer.h"

#include <iterator>

#include <fmt/format.h>

namespace stepcast::testing {
namespace {

constexpr int64_t kProcess = 59811;
constexpr int64_t kAutograd = 59976;
// A moment in 2023, so that times have as many digits as in real traces; 2024
// writes times from a base instead.
constexpr int64_t kEpoch2023 = 1'694'128'201'000'000'000;
constexpr int64_t kSinceBase = 4'458'676'000'000'000;
constexpr int64_t kBaseTime = 1'711'964'646'000'000'000;

int64_t ThreadNumber(int thread) {
  return thread == kMainThread ? kProcess : kAutograd;
}

}  // namespace

template <typename... Parts>
static void Append(std::string& out, fmt::format_string<Parts...> format,
                   Parts&&... parts) {
  fmt::format_to(std::back_inserter(out), format,
                 std::forward<Parts>(parts)...);
}

void KinetoWriter::Header() {
  out_ += "\n{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [";
  for (int device = 0; device < 4; ++device) {
    Append(out_, R"({}
    {{
      "id": {}, "name": "{}", "totalGlobalMem": 34079899648,
      "computeMajor": {}, "computeMinor": 0,
      "maxThreadsPerBlock": 1024, "maxThreadsPerMultiprocessor": 2048,
      "regsPerBlock": 65536, "warpSize": {},
      "sharedMemPerBlock": 49152, "numSms": {}
    }})",
           device == 0 ? "" : ",", device,
           hip_ ? "AMD Instinct MI250X" : "Tesla V100-SXM2-32GB", hip_ ? 9 : 7,
           hip_ ? 64 : 32, hip_ ? 110 : 80);
  }
  out_ += "\n  ],\n";
  if (!is_old()) {
    out_ +=
        "  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 0, "
        "\"world_size\": 4},\n";
  }
  if (shapes_) {
    out_ += "  \"record_shapes\": 1,\n";
  }
  out_ += "  \"traceEvents\": [\n";
}

void KinetoWriter::Begin(std::string_view category, std::string_view name) {
  Append(out_, "  {{\n    \"ph\": \"X\", \"cat\": \"{}\", {}\"name\": \"{}\", ",
         category, is_old() ? "\n    " : "", name);
}

void KinetoWriter::Where(int64_t process, int64_t thread, bool quoted) {
  const std::string_view quote = quoted && is_old() ? "\"" : "";
  const std::string_view prefix =
      is_old() && process != kProcess ? "stream " : "";
  Append(out_, "\"pid\": {}, \"tid\": {}{}{}{}", process, quote,
         quoted ? prefix : "", thread, quote);
}

void KinetoWriter::When(int64_t start_ns, int64_t end_ns) {
  // Before 2024 both ends are truncated to integer microseconds.
  if (is_new()) {
    Append(out_, ",\n    \"ts\": {}, \"dur\": {}.{:03},\n", Time(start_ns),
           (end_ns - start_ns) / 1000, (end_ns - start_ns) % 1000);
  } else {
    Append(out_, ",\n    \"ts\": {}, \"dur\": {},\n", Time(start_ns),
           end_ns / 1000 - start_ns / 1000);
  }
}

std::string KinetoWriter::Time(int64_t time_ns) const {
  if (is_new()) {
    const int64_t time = kSinceBase + time_ns;
    return fmt::format("{}.{:03}", time / 1000, time % 1000);
  }
  return fmt::format("{}", (kEpoch2023 + time_ns) / 1000);
}

void KinetoWriter::Host(const JobHostEvent& event) {
  switch (event.kind) {
    case JobEventKind::kOp:
      ++facts_.ops;
      Begin(is_old() ? "Operator" : "cpu_op", event.name);
      break;
    case JobEventKind::kAnnotation:
      // 2021 knows no category for them.
      ++(is_old() ? facts_.ops : facts_.annotations);
      Begin(is_old() ? "Operator" : "user_annotation", event.name);
      break;
    case JobEventKind::kPython:
      ++facts_.python;
      Begin("python_function", event.name);
      break;
  }
  Where(kProcess, ThreadNumber(event.thread), true);
  When(event.start_ns, event.end_ns);
  out_ += "    \"args\": {\n      ";
  if (event.kind == JobEventKind::kPython) {
    Append(out_, "\"Python parent id\": {}, \"Python id\": {}, \"Ev Idx\": {}",
           event.id / 2, event.id, event.id);
  } else {
    HostArgs(event);
  }
  out_ += "\n    }\n  },\n";
}

void KinetoWriter::HostArgs(const JobHostEvent& event) {
  if (is_old()) {
    Append(out_,
           "\"Device\": {}, \"External id\": {},\n      \"Trace name\": "
           "\"PyTorch Profiler\", \"Trace iteration\": 0 ,\n      ",
           kProcess, event.id);
    if (shapes_ && !event.dims.empty()) {
      Append(out_, "\"Input Dims\": {}, ", event.dims);
    }
    out_ +=
        "\"Call stack\": \"/opt/conda/lib/python3.8/site-packages/torch/nn/"
        "modules/module.py(1051): _call_impl;train.py(54): <module>\"";
    if (shapes_ && !event.types.empty()) {
      Append(out_, ", \"Input type\": {}", event.types);
    }
    return;
  }
  Append(out_, "\"External id\": {},", event.id);
  if (is_new()) {
    Append(out_, "\"Record function id\": {}, ", event.id + 100);
    if (!event.collective.empty()) {
      Append(out_, "{}, ", event.collective);
    }
  }
  if (event.sequence >= 0) {
    Append(out_, "\"Sequence number\": {}, \"Fwd thread id\": {}, ",
           event.sequence, event.thread);
  }
  if (shapes_ && !event.dims.empty()) {
    Append(out_, "\"Input Dims\": {}, \"Input type\": {}, ", event.dims,
           event.types);
  }
  Append(out_, "\"Ev Idx\": {}", event.id);
}

void KinetoWriter::Call(const JobCall& call, const JobStep& step) {
  ++facts_.calls;
  Begin(is_old() ? "Runtime" : "cuda_runtime", call.name);
  Where(kProcess, ThreadNumber(call.thread), true);
  When(call.start_ns, call.end_ns);
  const int64_t op =
      call.op < 0 ? 0 : step.host[static_cast<size_t>(call.op)].id;
  out_ += "    \"args\": {\n      ";
  if (is_old()) {
    Append(out_,
           "\"cbid\": {}, \"correlation\": {},\n      \"external id\": {}, "
           "\"external ts\": {}",
           call.cbid, call.correlation, op, Time(call.start_ns));
  } else {
    Append(out_, "\"External id\": {},{}      \"{}\": {}, \"correlation\": {}",
           is_new() ? op : call.correlation, is_new() ? "" : "\n",
           hip_ ? "cid" : "cbid", call.cbid, call.correlation);
  }
  out_ += "\n    }\n  },\n";
}

void KinetoWriter::Activity(const JobActivity& activity, const JobStep& step) {
  const bool is_kernel = activity.kind == JobActivityKind::kKernel;
  ++(is_kernel ? facts_.kernels : facts_.copies);
  facts_.orphans += activity.call < 0 ? 1 : 0;
  if (is_kernel) {
    Begin(is_old() ? "Kernel" : "kernel", activity.name);
  } else if (activity.kind == JobActivityKind::kMemcpy) {
    Begin(is_old() ? "Memcpy" : "gpu_memcpy", activity.name);
  } else {
    Begin(is_old() ? "Memset" : "gpu_memset", activity.name);
  }
  Where(0, activity.stream, true);
  When(activity.start_ns, activity.end_ns);
  // From 2024 on arguments stand on one line, with the spaces left in.
  const std::string_view gap = is_new() ? "      " : "\n      ";
  out_ += "    \"args\": {\n      ";
  if (!is_old()) {
    const int64_t call_op =
        activity.call < 0 ? -1
                          : step.calls[static_cast<size_t>(activity.call)].op;
    Append(out_, "\"External id\": {},{}",
           is_new() && call_op >= 0 ? step.host[static_cast<size_t>(call_op)].id
                                    : activity.correlation,
           gap);
  }
  if (is_kernel) {
    KernelArgs(activity, gap);
  } else {
    CopyArgs(activity, gap);
  }
  out_ += "\n    }\n  },\n";
}

void KinetoWriter::KernelArgs(const JobActivity& activity,
                              std::string_view gap) {
  if (hip_) {
    Append(out_,
           "\"device\": 0, \"stream\": {}, \"correlation\": {}, \"kind\": "
           "\"Dispatch Kernel\",{}\"grid\": [{}, 1, 1],{}\"block\": [256, 1, "
           "1]",
           activity.stream, activity.correlation, gap, activity.grid, gap);
    return;
  }
  Append(out_,
         "\"queued\": 0, \"device\": 0, \"context\": 1,{0}\"stream\": {1}, "
         "\"correlation\": {2},{3}{0}\"registers per thread\": 32,{0}\"shared "
         "memory\": {4},{0}\"blocks per SM\": {5:.6g},{0}\"warps per SM\": "
         "{6:.6g},{0}\"grid\": [{7}, 1, 1],{0}\"block\": [128, 1, 1],{0}\"est. "
         "achieved occupancy %\": {8}",
         gap, activity.stream, activity.correlation,
         is_old() ? fmt::format(" \"external id\": {},", activity.correlation)
                  : "",
         activity.grid % 7 * 1024, static_cast<double>(activity.grid) / 80,
         static_cast<double>(activity.grid) / 20, activity.grid,
         activity.grid % 100);
}

void KinetoWriter::CopyArgs(const JobActivity& activity, std::string_view gap) {
  Append(out_,
         "\"device\": 0, \"context\": 1,{0}\"stream\": {1}, \"correlation\": "
         "{2},{3}{0}\"bytes\": {4}, \"memory bandwidth (GB/s)\": {5}",
         gap, activity.stream, activity.correlation,
         is_old() ? fmt::format(" \"external id\": {},", activity.correlation)
                  : "",
         activity.bytes,
         static_cast<double>(activity.bytes) /
             static_cast<double>(activity.end_ns - activity.start_ns));
}

void KinetoWriter::FlowStart(const JobCall& call) {
  ++facts_.flows;
  Append(out_, "  {{\n    \"ph\": \"s\", \"id\": {}, ", call.correlation);
  Where(kProcess, ThreadNumber(call.thread), false);
  Append(out_, ", \"ts\": {},\n    \"cat\": \"{}\", \"name\": \"{}\"\n  }},\n",
         Time(call.start_ns), is_old() ? "async" : "ac2g",
         is_old() ? "launch" : "ac2g");
}

void KinetoWriter::FlowEnd(const JobActivity& activity) {
  ++facts_.flows;
  Append(out_, "  {{\n    \"ph\": \"f\", \"id\": {}, ", activity.correlation);
  Where(0, activity.stream, true);
  Append(out_,
         ", \"ts\": {},\n    \"cat\": \"{}\", \"name\": \"{}\", \"bp\": "
         "\"e\"\n  }},\n",
         Time(activity.start_ns), is_old() ? "async" : "ac2g",
         is_old() ? "launch" : "ac2g");
}

void KinetoWriter::Memory(const JobHostEvent& event) {
  ++facts_.instants;
  Append(out_,
         "  {{\n    \"ph\": \"i\", \"s\": \"t\", \"name\": \"[memory]\",\n    "
         "\"pid\": {}, \"tid\": {},\n    \"ts\": {},\n    \"args\": {{\n      "
         "\"Device Type\": 0, \"Device Id\": -1, \"Bytes\": {}\n    }}\n  "
         "}},\n",
         kProcess, ThreadNumber(event.thread), Time(event.start_ns),
         event.id % 4096);
}

void KinetoWriter::Name(std::string_view name, int64_t process, int64_t thread,
                        std::string_view label) {
  ++facts_.metadata;
  Append(out_, "  {{\n    \"name\": \"{}\", \"ph\": \"M\", \"ts\": {}, ", name,
         Time(0));
  Where(process, thread, true);
  Append(out_, ",\n    \"args\": {{\n      \"name\": \"{}\"\n    }}\n  }},\n",
         label);
}

void KinetoWriter::Metadata() {
  Name("process_name", kProcess, 0, "python3");
  for (const int thread : {kMainThread, kAutogradThread}) {
    Name("thread_name", kProcess, ThreadNumber(thread),
         fmt::format("thread {} (python3)", ThreadNumber(thread)));
  }
  for (const int stream : {kComputeStream, kCopyStream, kCommunicationStream}) {
    Name("thread_name", 0, stream, fmt::format("stream {}", stream));
  }
}

void KinetoWriter::Footer() {
  ++facts_.instants;
  Append(out_,
         "  {{\n    \"name\": \"Record Window End\", \"ph\": \"i\", \"s\": "
         "\"g\",\n    \"pid\": \"\", \"tid\": \"\", \"ts\": {}\n  }}\n",
         Time(0));
  if (is_old()) {
    out_ += "]}\n";
    return;
  }
  out_ += "  ],\n  \"traceName\": \"./worker0.pt.trace.json\"";
  if (is_new()) {
    Append(out_,
           ",\n  \"displayTimeUnit\": \"ms\",\n  \"baseTimeNanoseconds\": {}",
           kBaseTime);
  }
  out_ += "\n}\n";
}

}  // namespace stepcast::testing

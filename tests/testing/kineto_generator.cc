#include "tests/testing/kineto_generator.h"

#include <cstdio>
#include <memory>

#include <fmt/format.h>

#include "tests/testing/gzip.h"
#include "tests/testing/kineto_writer.h"

namespace stepcast::testing {
namespace {

using Sink = std::function<void(std::string_view)>;

void WriteHostEvents(const JobStep& step, int thread, bool with_memory,
                     KinetoWriter& writer) {
  for (const JobHostEvent& event : step.host) {
    if (event.thread != thread) {
      continue;
    }
    writer.Host(event);
    if (with_memory && event.name == "aten::empty") {
      writer.Memory(event);
    }
  }
}

// Every call with the work it launched after it, as the profiler finds them.
void WriteDeviceSide(const JobStep& step, KinetoWriter& writer) {
  size_t next = 0;
  const auto write_activity = [&](int64_t call) {
    while (next < step.activities.size() &&
           step.activities[next].call <= call) {
      const JobActivity& activity = step.activities[next++];
      writer.Activity(activity, step);
      if (activity.call >= 0) {
        writer.FlowEnd(activity);
      }
    }
  };
  write_activity(-1);
  for (size_t i = 0; i < step.calls.size(); ++i) {
    writer.Call(step.calls[i], step);
    if (step.calls[i].launches) {
      writer.FlowStart(step.calls[i]);
      write_activity(static_cast<int64_t>(i));
    }
  }
}

// The profiler writes all ops first, thread by thread, then all that happened
// at the device. So the job is played once for each part; it is the same every
// time, and only one step of it is held.
KinetoFacts Write(const KinetoOptions& options, int64_t steps,
                  const Sink& sink) {
  std::string text;
  int64_t bytes = 0;
  const auto flush = [&] {
    bytes += static_cast<int64_t>(text.size());
    sink(text);
    text.clear();
  };
  KinetoWriter writer(options, text);
  writer.Header();
  const bool with_memory = options.dialect == KinetoDialect::k2021;
  for (const int thread : {kAutogradThread, kMainThread}) {
    TrainingJob job(options.job);
    for (int64_t step = 0; step < steps; ++step) {
      WriteHostEvents(job.Next(), thread, with_memory, writer);
      flush();
    }
  }
  TrainingJob job(options.job);
  for (int64_t step = 0; step < steps; ++step) {
    WriteDeviceSide(job.Next(), writer);
    flush();
  }
  writer.Metadata();
  writer.Footer();
  flush();
  KinetoFacts facts = writer.facts();
  facts.steps = steps;
  facts.bytes = bytes;
  return facts;
}

// Later steps are never shorter than the first two: their numbers only grow.
int64_t StepsFor(const KinetoOptions& options) {
  const Sink nowhere = [](std::string_view /*text*/) {};
  const int64_t one = Write(options, 1, nowhere).bytes;
  const int64_t more = Write(options, 2, nowhere).bytes - one;
  const int64_t missing = options.target_bytes - one;
  return missing <= 0 ? 1 : 2 + missing / more;
}

}  // namespace

KinetoFacts WriteKineto(const KinetoOptions& options, const Sink& sink) {
  return Write(options,
               options.target_bytes > 0 ? StepsFor(options) : options.steps,
               sink);
}

std::string MakeKineto(const KinetoOptions& options, KinetoFacts* facts) {
  std::string text;
  const KinetoFacts found =
      WriteKineto(options, [&](std::string_view part) { text += part; });
  if (facts != nullptr) {
    *facts = found;
  }
  return text;
}

Result<KinetoFacts> WriteKinetoFile(const std::filesystem::path& path,
                                    const KinetoOptions& options, bool gzip) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(path.c_str(), "wb"), &std::fclose);
  if (file == nullptr) {
    return Fail(ErrorCode::kIo, fmt::format("{}: cannot write", path.string()));
  }
  bool complete = true;
  const Sink to_file = [&](std::string_view bytes) {
    complete = complete && std::fwrite(bytes.data(), 1, bytes.size(),
                                       file.get()) == bytes.size();
  };
  KinetoFacts facts;
  if (gzip) {
    GzipStream stream(to_file);
    facts = WriteKineto(options,
                        [&](std::string_view text) { stream.Write(text); });
    stream.Finish();
  } else {
    facts = WriteKineto(options, to_file);
  }
  if (!complete || std::fflush(file.get()) != 0) {
    return Fail(ErrorCode::kIo,
                fmt::format("{}: cannot write all of it", path.string()));
  }
  return facts;
}

}  // namespace stepcast::testing

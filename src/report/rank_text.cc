#include "report/rank_text.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/text_table.h"
#include "report/text_parts.h"

namespace stepcast::report {
namespace {

// Above this many steps, their spread says more than a list.
constexpr size_t kListedSteps = 10;

std::string Line(std::string_view label, std::string_view text) {
  return fmt::format("  {:<13} {}\n", label, text);
}

// The value that `percent` of the sorted values do not exceed.
Duration Percentile(const std::vector<Duration>& sorted, size_t percent) {
  CHECK(!sorted.empty() && percent <= 100);
  return sorted[std::min(sorted.size() * percent / 100, sorted.size() - 1)];
}

std::string SpreadRow(std::string_view label, std::vector<Duration> values) {
  std::ranges::sort(values);
  return Line("", fmt::format("{} ms: median {}, min {}, p90 {}, max {}", label,
                              MillisecondsText(Percentile(values, 50)),
                              MillisecondsText(values.front()),
                              MillisecondsText(Percentile(values, 90)),
                              MillisecondsText(values.back())));
}

std::string StepSpread(const TraceFacts& facts) {
  // The first step of that kind begins with the trace, wherever that was.
  const bool skips_first = facts.step_source == StepSource::kStepEnd;
  std::vector<Duration> times;
  std::vector<Duration> busy;
  for (size_t i = skips_first ? 1 : 0; i < facts.steps.size(); ++i) {
    times.push_back(facts.steps[i].duration);
    busy.push_back(facts.steps[i].busy);
  }
  return SpreadRow("time", std::move(times)) +
         SpreadRow("GPU busy in the step", std::move(busy)) +
         (skips_first ? Line("",
                             "without the first, which begins with the "
                             "trace")
                      : "");
}

std::string StepTable(const std::vector<StepFacts>& steps) {
  TextTable table({Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight},
                  "                ");
  table.AddRow({"step", "start ms", "time ms", "GPU busy in it ms", "share"});
  for (const StepFacts& step : steps) {
    table.AddRow({fmt::format("{}", step.number), MillisecondsText(step.start),
                  MillisecondsText(step.duration), MillisecondsText(step.busy),
                  PercentText(step.busy, step.duration)});
  }
  return table.ToString();
}

std::string StepsText(const TraceFacts& facts) {
  if (facts.steps.empty()) {
    return Line("steps", "none");
  }
  const auto count = static_cast<int64_t>(facts.steps.size());
  return Line("steps", fmt::format("{}, {}", count, StepSourceText(facts))) +
         (facts.steps.size() <= kListedSteps ? StepTable(facts.steps)
                                             : StepSpread(facts));
}

std::string ExternalIdText(const TraceFacts& facts) {
  return facts.external_ids.is_correlation
             ? std::string("= correlation (no op link)")
             : fmt::format("links op for {}/{}", facts.external_ids.linked,
                           facts.device_events());
}

std::string SkippedText(const TraceFacts& facts) {
  std::vector<std::string> kinds;
  for (const NamedCount& kind : facts.skipped) {
    std::string name = kind.name;
    std::ranges::replace(name, '_', ' ');
    kinds.push_back(fmt::format("{} {}", WithThousands(kind.count), name));
  }
  return kinds.empty() ? "" : Line("not used", Joined(kinds));
}

std::string CopiesText(int64_t count) {
  return fmt::format("{} {}", WithThousands(count),
                     count == 1 ? "copy or memset" : "copies and memsets");
}

std::string CollectivesText(const TraceFacts& facts) {
  return facts.collective_busy == Duration{}
             ? "none"
             : fmt::format(
                   "{} ms of the busy time, waiting for other ranks "
                   "included",
                   MillisecondsText(facts.collective_busy));
}

std::string TraceText(const TraceFacts& facts) {
  std::string text = StepsText(facts);
  text +=
      Line("host", fmt::format("{} ({} with shapes) on {}; {}; {}",
                               CountText(facts.ops, "op"),
                               WithThousands(facts.ops_with_shapes),
                               CountText(facts.threads_with_ops, "thread"),
                               CountText(facts.annotations, "annotation"),
                               CountText(facts.runtime_calls, "runtime call")));
  text += Line("device", fmt::format("{}, {} on {}; {} without a launch in "
                                     "the file",
                                     CountText(facts.kernels, "kernel"),
                                     CopiesText(facts.copies),
                                     CountText(facts.streams, "stream"),
                                     WithThousands(facts.orphans)));
  if (facts.device_events() > 0) {
    text +=
        Line("GPU busy",
             fmt::format("{} ms, {} of the {} ms from first start to last end "
                         "of device work",
                         MillisecondsText(facts.busy),
                         PercentText(facts.busy, facts.span),
                         MillisecondsText(facts.span)));
    text += Line("collectives", CollectivesText(facts));
    text += Line("External id", ExternalIdText(facts));
  }
  return text + SkippedText(facts);
}

std::string ExecutionText(const ExecutionFacts& facts) {
  std::string text =
      fmt::format("{} ({} with shapes) on {}; {}", CountText(facts.ops, "op"),
                  WithThousands(facts.ops_with_shapes),
                  CountText(facts.threads_with_ops, "thread"),
                  CountText(facts.annotations, "annotation"));
  if (facts.device_nodes > 0) {
    text += "; " + CountText(facts.device_nodes, "device node");
  }
  return Line("execution", text);
}

std::string PairingText(const PairingFacts& facts) {
  TextTable table({Align::kRight, Align::kRight, Align::kRight, Align::kLeft},
                  "                ");
  table.AddRow({"thread", "nodes", "exact matches", "profiler thread"});
  for (const ThreadPairing& thread : facts.threads) {
    table.AddRow(
        {fmt::format("{}", thread.execution_thread),
         WithThousands(thread.nodes), WithThousands(thread.matches),
         thread.trace_thread.empty() ? "-" : Printable(thread.trace_thread)});
  }
  const std::string shapes =
      facts.compared_shapes == 0
          ? "no shapes to compare"
          : fmt::format("{} of {} shapes differ",
                        WithThousands(facts.different_shapes),
                        WithThousands(facts.compared_shapes));
  return Line("pairing",
              "execution trace found in the profiler trace by the "
              "order of names; " +
                  shapes) +
         table.ToString();
}

std::string GraphText(const GraphFacts& facts) {
  return Line(
      "graph",
      fmt::format(
          "{}, {}, {}; {}; {}; {}, {} with times; {}",
          CountText(facts.ranks, "rank"), CountText(facts.threads, "thread"),
          CountText(facts.streams, "stream"), CountText(facts.ops, "op"),
          CountText(facts.calls, "call"), CountText(facts.works, "work"),
          WithThousands(facts.measured_works),
          CountText(facts.collectives, "matched collective")));
}

std::string RankLine(const RankReport& rank) {
  std::string text = rank.rank_recorded
                         ? fmt::format("{}", rank.rank)
                         : fmt::format("not recorded, taken as {}", rank.rank);
  if (rank.world_size) {
    text += fmt::format(" of {}", *rank.world_size);
  }
  if (!rank.backend.empty()) {
    text += fmt::format(" ({})", Printable(rank.backend));
  }
  return Line("rank", text);
}

}  // namespace

std::string FormatText(const FileFacts& file) {
  std::string text = file.format;
  if (!file.dialect.empty()) {
    text += " " + file.dialect;
  }
  if (!file.schema.empty()) {
    text += ", schema " + Printable(file.schema);
  }
  return text;
}

std::string DevicesText(const std::vector<ingest::DeviceInfo>& devices) {
  std::vector<std::string> names;
  for (const ingest::DeviceInfo& device : devices) {
    std::vector<std::string> facts;
    if (device.sm_count > 0) {
      facts.push_back(CountText(device.sm_count, "SM"));
    }
    if (device.memory_bytes > 0) {
      facts.push_back(BytesText(Bytes{device.memory_bytes}));
    }
    std::string name = Printable(device.name);
    if (!facts.empty()) {
      name += fmt::format(" ({})", Joined(facts));
    }
    if (!std::ranges::count(names, name)) {
      names.push_back(std::move(name));
    }
  }
  return names.empty() ? "not recorded" : Joined(names);
}

std::string StepSourceText(const TraceFacts& facts) {
  const std::string marker = Printable(facts.step_marker);
  switch (facts.step_source) {
    case StepSource::kMarked:
      return fmt::format("each a {} range on the host", marker);
    case StepSource::kStepEnd:
      return fmt::format("each from the end of one {} to the end of the next",
                         marker);
    case StepSource::kWholeTrace:
      break;
  }
  return "the whole trace, as nothing marks steps";
}

std::string RankText(const RankReport& rank) {
  std::string text;
  for (const FileFacts& file : rank.files) {
    text += fmt::format("{}: {}\n", Printable(file.path), FormatText(file));
  }
  if (!rank.graph) {
    text += RankLine(rank);
  }
  if (rank.trace) {
    text += Line("GPU", DevicesText(rank.devices));
    text += TraceText(*rank.trace);
  }
  if (rank.execution) {
    text += ExecutionText(*rank.execution);
  }
  if (rank.pairing) {
    text += PairingText(*rank.pairing);
  }
  if (rank.graph) {
    text += GraphText(*rank.graph);
  }
  if (rank.coverage.works > 0) {
    const bool timed = rank.coverage.time > Duration{};
    text += Line("understood",
                 fmt::format("{} of {} classified, {} with known sizes",
                             PercentText(rank.coverage.classified_share()),
                             timed ? "GPU time" : "works",
                             PercentText(rank.coverage.sized_share())));
  }
  return text + CoverageText(rank.coverage);
}

}  // namespace stepcast::report

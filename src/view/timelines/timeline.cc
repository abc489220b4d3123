#include "view/timelines/timeline.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/text/text_table.h"
#include "engine/explain/path_parts.h"
#include "ir/names.h"
#include "ir/shape.h"
#include "view/doc.h"
#include "view/html/timeline.h"
#include "view/timelines/measured_events.h"
#include "view/timelines/perfetto.h"

namespace stepcast::view {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 8>
    kStyleNames = {{{"path", "critical path"},
                    {"op", "ops"},
                    {"call", "calls"},
                    {"embedding", "embedding kernels"},
                    {"compute", "other kernels"},
                    {"copy", "copies"},
                    {"communication", "collectives"},
                    {"wait", "waiting for other ranks"}}};

// The class of the style sheet for an activity.
std::string_view StyleOf(const ir::Activity& activity,
                         const ir::KernelShape& shape) {
  switch (activity.kind) {
    case ir::ActivityKind::kCollective:
      return "communication";
    case ir::ActivityKind::kMemcpy:
    case ir::ActivityKind::kMemset:
      return "copy";
    case ir::ActivityKind::kKernel:
      break;
  }
  return std::holds_alternative<ir::EmbeddingBag>(shape) ? "embedding"
                                                         : "compute";
}

// Puts slices into rows: two a thread, one a stream.
class TimelineSink : public SliceSink {
 public:
  TimelineSink(const ir::Graph& graph, Duration zero, html::Timeline& timeline)
      : graph_(graph),
        data_(graph.data()),
        zero_(zero),
        timeline_(timeline),
        op_style_(timeline.Intern("op")),
        call_style_(timeline.Intern("call")),
        wait_style_(timeline.Intern("wait")) {
    for (const ir::RankId rank : data_.ranks.ids()) {
      AddRows(rank);
    }
  }

  void Op(ir::OpId op, ir::ThreadId thread, Duration start,
          Duration end) override {
    Add(thread_rows_[thread.value], graph_.text(data_.ops[op].name), op_style_,
        start, end);
  }

  void Call(ir::CallId id, Duration start, Duration end) override {
    const ir::Call& call = data_.calls[id];
    Add(thread_rows_[call.thread.value] + 1, graph_.text(call.name),
        call_style_, start, end);
  }

  void Activity(ir::ActivityId id, const sim::Placement& placement,
                Duration /*call_start*/) override {
    const ir::Activity& activity = data_.activities[id];
    const size_t row = stream_rows_[activity.stream.value];
    if (placement.run > placement.start) {
      Add(row, "waiting for other ranks", wait_style_, placement.start,
          placement.run);
    }
    Add(row, graph_.text(activity.name),
        timeline_.Intern(StyleOf(activity, graph_.shape(id))),
        std::max(placement.start, placement.run), placement.end);
  }

 private:
  void AddRows(ir::RankId rank) {
    const std::string group = fmt::format("rank {}", data_.ranks[rank].number);
    thread_rows_.resize(data_.threads.size());
    stream_rows_.resize(data_.streams.size());
    for (const ir::ThreadId id : data_.threads.ids()) {
      if (data_.threads[id].rank == rank) {
        const std::string_view role = ir::Name(data_.threads[id].role);
        thread_rows_[id.value] = timeline_.rows.size();
        timeline_.rows.push_back({group, fmt::format("{} ops", role), {}});
        timeline_.rows.push_back({group, fmt::format("{} calls", role), {}});
      }
    }
    for (const ir::StreamId id : data_.streams.ids()) {
      if (data_.streams[id].rank == rank) {
        stream_rows_[id.value] = timeline_.rows.size();
        timeline_.rows.push_back(
            {group, fmt::format("stream {}", data_.streams[id].number), {}});
      }
    }
  }

  void Add(size_t row, std::string_view name, uint32_t style, Duration start,
           Duration end) {
    timeline_.rows[row].slices.push_back(
        {.start = start - zero_,
         .duration = end - start,
         .name = timeline_.Intern(ElideMiddle(Printable(name), kNameWidth)),
         .style = style});
  }

  const ir::Graph& graph_;
  const ir::GraphData& data_;
  const Duration zero_;
  html::Timeline& timeline_;
  uint32_t op_style_;
  uint32_t call_style_;
  uint32_t wait_style_;
  std::vector<size_t> thread_rows_;  // The first of each thread's two.
  std::vector<size_t> stream_rows_;
};

html::Row PathRow(const engine::StepResult& result, Duration zero,
                  html::Timeline& timeline) {
  const ir::Graph& graph = *result.graph;
  html::Row row{.group = "critical", .name = "path", .slices = {}};
  const uint32_t style = timeline.Intern("path");
  for (const engine::PathPart& part : engine::DescribePath(result)) {
    if (part.begin < part.end && part.end > zero) {
      const std::string name =
          fmt::format("rank {} {}", graph.data().ranks[part.rank].number,
                      ElideMiddle(Printable(engine::Text(graph, part.subject)),
                                  kNameWidth));
      const Duration begin = std::max(part.begin, zero);
      row.slices.push_back({.start = begin - zero,
                            .duration = part.end - begin,
                            .name = timeline.Intern(name),
                            .style = style});
    }
  }
  return row;
}

}  // namespace

html::Timeline StepTimeline(const engine::StepResult& result) {
  const Duration zero = ZeroOf(result);
  const engine::StepSpan span = result.slowest_span();
  html::Timeline timeline;
  for (const auto& [style, name] : kStyleNames) {
    timeline.legend.push_back({std::string(style), std::string(name)});
  }
  if (span.end > span.begin) {
    timeline.marks = {{span.begin - zero, "step begins"},
                      {span.end - zero, "step ends"}};
  }
  timeline.rows.push_back(PathRow(result, zero, timeline));
  TimelineSink sink(*result.graph, zero, timeline);
  WalkSlices(result, sink);
  std::erase_if(timeline.rows,
                [](const html::Row& row) { return row.slices.empty(); });
  // Ops of a thread come when they end, nested calls before them.
  for (html::Row& row : timeline.rows) {
    std::ranges::stable_sort(row.slices, {}, &html::Slice::start);
  }
  return timeline;
}

namespace {

// The critical path comes first, then rank by rank: measured and simulated, or
// before and after.
constexpr Track kFirstPath{.process = 1, .thread = 1};
constexpr Track kSecondPath{.process = 1, .thread = 2};
constexpr RankProcesses FirstOf(std::string_view suffix) {
  return {.first = 2, .stride = 2, .suffix = suffix};
}
constexpr RankProcesses SecondOf(std::string_view suffix) {
  return {.first = 3, .stride = 2, .suffix = suffix};
}

// Adds what was simulated of a step.
class SimulatedEvents : public SliceSink {
 public:
  SimulatedEvents(const engine::StepResult& result,
                  const RankProcesses& processes, int64_t first_arrow,
                  ChromeEvents& events)
      : result_(result),
        graph_(*result.graph),
        data_(graph_.data()),
        zero_(ZeroOf(result)),
        first_arrow_(first_arrow),
        tracks_(NameTracks(graph_, processes, TrackNames::kShort, events)),
        events_(events) {}

  void Op(ir::OpId op, ir::ThreadId thread, Duration start,
          Duration end) override;
  void Call(ir::CallId id, Duration start, Duration end) override;
  void Activity(ir::ActivityId id, const sim::Placement& placement,
                Duration call_start) override;

 private:
  const engine::StepResult& result_;
  const ir::Graph& graph_;
  const ir::GraphData& data_;
  const Duration zero_;        // Shown as 0.
  const int64_t first_arrow_;  // Arrows are numbered from here on.
  const Tracks tracks_;
  ChromeEvents& events_;
};

void SimulatedEvents::Op(ir::OpId op, ir::ThreadId thread, Duration start,
                         Duration end) {
  events_.AddComplete({.name = graph_.text(data_.ops[op].name),
                       .category = "cpu_op",
                       .track = tracks_.threads[thread.value],
                       .start = start - zero_,
                       .duration = end - start},
                      [](JsonWriter& /*json*/) {});
}

void SimulatedEvents::Call(ir::CallId id, Duration start, Duration end) {
  const ir::Call& call = data_.calls[id];
  events_.AddComplete(
      {.name = graph_.text(call.name),
       .category = "cuda_runtime",
       .track = tracks_.threads[call.thread.value],
       .start = start - zero_,
       .duration = end - start},
      [&](JsonWriter& json) { json.Key("kind").String(ir::Name(call.kind)); });
}

void SimulatedEvents::Activity(ir::ActivityId id,
                               const sim::Placement& placement,
                               Duration call_start) {
  const ir::Activity& activity = data_.activities[id];
  const Track& track = tracks_.streams[activity.stream.value];
  events_.AddComplete(
      {.name = graph_.text(activity.name),
       .category = CategoryOf(activity.kind),
       .track = track,
       .start = placement.start - zero_,
       .duration = placement.end - placement.start},
      [&](JsonWriter& json) {
        if (!result_.causes.empty()) {
          json.Key("waited for").String(Name(result_.causes[id]));
        }
        if (activity.collective.valid()) {
          json.Key("collective").Int(activity.collective.value);
          WriteTime(json, "wait_us", placement.run - placement.start);
        }
      });
  if (activity.call.valid()) {
    const ir::ThreadId thread = data_.calls[activity.call].thread;
    events_.AddArrow(
        first_arrow_ + id.value,
        {.track = tracks_.threads[thread.value], .time = call_start - zero_},
        {.track = track, .time = placement.start - zero_});
  }
}

void AddPath(const engine::StepResult& result, const Track& track,
             std::string_view track_name, ChromeEvents& events) {
  const ir::Graph& graph = *result.graph;
  const Duration zero = ZeroOf(result);
  events.NameThread(track, track_name);
  for (const engine::PathPart& part : engine::DescribePath(result)) {
    if (part.begin == part.end || part.end <= zero) {
      continue;
    }
    const std::string name =
        fmt::format("rank {} {}", graph.data().ranks[part.rank].number,
                    engine::Text(graph, part.subject));
    events.AddComplete({.name = name,
                        .category = Name(part.subject.kind),
                        .track = track,
                        .start = part.begin - zero,
                        .duration = part.end - part.begin},
                       [&](JsonWriter& json) {
                         json.Key("kind").String(Name(part.subject.kind));
                       });
  }
}

// With arrows numbered after those of `before`.
void AddSlices(const engine::StepResult& result, const RankProcesses& processes,
               const engine::StepResult* before, ChromeEvents& events) {
  const int64_t arrows =
      before == nullptr ? 0 : int64_t{before->graph->data().activities.size()};
  SimulatedEvents sink(result, processes, arrows, events);
  WalkSlices(result, sink);
}

std::string Document(const ChromeEvents& events) {
  return fmt::format("{{\"displayTimeUnit\": \"ms\",\n\"traceEvents\": {}}}\n",
                     events.ToString());
}

}  // namespace

std::string TimelineJson(const engine::StepResult& result, int64_t number) {
  ChromeEvents events;
  events.NameProcess(kFirstPath.process, "critical path");
  AddPath(result, kFirstPath, "critical path", events);
  if (FirstTime(result.graph->data())) {
    AddMeasuredEvents(*result.graph,
                      {.step = number,
                       .zero = ZeroOf(result),
                       .processes = FirstOf(" measured")},
                      events);
  }
  AddSlices(result, SecondOf(" simulated"), &result, events);
  return Document(events);
}

std::string TimelineJson(const engine::StepResult& before,
                         const engine::StepResult& after) {
  ChromeEvents events;
  events.NameProcess(kFirstPath.process, "critical paths");
  AddPath(before, kFirstPath, "before", events);
  AddPath(after, kSecondPath, "after", events);
  AddSlices(before, FirstOf(" before"), nullptr, events);
  AddSlices(after, SecondOf(" after"), &before, events);
  return Document(events);
}

}  // namespace stepcast::view

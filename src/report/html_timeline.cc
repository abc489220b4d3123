#include "report/html_timeline.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text_table.h"
#include "engine/path_parts.h"
#include "html/timeline.h"
#include "ir/names.h"
#include "ir/shape.h"
#include "report/simulated_slices.h"
#include "view/doc.h"

namespace stepcast::report {
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

// The class of the style sheet for a work.
std::string_view StyleOf(const ir::Work& work, const ir::KernelShape& shape) {
  switch (work.kind) {
    case ir::WorkKind::kCollective:
      return "communication";
    case ir::WorkKind::kMemcpy:
    case ir::WorkKind::kMemset:
      return "copy";
    case ir::WorkKind::kKernel:
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

  void Work(ir::WorkId id, const sim::Placement& placement,
            Duration /*call_start*/) override {
    const ir::Work& work = data_.works[id];
    const size_t row = stream_rows_[work.stream.value];
    if (placement.work > placement.start) {
      Add(row, "waiting for other ranks", wait_style_, placement.start,
          placement.work);
    }
    Add(row, graph_.text(work.name),
        timeline_.Intern(StyleOf(work, graph_.shape(id))),
        std::max(placement.start, placement.work), placement.end);
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
         .name =
             timeline_.Intern(ElideMiddle(Printable(name), view::kNameWidth)),
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
      const std::string name = fmt::format(
          "rank {} {}", graph.data().ranks[part.rank].number,
          ElideMiddle(Printable(Text(graph, part.subject)), view::kNameWidth));
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

}  // namespace stepcast::report

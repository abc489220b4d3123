#include "trace/build/build_graph.h"

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/read/formats.h"
#include "trace/read/oddities.h"

namespace stepcast::trace {
namespace {

using std::chrono::microseconds;

// Writes the events of a trace one by one.
class TraceText {
 public:
  TraceText& Op(std::string_view name, int tid, int start, int duration,
                std::string_view args = "{}") {
    return Event("cpu_op", name, tid, start, duration, args);
  }
  TraceText& Step(int number, int start, int duration) {
    return Event("user_annotation", fmt::format("ProfilerStep#{}", number), 1,
                 start, duration, "{}");
  }
  TraceText& Call(std::string_view name, int start, int duration,
                  int correlation, int tid = 1) {
    return Event("cuda_runtime", name, tid, start, duration,
                 fmt::format(R"({{"correlation": {}}})", correlation));
  }
  TraceText& Kernel(std::string_view name, int stream, int start, int duration,
                    int correlation) {
    return Device("kernel", name, stream, start, duration, correlation);
  }
  TraceText& Device(std::string_view category, std::string_view name,
                    int stream, int start, int duration, int correlation) {
    return Event(category, name, stream, start, duration,
                 fmt::format(R"({{"device": 0, "stream": {}, "correlation": {},
                                 "bytes": 64}})",
                             stream, correlation));
  }
  TraceText& Sync(std::string_view kind, int stream, int wait_on, int record,
                  int correlation) {
    return Event("cuda_sync", kind, 0, 0, 0,
                 fmt::format(R"({{"cuda_sync_kind": "{}", "stream": {},
                        "wait_on_stream": {},
                        "wait_on_cuda_event_record_corr_id": {},
                        "correlation": {}}})",
                             kind, stream, wait_on, record, correlation));
  }

  RankTrace Read(int rank = 0) const {
    RankTrace loaded;
    loaded.rank = rank;
    loaded.paths = {"inline"};
    auto file = ReadTrace(fmt::format(R"({{"traceEvents": [{}]}})", events_),
                          "inline", loaded.diagnostics);
    EXPECT_TRUE(file) << file.error().message;
    loaded.profiler =
        Link(*std::move(file->profiler), *Rules::Load(), loaded.diagnostics);
    return loaded;
  }

  TraceText& Event(std::string_view category, std::string_view name, int tid,
                   int start, int duration, std::string_view args) {
    events_ += fmt::format(
        R"({}{{"ph": "X", "cat": "{}", "name": "{}", "pid": 1, "tid": {},
              "ts": {}, "dur": {}, "args": {}}})",
        events_.empty() ? "" : ",", category, name, tid, start, duration, args);
    return *this;
  }

 private:
  std::string events_;
};

ir::Graph Build(const std::vector<RankTrace>& ranks, BuildOptions options = {},
                Diagnostics* diagnostics = nullptr) {
  Diagnostics own;
  auto graph = BuildGraph(ranks, *Rules::Load(), options,
                          diagnostics == nullptr ? own : *diagnostics);
  EXPECT_TRUE(graph) << graph.error().message;
  return *std::move(graph);
}

std::vector<RankTrace> One(const TraceText& text) {
  std::vector<RankTrace> ranks;
  ranks.push_back(text.Read());
  return ranks;
}

TEST(BuildGraphTest, TakesTheStepOfMedianLength) {
  const auto ranks = One(TraceText()
                             .Step(3, 0, 50)
                             .Op("aten::unknown", 1, 10, 5)
                             .Step(4, 50, 300)
                             .Op("aten::slow", 1, 60, 5)
                             .Step(5, 350, 100)
                             .Op("aten::first", 1, 360, 5)
                             .Op("aten::second", 1, 370, 5)
                             .Step(6, 450, 90)
                             .Op("aten::fast", 1, 460, 5));
  const ir::Graph graph = Build(ranks);
  ASSERT_EQ(graph.data().ops.size(), 2U);
  EXPECT_EQ(graph.text(graph.data().ops[ir::OpId{0}].name), "aten::first");
  // Times count from the start of the step.
  EXPECT_EQ(graph.data().ops[ir::OpId{0}].measured->start, microseconds(10));
  EXPECT_EQ(graph.data().ranks[ir::RankId{0}].step->duration,
            microseconds(100));
  EXPECT_EQ(Build(ranks, {.step = 4}).data().ops.size(), 1U);
  Diagnostics diagnostics;
  EXPECT_EQ(BuildGraph(ranks, *Rules::Load(), {.step = 9}, diagnostics)
                .error()
                .message,
            "inline: has no step 9; expected one of 3, 4, 5, 6");
}

// main   [step 1      ][step 2                    ]
// stream      [left over.....]  [own]
TEST(BuildGraphTest, KeepsWorkThatTheStepBeforeLeftOver) {
  const auto ranks = One(TraceText()
                             .Step(1, 0, 100)
                             .Op("aten::mm", 1, 10, 20)
                             .Call("cudaLaunchKernel", 12, 5, 7)
                             .Step(2, 100, 100)
                             .Op("aten::mm", 1, 110, 20)
                             .Call("cudaLaunchKernel", 112, 5, 8)
                             .Kernel("volta_sgemm_128x64_nn", 7, 50, 70, 7)
                             .Kernel("volta_sgemm_128x64_nn", 7, 130, 9, 8));
  const ir::Graph graph = Build(ranks, {.step = 2});
  ASSERT_EQ(graph.data().activities.size(), 2U);
  const ir::Activity& left_over = graph.data().activities[ir::ActivityId{0}];
  EXPECT_FALSE(left_over.call.valid());
  EXPECT_EQ(left_over.measured->start, microseconds(-50));
  EXPECT_TRUE(graph.data().activities[ir::ActivityId{1}].call.valid());
}

// A kernel on stream 7, and one on stream 20 that is made to wait for it.
TraceText TwoStreams(int second_start) {
  return TraceText()
      .Step(1, 0, 200)
      .Op("aten::mm", 1, 5, 150)
      .Call("cudaLaunchKernel", 10, 5, 1)
      .Call("cudaEventRecord", 20, 2, 2)
      .Call("cudaStreamWaitEvent", 30, 2, 3)
      .Call("cudaLaunchKernel", 40, 5, 4)
      .Kernel("volta_sgemm_128x64_nn", 7, 30, 40, 1)
      .Kernel("volta_sgemm_128x64_nn", 20, second_start, 40, 4);
}

TEST(BuildGraphTest, UsesTheWaitsThatTheProfilerRecorded) {
  const auto ranks = One(TwoStreams(71)
                             .Call("cudaStreamSynchronize", 60, 60, 5)
                             .Sync("Stream Wait Event", 20, 7, 2, 3)
                             .Sync("Stream Sync", 20, -1, -1, 5));
  const ir::Graph graph = Build(ranks);
  const ir::GraphData& data = graph.data();
  ASSERT_EQ(data.stream_waits.size(), 1U);
  EXPECT_FALSE(data.stream_waits[0].inferred);
  EXPECT_EQ(data.activities[data.stream_waits[0].before].measured->start,
            microseconds(30));
  EXPECT_EQ(data.activities[data.stream_waits[0].after].measured->start,
            microseconds(71));
  ASSERT_EQ(data.host_waits.size(), 1U);
  EXPECT_FALSE(data.host_waits[0].inferred);
  EXPECT_EQ(data.activities[data.host_waits[0].before].measured->start,
            microseconds(71));
}

// PyTorch 2.15's own reader of CUPTI knows the call that recorded an event, but
// not its stream: it is the one the thread launched into last.
TEST(BuildGraphTest, AnEventsStreamFollowsFromTheCallThatRecordedIt) {
  const auto ranks = One(TwoStreams(71)
                             .Call("cudaEventSynchronize", 60, 60, 5)
                             .Sync("Stream Wait Event", 20, -1, 2, 3)
                             .Sync("Event Sync", -1, -1, 2, 5));
  const ir::Graph graph = Build(ranks);
  const ir::GraphData& data = graph.data();
  ASSERT_EQ(data.stream_waits.size(), 1U);
  EXPECT_TRUE(data.stream_waits[0].inferred);
  EXPECT_EQ(data.activities[data.stream_waits[0].before].measured->start,
            microseconds(30));
  EXPECT_EQ(data.activities[data.stream_waits[0].after].measured->start,
            microseconds(71));
  // Not for the second kernel, which the event knows nothing of.
  ASSERT_EQ(data.host_waits.size(), 1U);
  EXPECT_TRUE(data.host_waits[0].inferred);
  EXPECT_EQ(data.activities[data.host_waits[0].before].measured->start,
            microseconds(30));
}

// The same calls without cuda_sync events: the order of calls shows the waits.
TEST(BuildGraphTest, InfersWaitsFromTheOrderOfCalls) {
  const auto ranks =
      One(TwoStreams(71).Call("cudaStreamSynchronize", 60, 60, 5));
  const ir::Graph graph = Build(ranks);
  const ir::GraphData& data = graph.data();
  ASSERT_EQ(data.stream_waits.size(), 1U);
  EXPECT_TRUE(data.stream_waits[0].inferred);
  EXPECT_EQ(data.activities[data.stream_waits[0].after].measured->start,
            microseconds(71));
  ASSERT_EQ(data.host_waits.size(), 1U);
  EXPECT_TRUE(data.host_waits[0].inferred);
}

// Profilers before 2024 record no cudaEventRecord either:
//   launch s7, wait, launch s20 (collective), launch s7, wait, launch s7
TEST(BuildGraphTest, InfersWaitsOfACollectiveFromLaunchesAlone) {
  const auto ranks = One(
      TraceText()
          .Step(1, 0, 400)
          .Op("aten::mm", 1, 5, 350)
          .Call("cudaLaunchKernel", 10, 5, 1)
          .Call("cudaStreamWaitEvent", 20, 1, 2)
          .Call("cudaLaunchKernel", 30, 5, 3)
          .Call("cudaStreamWaitEvent", 36, 1, 4)
          .Call("cudaLaunchKernel", 40, 5, 5)
          .Call("cudaStreamWaitEvent", 50, 1, 6)
          .Call("cudaLaunchKernel", 60, 5, 7)
          .Kernel("volta_sgemm_128x64_nn", 7, 20, 10, 1)
          .Kernel("ncclKernel_AllReduce_RING_LL_Sum_float()", 20, 40, 100, 3)
          .Kernel("volta_sgemm_128x64_nn", 7, 50, 10, 5)
          .Kernel("volta_sgemm_128x64_nn", 7, 141, 10, 7));
  const ir::Graph graph = Build(ranks);
  const ir::GraphData& data = graph.data();
  ASSERT_EQ(data.stream_waits.size(), 2U);
  std::vector<std::pair<int64_t, int64_t>> starts;
  for (const ir::StreamWait& wait : data.stream_waits) {
    starts.emplace_back(
        data.activities[wait.before].measured->start->count() / 1000,
        data.activities[wait.after].measured->start->count() / 1000);
  }
  // The collective waits for its input, and the last kernel for it; the one
  // between runs at the same time.
  EXPECT_THAT(starts, ::testing::UnorderedElementsAre(std::pair(20, 40),
                                                      std::pair(40, 141)));
}

// The second kernel starts while the first one runs: there was no wait.
TEST(BuildGraphTest, InfersNoWaitThatTheTraceContradicts) {
  const ir::Graph graph = Build(One(TwoStreams(50)));
  EXPECT_TRUE(graph.data().stream_waits.empty());
}

// A copy to pageable memory holds its own call until it is done.
TEST(BuildGraphTest, SeesACopyThatBlocksItsCall) {
  const auto ranks =
      One(TraceText()
              .Step(1, 0, 200)
              .Op("aten::copy_", 1, 5, 150)
              .Call("cudaMemcpyAsync", 10, 100, 1)
              .Device("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", 7, 90,
                      15, 1));
  const ir::Graph graph = Build(ranks);
  const ir::GraphData& data = graph.data();
  ASSERT_EQ(data.host_waits.size(), 1U);
  EXPECT_EQ(data.host_waits[0].call, data.activities[ir::ActivityId{0}].call);
}

TEST(BuildGraphTest, MatchesCollectivesAcrossRanksInOrder) {
  const auto rank = [](int offset) {
    return TraceText()
        .Step(1, offset, 200)
        .Op("c10d::allreduce_", 1, offset + 5, 50)
        .Call("cudaLaunchKernel", offset + 10, 5, 1)
        .Call("cudaLaunchKernel", offset + 20, 5, 2)
        .Kernel("ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*)", 20,
                offset + 30, 10, 1)
        .Kernel("ncclKernel_SendRecv_RING_SIMPLE_Sum_int8_t(ncclDevComm*)", 20,
                offset + 50, 10, 2);
  };
  std::vector<RankTrace> ranks;
  ranks.push_back(rank(1000).Read(0));
  ranks.push_back(rank(1040).Read(1));
  Diagnostics diagnostics;
  const ir::Graph graph = Build(ranks, {}, &diagnostics);
  const ir::GraphData& data = graph.data();
  ASSERT_EQ(data.collectives.size(), 2U);
  EXPECT_EQ(data.collectives[ir::CollectiveId{0}].kind,
            ir::CollectiveKind::kAllReduce);
  EXPECT_EQ(data.collectives[ir::CollectiveId{0}].activities.size(), 2U);
  EXPECT_EQ(diagnostics.count(kUnmatchedCollective), 0);
  // The second rank's step began 40 us later on the common clock.
  EXPECT_EQ(data.ranks[ir::RankId{1}].step->start, microseconds(40));
}

TEST(BuildGraphTest, FindsPhasesByAnnotationThreadAndSequence) {
  const auto ranks =
      One(TraceText()
              .Step(1, 0, 300)
              .Op("aten::linear", 1, 10, 5, R"({"Sequence number": 3})")
              .Op("aten::to", 1, 20, 5)
              .Op("autograd::engine::evaluate_function: AddmmBackward0", 2, 100,
                  50, R"({"Sequence number": 3})")
              .Op("aten::mm", 2, 110, 20)
              .Op("Optimizer.step#SGD.step", 1, 200, 50)
              .Op("aten::add_", 1, 210, 10));
  const ir::Graph graph = Build(ranks);
  std::vector<ir::Phase> phases;
  for (const ir::Op& op : graph.data().ops) {
    phases.push_back(op.phase);
  }
  using enum ir::Phase;
  EXPECT_THAT(phases, ::testing::ElementsAre(kForward, kUnknown, kOptimizer,
                                             kOptimizer, kBackward, kBackward));
}

// Gloo's threads run collectives while the main thread goes on, until it waits:
//
//   main  [allreduce_]  [aten::mm   ]  ...nothing...  [aten::add_]
//   gloo      [all_reduce (woken late)              ]
TEST(BuildGraphTest, GloosRangesAreCollectives) {
  TraceText text;
  text.Step(1, 0, 2000)
      .Op("c10d::allreduce_", 1, 100, 50,
          R"({"Input Dims": [[[112]], []], "Input type": ["TensorList", ""]})")
      .Op("aten::mm", 1, 200, 100)
      .Op("aten::add_", 1, 1020, 30)
      .Event("user_annotation", "gloo:all_reduce", 9, 180, 820,
             R"({"Input Dims": [[112]], "Input type": ["float"]})");
  auto ranks = One(text);
  ranks[0].profiler->trace.info.world_size = 4;
  const ir::Graph graph = Build(ranks);
  const ir::GraphData& data = graph.data();
  ASSERT_EQ(data.activities.size(), 1U);
  const ir::Activity& activity = data.activities[ir::ActivityId{0}];
  EXPECT_EQ(activity.kind, ir::ActivityKind::kCollective);
  EXPECT_EQ(ir::ShapeText(data.shapes[activity.shape]),
            "collective kind=all_reduce bytes=448 group=4 dtype=fp32");
  // From when the op had asked for it, which ended at 150.
  EXPECT_EQ(activity.measured->start, microseconds(150));
  EXPECT_EQ(activity.measured->duration, microseconds(850));
  const ir::Call& launch = data.calls[activity.call];
  EXPECT_EQ(graph.text(data.ops[launch.op].name), "c10d::allreduce_");
  // The main thread did nothing from 300 to 1020, and the range ended at 1000.
  ASSERT_EQ(data.host_waits.size(), 1U);
  const ir::Call& wait = data.calls[data.host_waits[0].call];
  EXPECT_EQ(wait.measured->start, microseconds(300));
  EXPECT_EQ(wait.measured->duration, microseconds(720));
}

// An op that computes until after the collective's end does not wait for it.
// With kernels of a GPU gloo's ranges stay ranges.
TEST(BuildGraphTest, WhoComputesDoesNotWaitForGloo) {
  TraceText text;
  text.Step(1, 0, 2000)
      .Op("c10d::allreduce_", 1, 100, 50)
      .Op("aten::mm", 1, 200, 820)
      .Event("user_annotation", "gloo:all_reduce", 9, 180, 820,
             R"({"Input Dims": [[112]], "Input type": ["float"]})");
  const ir::Graph graph = Build(One(text));
  EXPECT_EQ(graph.data().activities.size(), 1U);
  EXPECT_EQ(graph.data().host_waits.size(), 0U);
  text.Call("cudaLaunchKernel", 210, 5, 1)
      .Kernel("volta_sgemm_128x64_nn", 7, 220, 40, 1);
  EXPECT_EQ(Build(One(text)).data().activities.size(), 1U);
}

// As on a processor, or with torch.autograd.set_multithreading_enabled(False):
// most ops of the thread are the engine's, but not all.
TEST(BuildGraphTest, ForwardIsDistinguishedFromBackwardOnOneThread) {
  const auto ranks = One(
      TraceText()
          .Step(1, 0, 300)
          .Op("aten::linear", 1, 10, 10, R"({"Sequence number": 3})")
          .Op("aten::empty", 1, 12, 2)
          .Op("aten::ones_like", 1, 90, 5)
          .Op("autograd::engine::evaluate_function: AddmmBackward0", 1, 100, 50,
              R"({"Sequence number": 3})")
          .Op("aten::mm", 1, 110, 20)
          .Op("autograd::engine::evaluate_function: TBackward0", 1, 160, 5));
  const ir::Graph graph = Build(ranks);
  std::vector<ir::Phase> phases;
  for (const ir::Op& op : graph.data().ops) {
    phases.push_back(op.phase);
  }
  using enum ir::Phase;
  EXPECT_THAT(phases, ::testing::ElementsAre(kForward, kForward, kUnknown,
                                             kBackward, kBackward, kBackward));
  EXPECT_EQ(graph.data().threads[ir::ThreadId{0}].role, ir::ThreadRole::kMain);
}

}  // namespace
}  // namespace stepcast::trace

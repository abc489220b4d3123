// Recordings of PyTorch 2.14 and 2.15 and TorchRec 1.9 on a processor, and
// recordings edited to carry what these write on GPUs, read as they are meant.
#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph.h"
#include "tests/shared/shared_traces.h"
#include "trace/build/build_graph.h"
#include "trace/read/oddities.h"

namespace stepcast::view {
namespace {

namespace fs = std::filesystem;

fs::path NewTraces() {
  return fs::path(STEPCAST_SHARED_DATA) / "more" / "traces" / "torch_2026_cpu";
}

trace::Loaded LoadPaths(const std::vector<fs::path>& paths) {
  auto loaded = trace::Load(paths, BuiltInRules());
  EXPECT_TRUE(loaded) << loaded.error().message;
  return loaded ? *std::move(loaded) : trace::Loaded{};
}

ir::Graph GraphOf(const std::vector<fs::path>& paths) {
  const trace::Loaded loaded = LoadPaths(paths);
  Diagnostics diagnostics;
  auto graph = trace::BuildGraph(loaded.ranks, BuiltInRules(), {}, diagnostics);
  EXPECT_TRUE(graph) << graph.error().message;
  return *std::move(graph);
}

// Files below the folder whose names end so, in order.
std::vector<fs::path> FilesThatEnd(const fs::path& folder,
                                   std::string_view ending) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().string().ends_with(ending)) {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

class Torch2026Test : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!fs::exists(NewTraces())) {
      GTEST_SKIP() << "no traces in " << NewTraces();
    }
  }
};

std::map<ir::Phase, int64_t> OpsByPhase(const ir::Graph& graph) {
  std::map<ir::Phase, int64_t> counts;
  for (const ir::Op& op : graph.data().ops) {
    counts[op.phase] += op.kind == ir::OpKind::kOp ? 1 : 0;
  }
  return counts;
}

TEST_F(Torch2026Test, EveryOpOfTorchRecsPipelineHasAPhase) {
  for (const std::string name :
       {"sparsedist/rank0.json.gz", "sparsedist/rank0.et.json.gz",
        "pipeline/rank1.json.gz"}) {
    SCOPED_TRACE(name);
    auto phases =
        OpsByPhase(GraphOf({NewTraces() / "torch-2.14.1" / "torchrec" / name}));
    EXPECT_EQ(phases[ir::Phase::kUnknown], 0);
    // 150 of the forward pass in the profiler's record, 365 of the backward.
    EXPECT_GT(phases[ir::Phase::kForward], 100);
    EXPECT_GT(phases[ir::Phase::kBackward], 300);
    EXPECT_GT(phases[ir::Phase::kSparseDataDist], 40);
  }
}

// Both passes run on the main thread of a processor.
TEST_F(Torch2026Test, ForwardAndBackwardAreDistinguished) {
  int64_t files = 0;
  for (const std::string_view release : {"torch-2.14.1", "torch-2.15.0"}) {
    for (const fs::path& path :
         FilesThatEnd(NewTraces() / release, ".json.gz")) {
      // This one has no backward pass.
      if (path.string().find("etx") != std::string::npos) {
        continue;
      }
      SCOPED_TRACE(path);
      ++files;
      auto phases = OpsByPhase(GraphOf({path}));
      EXPECT_GT(phases[ir::Phase::kForward], 0);
      EXPECT_GT(phases[ir::Phase::kBackward], 0);
    }
  }
  EXPECT_EQ(files, 56);
}

// Sizes and groups of collectives and lookups, and no name that nobody knows.
TEST_F(Torch2026Test, ExecutionTracesHaveTheSizesOfAllWork) {
  int64_t collectives = 0;
  int64_t lookups = 0;
  for (const fs::path& path : FilesThatEnd(NewTraces(), ".et.json.gz")) {
    // Here the record of the groups was taken out.
    if (path.string().find("without_init") != std::string::npos) {
      continue;
    }
    SCOPED_TRACE(path);
    const DoctorReport report = Diagnose(LoadPaths({path}), BuiltInRules());
    EXPECT_GE(report.ranks.at(0).coverage.sized_share(), 0.99);
    const ir::Graph graph = GraphOf({path});
    for (const ir::Activity& activity : graph.data().activities) {
      const ir::KernelShape& shape = graph.data().shapes[activity.shape];
      if (const auto* collective = std::get_if<ir::Collective>(&shape)) {
        ++collectives;
        EXPECT_EQ(collective->group_size, 2);
        EXPECT_GT(collective->bytes.count, 0);
      } else if (std::holds_alternative<ir::EmbeddingBag>(shape)) {
        ++lookups;
        EXPECT_TRUE(ir::IsSized(shape)) << ir::ShapeText(shape);
      }
    }
  }
  EXPECT_GT(collectives, 60);
  EXPECT_GT(lookups, 60);
}

TEST_F(Torch2026Test, ExecutionTracesPairWithTheProfilerTraceOfTheirRun) {
  int64_t pairs = 0;
  for (const fs::path& path : FilesThatEnd(NewTraces(), ".et.json.gz")) {
    std::string name = path.string();
    name.replace(name.rfind(".et.json"), 8, ".json");
    // Some were recorded without a profiler, or are edited alone.
    if (!fs::exists(name)) {
      continue;
    }
    SCOPED_TRACE(path);
    ++pairs;
    const DoctorReport report =
        Diagnose(LoadPaths({name, path}), BuiltInRules());
    ASSERT_EQ(report.ranks.size(), 1U);
    ASSERT_TRUE(report.ranks[0].pairing);
    EXPECT_EQ(report.ranks[0].pairing->different_shapes, 0);
    EXPECT_EQ(report.ranks[0].diagnostics.count(trace::kPairMismatch), 0);
    for (const ThreadPairing& thread : report.ranks[0].pairing->threads) {
      EXPECT_EQ(thread.matches, 1);
    }
  }
  EXPECT_EQ(pairs, 31);
}

TEST_F(Torch2026Test, EditedExecutionTracesPairToo) {
  const fs::path edited = NewTraces() / "edited_not_recorded";
  const fs::path recorded = NewTraces() / "torch-2.14.1";
  for (const auto& [execution, profiler] :
       {std::pair(edited / "ddp_rank0_without_init_and_gloo.et.json.gz",
                  recorded / "ddp" / "full" / "rank0.json.gz"),
        std::pair(edited / "dlrm_plain_with_pg_init.et.json.gz",
                  recorded / "dlrm" / "dlrm_plain.json.gz")}) {
    SCOPED_TRACE(execution);
    const DoctorReport report =
        Diagnose(LoadPaths({profiler, execution}), BuiltInRules());
    ASSERT_TRUE(report.ranks.at(0).pairing);
    ASSERT_EQ(report.ranks[0].pairing->threads.size(), 1U);
    EXPECT_EQ(report.ranks[0].pairing->threads[0].matches, 1);
  }
}

// Edited files say the same as those they were made from, in other words.
struct EditedTrace {
  fs::path edited;
  fs::path original;
};

std::vector<EditedTrace> EditedTraces() {
  const fs::path folder = NewTraces() / "edited_not_recorded";
  return {{.edited = folder / "lanes",
           .original = TraceFolder() / "dlrm_torchrec_4xV100" / "run3"},
          {.edited = folder / "cuspy_memcpy_names_rank1.json.gz",
           .original = TraceFolder() / "dlrm_hta_V100_rank1of2"}};
}

TEST_F(Torch2026Test, LanesAndPlainNamesOfCopiesMakeNoDifference) {
  for (const EditedTrace& trace : EditedTraces()) {
    SCOPED_TRACE(trace.edited);
    const ir::Graph edited = GraphOf({trace.edited});
    const ir::Graph original = GraphOf({trace.original});
    const ir::GraphData& a = edited.data();
    const ir::GraphData& b = original.data();
    ASSERT_EQ(a.activities.size(), b.activities.size());
    int64_t copies = 0;
    for (const ir::ActivityId id : a.activities.ids()) {
      const ir::Activity& left = a.activities[id];
      const ir::Activity& right = b.activities[id];
      EXPECT_EQ(ir::ShapeText(a.shapes[left.shape]),
                ir::ShapeText(b.shapes[right.shape]));
      EXPECT_EQ(a.streams[left.stream].number, b.streams[right.stream].number);
      copies += left.kind == ir::ActivityKind::kMemcpy ? 1 : 0;
    }
    EXPECT_GT(copies, 10);
    EXPECT_EQ(a.stream_waits.size(), b.stream_waits.size());
    EXPECT_EQ(a.host_waits.size(), b.host_waits.size());
  }
}

TEST_F(Torch2026Test, WaitsWithoutAStreamAreNotLost) {
  const ir::Graph edited = GraphOf(
      {NewTraces() / "edited_not_recorded" / "cuspy_wait_on_stream.json.gz"});
  const ir::Graph original = GraphOf(
      {TraceFolder() / "small" / "hta_cuda_event_sync_multi_stream.json.gz"});
  EXPECT_EQ(edited.data().host_waits.size(), original.data().host_waits.size());
  ASSERT_EQ(edited.data().stream_waits.size(), 1U);
  ASSERT_EQ(original.data().stream_waits.size(), 1U);
  EXPECT_EQ(edited.data().stream_waits[0].after,
            original.data().stream_waits[0].after);
  // The thread had used stream 28 last, but recorded the event in stream 20:
  // nothing in the file shows it.
  EXPECT_TRUE(edited.data().stream_waits[0].inferred);
}

// The calls of the backward pass are on a thread that has no ops.
TEST_F(Torch2026Test, CallsOfALostThreadAreInTheirOps) {
  const fs::path folder = NewTraces().parent_path() / "pftrace";
  for (const std::string_view release : {"214", "215"}) {
    const ir::Graph lost =
        GraphOf({folder / fmt::format("eager_lost_thread.{}.json", release)});
    const ir::Graph known =
        GraphOf({folder / fmt::format("eager_2steps.{}.json", release)});
    ASSERT_EQ(lost.data().calls.size(), known.data().calls.size());
    EXPECT_EQ(lost.data().threads.size(), known.data().threads.size());
    for (const ir::CallId id : lost.data().calls.ids()) {
      const ir::Call& left = lost.data().calls[id];
      const ir::Call& right = known.data().calls[id];
      ASSERT_EQ(left.op.valid(), right.op.valid());
      if (left.op.valid()) {
        EXPECT_EQ(lost.text(lost.data().ops[left.op].name),
                  known.text(known.data().ops[right.op].name));
      }
    }
  }
}

// Those of gloo, whose ranges are on threads of their own: as many and as large
// as the execution trace says, met by both ranks.
TEST_F(Torch2026Test, GloosCollectivesAreThoseOfTheExecutionTrace) {
  for (const std::string_view folder :
       {"torch-2.14.1/torchrec/direct", "torch-2.14.1/torchrec/sparsedist",
        "torch-2.15.0/ddp/plain", "torch-2.15.0/handshard/plain",
        "two_ranks_gloo_2.14.1/mid"}) {
    SCOPED_TRACE(folder);
    const fs::path path = NewTraces() / folder;
    const ir::Graph profiler =
        GraphOf({path / "rank0.json.gz", path / "rank1.json.gz"});
    const ir::Graph execution = GraphOf({path / "rank0.et.json.gz"});
    std::vector<std::string> expected;
    for (const ir::Activity& activity : execution.data().activities) {
      if (activity.kind == ir::ActivityKind::kCollective) {
        expected.push_back(
            ir::ShapeText(execution.data().shapes[activity.shape]));
      }
    }
    std::vector<std::string> found;
    for (const ir::MatchedCollective& matched : profiler.data().collectives) {
      ASSERT_EQ(matched.activities.size(), 2U);
      found.push_back(ir::ShapeText(
          profiler.data().shapes
              [profiler.data().activities[matched.activities[0]].shape]));
    }
    EXPECT_GE(expected.size(), 3U);
    // The pipeline asks for the next batch's in between.
    EXPECT_THAT(found, ::testing::UnorderedElementsAreArray(expected));
  }
}

// Perfetto files say the same as the JSON of the same recording, but for
// copies' directions and kernels that overlap the next one.
TEST_F(Torch2026Test, PerfettoFilesSayWhatJsonSays) {
  int64_t files = 0;
  for (const fs::path& path :
       FilesThatEnd(NewTraces().parent_path() / "pftrace", ".pftrace.gz")) {
    SCOPED_TRACE(path);
    ++files;
    std::string name = path.string();
    name.replace(name.rfind(".pftrace.gz"), std::string::npos, ".json");
    const ir::Graph perfetto = GraphOf({path});
    const ir::Graph json = GraphOf({name});
    const ir::GraphData& a = perfetto.data();
    const ir::GraphData& b = json.data();
    ASSERT_EQ(a.ops.size(), b.ops.size());
    for (const ir::OpId id : a.ops.ids()) {
      EXPECT_EQ(perfetto.text(a.ops[id].name), json.text(b.ops[id].name));
      EXPECT_EQ(a.ops[id].measured, b.ops[id].measured);
      EXPECT_TRUE(a.ops[id].inputs == b.ops[id].inputs);
      EXPECT_EQ(a.ops[id].parent, b.ops[id].parent);
    }
    ASSERT_EQ(a.calls.size(), b.calls.size());
    ASSERT_EQ(a.activities.size(), b.activities.size());
    for (const ir::ActivityId id : a.activities.ids()) {
      const ir::Activity& left = a.activities[id];
      const ir::Activity& right = b.activities[id];
      EXPECT_EQ(left.call, right.call);
      EXPECT_EQ(left.measured->start, right.measured->start);
      EXPECT_EQ(a.streams[left.stream].number, b.streams[right.stream].number);
      if (left.kind != ir::ActivityKind::kMemcpy) {
        EXPECT_EQ(ir::ShapeText(a.shapes[left.shape]),
                  ir::ShapeText(b.shapes[right.shape]));
      }
    }
  }
  EXPECT_EQ(files, 8);
}

}  // namespace
}  // namespace stepcast::view

#include "trace/read/kineto/read_kineto.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "tests/testing/kineto_generator.h"
#include "trace/read/oddities.h"
#include "trace/read/profiler_trace.h"

namespace stepcast::trace {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;
using stepcast::testing::KinetoDialect;
using stepcast::testing::KinetoFacts;
using stepcast::testing::KinetoOptions;
using stepcast::testing::MakeKineto;
using ::testing::ElementsAre;
using ::testing::Optional;
using ::testing::SizeIs;

/// Reads `text`, which must be a trace.
ProfilerTrace ReadProfilerTrace(std::string_view text) {
  const auto source = OpenMemory(text);
  Diagnostics diagnostics;
  auto file = ReadKineto(*source, diagnostics);
  EXPECT_TRUE(file.has_value()) << file.error().message;
  return file ? *std::move(file->profiler) : ProfilerTrace();
}

std::string EventsDocument(std::string_view events) {
  return fmt::format(R"({{"traceEvents": [{}]}})", events);
}

TEST(ReadKinetoTest, AnOpHasItsTimesThreadAndArguments) {
  const ProfilerTrace trace = ReadProfilerTrace(EventsDocument(R"({
      "ph": "X", "cat": "cpu_op", "name": "aten::addmm", "pid": 59811,
      "tid": 59976, "ts": 1694128201435418, "dur": 52,
      "args": {"External id": 1025, "Ev Idx": 4, "Sequence number": 519,
               "Input Dims": [[16, 13], []], "Input type": ["float", ""]}})"));
  ASSERT_THAT(trace.host_events, SizeIs(1));
  const HostEvent& op = trace.host_events.front();
  EXPECT_EQ(trace.strings.view(op.name), "aten::addmm");
  EXPECT_EQ(op.kind, HostEventKind::kOp);
  EXPECT_EQ(op.start, microseconds(1694128201435418));
  EXPECT_EQ(op.duration, microseconds(52));
  EXPECT_EQ(op.external_id, 1025);
  EXPECT_EQ(op.event_index, 4);
  EXPECT_EQ(op.sequence, 519);
  ASSERT_THAT(trace.threads, SizeIs(1));
  EXPECT_EQ(trace.threads.front().process, "59811");
  EXPECT_EQ(trace.threads.front().thread, "59976");
  ASSERT_THAT(trace.arguments, SizeIs(1));
  EXPECT_EQ(op.arguments, 0);
  EXPECT_EQ(trace.strings.view(trace.arguments.front().dims), "[[16, 13], []]");
  EXPECT_EQ(trace.strings.view(trace.arguments.front().types),
            R"(["float", ""])");
}

TEST(ReadKinetoTest, FractionsOfMicrosecondsAreKept) {
  const ProfilerTrace trace = ReadProfilerTrace(EventsDocument(R"({
      "ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1,
      "ts": 4458676522690.655, "dur": 156.777})"));
  ASSERT_THAT(trace.host_events, SizeIs(1));
  EXPECT_EQ(trace.host_events.front().start, nanoseconds(4458676522690655));
  EXPECT_EQ(trace.host_events.front().duration, nanoseconds(156777));
  EXPECT_EQ(trace.host_events.front().external_id, -1);
  EXPECT_EQ(trace.host_events.front().arguments, -1);
}

// With graph_lanes="all", PyTorch 2.15 shows the work of graphs in lanes.
TEST(ReadKinetoTest, ALaneIsForDisplayAlone) {
  const ProfilerTrace trace = ReadProfilerTrace(EventsDocument(R"(
      {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 100009,
       "ts": 1, "dur": 2, "args": {"device": 0, "stream": 100009,
       "original_stream": 7, "correlation": 11}})"));
  ASSERT_THAT(trace.device_events, SizeIs(1));
  EXPECT_EQ(trace.device_events[0].stream, 7);
}

TEST(ReadKinetoTest, CopiesHaveOneNameWhereverTheirKindIsWritten) {
  const ProfilerTrace trace = ReadProfilerTrace(EventsDocument(R"x(
      {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy", "pid": 0, "tid": 7,
       "ts": 1, "dur": 2, "args": {"copy kind": "HtoD", "src kind": "pinned",
       "dst kind": "device"}},
      {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy", "pid": 0, "tid": 7,
       "ts": 1, "dur": 2, "args": {"copy kind": "DtoH"}},
      {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoD (Device -> Device)",
       "pid": 0, "tid": 7, "ts": 1, "dur": 2, "args": {
  "copy kind" : "DtoD"}},
      {"ph": "X", "cat": "gpu_memset", "name": "Memset", "pid": 0, "tid": 7,
       "ts": 1, "dur": 2, "args": {"bytes": 8}})x"));
  std::vector<std::string_view> names;
  for (const DeviceEvent& event : trace.device_events) {
    names.push_back(trace.strings.view(event.name));
  }
  EXPECT_THAT(names,
              ElementsAre("Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH",
                          "Memcpy DtoD (Device -> Device)", "Memset"));
}

TEST(ReadKinetoTest, NodesOfGraphsWithoutWorkAreLeftOut) {
  const ProfilerTrace trace = ReadProfilerTrace(EventsDocument(R"(
      {"ph": "X", "cat": "graph_event_node", "name": "EventRecord", "pid": 0,
       "tid": 7, "ts": 1, "dur": 0, "args": {"stream": 7, "correlation": 1}},
      {"ph": "X", "cat": "graph_host_node", "name": "HostNode", "pid": 0,
       "tid": 7, "ts": 1, "dur": 2, "args": {"stream": 7, "correlation": 1}})"));
  EXPECT_THAT(trace.device_events, SizeIs(0));
  EXPECT_EQ(trace.skipped.other, 2);
}

TEST(ReadKinetoTest, APlainerThreadNameDoesNotReplaceALongerOne) {
  const ProfilerTrace trace = ReadProfilerTrace(EventsDocument(R"x(
      {"ph": "M", "name": "thread_name", "pid": 1, "tid": 77,
       "args": {"name": "thread 77 (python)"
}
},
      {"ph": "M", "name": "thread_name", "pid": 1, "tid": 77,
       "args": {"name": "thread 77 (pt_autograd_0)"}},
      {"ph": "M", "name": "thread_name", "pid": 1, "tid": 77,
       "args": {"name": "thread 77"}})x"));
  ASSERT_THAT(trace.threads, SizeIs(1));
  EXPECT_EQ(trace.threads[0].name, "thread 77 (pt_autograd_0)");
}

TEST(ReadKinetoTest, DeviceEventsHaveTheirStreamFromArgsOrThread) {
  const ProfilerTrace trace = ReadProfilerTrace(EventsDocument(R"(
      {"ph": "X", "cat": "kernel", "name": "k", "pid": 2, "tid": 9, "ts": 1,
       "dur": 2, "args": {"device": 2, "stream": 7, "correlation": 11,
       "grid": [32, 2, 1], "block": [128, 1, 1]}},
      {"ph": "X", "cat": "Memcpy", "name": "c", "pid": 0, "tid": "stream 24",
       "ts": 1, "dur": 2, "args": {"bytes": 832, "external id": 5}},
      {"ph": "X", "cat": "gpu_memset", "name": "m", "pid": 0, "tid": 20,
       "ts": 1, "dur": 2})"));
  ASSERT_THAT(trace.device_events, SizeIs(3));
  const DeviceEvent& kernel = trace.device_events[0];
  EXPECT_EQ(kernel.kind, DeviceEventKind::kKernel);
  EXPECT_EQ(kernel.device, 2);
  EXPECT_EQ(kernel.stream, 7);
  EXPECT_EQ(kernel.correlation, 11);
  EXPECT_EQ(trace.strings.view(kernel.grid), "[32, 2, 1]");
  EXPECT_EQ(trace.strings.view(kernel.block), "[128, 1, 1]");
  const DeviceEvent& copy = trace.device_events[1];
  EXPECT_EQ(copy.kind, DeviceEventKind::kMemcpy);
  EXPECT_EQ(copy.stream, 24);
  EXPECT_EQ(copy.bytes, 832);
  EXPECT_EQ(copy.external_id, 5);
  EXPECT_EQ(trace.device_events[2].kind, DeviceEventKind::kMemset);
  EXPECT_EQ(trace.device_events[2].stream, 20);
}

TEST(ReadKinetoTest, SyncEventsSayWhoWaitedForWhat) {
  const ProfilerTrace trace = ReadProfilerTrace(EventsDocument(R"(
      {"ph": "X", "cat": "cuda_sync", "name": "x", "pid": 0, "tid": 24,
       "ts": 3, "dur": 2, "args": {"cuda_sync_kind": "Stream Wait Event",
       "stream": 24, "wait_on_stream": 20, "correlation": 1389,
       "wait_on_cuda_event_record_corr_id": 1385}},
      {"ph": "X", "cat": "cuda_sync", "name": "Context Sync", "pid": 0,
       "tid": -1, "ts": 3, "dur": 2})"));
  ASSERT_THAT(trace.sync_events, SizeIs(2));
  EXPECT_EQ(trace.strings.view(trace.sync_events[0].kind), "Stream Wait Event");
  EXPECT_EQ(trace.sync_events[0].stream, 24);
  EXPECT_EQ(trace.sync_events[0].wait_on_stream, 20);
  EXPECT_EQ(trace.sync_events[0].record_correlation, 1385);
  EXPECT_EQ(trace.sync_events[0].correlation, 1389);
  EXPECT_EQ(trace.strings.view(trace.sync_events[1].kind), "Context Sync");
}

TEST(ReadKinetoTest, CollectivesKeepAllTheirArgs) {
  const ProfilerTrace trace = ReadProfilerTrace(EventsDocument(R"({
      "ph": "X", "cat": "cpu_op", "name": "record_param_comms", "pid": 1,
      "tid": 1, "ts": 1, "dur": 2,
      "args": {"Collective name": "allreduce", "In msg nelems": 2049}})"));
  ASSERT_THAT(trace.arguments, SizeIs(1));
  EXPECT_EQ(trace.strings.view(trace.arguments.front().collective),
            R"({"Collective name": "allreduce", "In msg nelems": 2049})");
}

TEST(ReadKinetoTest, ThreadsAreNamedByMetadata) {
  const ProfilerTrace trace = ReadProfilerTrace(EventsDocument(R"(
      {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 2, "ts": 1,
       "dur": 2},
      {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": "3", "ts": 1,
       "dur": 2},
      {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": "2", "ts": 1,
       "dur": 2},
      {"name": "thread_name", "ph": "M", "pid": 1, "tid": 3, "ts": 0,
       "args": {"name": "pt_autograd_0"}},
      {"name": "process_name", "ph": "M", "pid": 1, "tid": 0, "ts": 0,
       "args": {"name": "python3"}})"));
  ASSERT_THAT(trace.threads, SizeIs(2));
  EXPECT_EQ(trace.host_events[0].thread, trace.host_events[2].thread);
  EXPECT_EQ(trace.threads[1].name, "pt_autograd_0");
  EXPECT_EQ(trace.skipped.metadata, 2);
}

// Nine of ten events of a stack are of PyTorch's own code or built in.
TEST(ReadKinetoTest, ModulesAndOwnFunctionsOfPythonAreKept) {
  std::string events;
  for (const std::string_view name :
       {"nn.Module: Linear_0", "train.py(12): step",
        "/opt/lib/torchrec/modules/mlp.py(70): forward",
        "torch/nn/modules/linear.py(130): forward",
        "/opt/lib/torch/nn/functional.py(12): linear",
        "<built-in function linear>", "<frozen os>(808): getenv",
        "contextlib.py(81): inner", "not a function"}) {
    events += fmt::format(
        R"({}{{"ph": "X", "cat": "python_function", "name": "{}", "pid": 1,
               "tid": 2, "ts": 1, "dur": 2}})",
        events.empty() ? "" : ",", name);
  }
  const ProfilerTrace trace = ReadProfilerTrace(EventsDocument(events));
  std::vector<std::string> kept;
  for (const PythonFrame& frame : trace.python_frames) {
    kept.push_back(fmt::format("{} {}", frame.is_module ? "module" : "code",
                               trace.strings.view(frame.name)));
  }
  EXPECT_THAT(
      kept, ElementsAre("module Linear_0", "code train.py(12): step",
                        "code /opt/lib/torchrec/modules/mlp.py(70): forward"));
  EXPECT_EQ(trace.skipped.python, 9);
  // A thread without ops is none of the host's.
  EXPECT_THAT(trace.threads, SizeIs(0));
  EXPECT_THAT(trace.python_threads, SizeIs(1));
}

TEST(ReadKinetoTest, WhatTheGraphDoesNotNeedIsCounted) {
  const ProfilerTrace trace = ReadProfilerTrace(EventsDocument(R"(
      {"ph": "s", "id": 1, "ts": 1, "name": "ac2g"},
      {"ph": "f", "id": 1, "ts": 1, "name": "ac2g"},
      {"ph": "i", "ts": 1, "name": "[memory]"},
      {"ph": "C", "ts": 1, "name": "count"},
      {"ph": "X", "cat": "python_function", "name": "f", "ts": 1, "dur": 1},
      {"ph": "X", "cat": "gpu_user_annotation", "name": "g", "ts": 1,
       "dur": 1},
      {"ph": "X", "cat": "Trace", "name": "PyTorch", "ts": 1, "dur": 1},
      {"ph": "B", "cat": "cpu_op", "name": "begin", "ts": 1})"));
  EXPECT_EQ(trace.skipped.flows, 2);
  EXPECT_EQ(trace.skipped.instants, 1);
  EXPECT_EQ(trace.skipped.counters, 1);
  EXPECT_EQ(trace.skipped.python, 1);
  EXPECT_EQ(trace.skipped.gpu_annotations, 1);
  EXPECT_EQ(trace.skipped.other, 2);
  EXPECT_THAT(trace.host_events, SizeIs(0));
}

TEST(ReadKinetoTest, TheFileSaysWhereItIsFrom) {
  const ProfilerTrace trace = ReadProfilerTrace(R"({
      "schemaVersion": 1,
      "deviceProperties": [
        {"id": 0, "name": "Tesla V100-SXM2-32GB", "totalGlobalMem": 34079899648,
         "computeMajor": 7, "computeMinor": 0, "numSms": 80}],
      "distributedInfo": {"backend": "nccl", "rank": 3, "world_size": 8},
      "baseTimeNanoseconds": 1711964646000000000,
      "traceEvents": [{"ph": "i", "ts": 1}], "traceName": "x"})");
  EXPECT_EQ(trace.info.schema, "1");
  EXPECT_EQ(trace.info.format, "kineto");
  EXPECT_EQ(trace.info.dialect, "2024");
  EXPECT_THAT(trace.info.rank, Optional(3));
  EXPECT_THAT(trace.info.world_size, Optional(8));
  EXPECT_EQ(trace.info.backend, "nccl");
  EXPECT_EQ(trace.info.base_time, nanoseconds(1711964646000000000));
  ASSERT_THAT(trace.info.devices, SizeIs(1));
  EXPECT_EQ(trace.info.devices[0].name, "Tesla V100-SXM2-32GB");
  EXPECT_EQ(trace.info.devices[0].sm_count, 80);
  EXPECT_EQ(trace.info.devices[0].compute_capability, "7.0");
  EXPECT_EQ(trace.info.devices[0].memory_bytes, 34079899648);
}

TEST(ReadKinetoTest, AListOfEventsIsADocumentToo) {
  const std::string event =
      R"({"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 2,
          "ts": 1, "dur": 2})";
  EXPECT_THAT(ReadProfilerTrace("[" + event + "," + event + "]").host_events,
              SizeIs(2));
}

TEST(ReadKinetoTest, EscapesInNamesAreUndone) {
  const ProfilerTrace trace = ReadProfilerTrace(EventsDocument(
      R"({"ph": "X", "cat": "cpu_op", "name": "a\"\\\n\u00b5\uD83D\uDE00",
          "pid": 1, "tid": 2, "ts": 1, "dur": 2})"));
  ASSERT_THAT(trace.host_events, SizeIs(1));
  EXPECT_EQ(trace.strings.view(trace.host_events.front().name),
            "a\"\\\n\xC2\xB5\xF0\x9F\x98\x80");
}

TEST(SniffKinetoTest, TakesAnyObjectOrArray) {
  EXPECT_TRUE(SniffKineto("\n{\n \"schemaVersion\""));
  EXPECT_TRUE(SniffKineto("["));
  EXPECT_TRUE(SniffKineto("\xEF\xBB\xBF {"));
  for (const char* head : {"", " \n", "graph", "\"{\"", "\x1f\x8b", "PK"}) {
    EXPECT_FALSE(SniffKineto(head)) << head;
  }
}

struct GeneratedCase {
  KinetoOptions options;
  std::string_view dialect;
};

class ReadGeneratedTest : public ::testing::TestWithParam<GeneratedCase> {};

// Whatever the dialect and the extras, the reader finds what was written.
TEST_P(ReadGeneratedTest, HoldsWhatWasWritten) {
  KinetoFacts facts;
  const std::string text = MakeKineto(GetParam().options, &facts);
  const auto source = OpenMemory(text);
  Diagnostics diagnostics;
  auto file = ReadKineto(*source, diagnostics);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  const ProfilerTrace& trace = *file->profiler;
  EXPECT_THAT(diagnostics.list(), SizeIs(0));
  EXPECT_EQ(trace.info.dialect, GetParam().dialect);
  EXPECT_EQ(trace.info.text_bytes, text.size());
  EXPECT_EQ(static_cast<int64_t>(trace.host_events.size()),
            facts.ops + facts.annotations);
  EXPECT_EQ(static_cast<int64_t>(trace.runtime_events.size()), facts.calls);
  EXPECT_EQ(static_cast<int64_t>(trace.device_events.size()),
            facts.kernels + facts.copies);
  EXPECT_EQ(trace.skipped.flows, facts.flows);
  EXPECT_EQ(trace.skipped.python, facts.python);
  EXPECT_EQ(trace.skipped.metadata, facts.metadata);
  EXPECT_EQ(trace.skipped.instants, facts.instants);
  EXPECT_EQ(trace.skipped.other, 0);
  EXPECT_EQ(trace.arguments.empty(),
            !GetParam().options.shapes && GetParam().dialect != "2024");
}

INSTANTIATE_TEST_SUITE_P(
    Dialects, ReadGeneratedTest,
    ::testing::Values(GeneratedCase{{.dialect = KinetoDialect::k2021}, "2021"},
                      GeneratedCase{{.job = {.orphans = 5, .python = true},
                                     .dialect = KinetoDialect::k2022},
                                    "2022"},
                      GeneratedCase{{.job = {.graphs = true},
                                     .dialect = KinetoDialect::k2022,
                                     .shapes = false},
                                    "2022"},
                      GeneratedCase{{.job = {.hip = true},
                                     .dialect = KinetoDialect::k2024},
                                    "2024"},
                      GeneratedCase{{.dialect = KinetoDialect::k2024,
                                     .target_bytes = 3'000'000,
                                     .shapes = false},
                                    "2024"}));

TEST(KinetoGeneratorTest, GivesTheSameForTheSameSeedOnly) {
  const KinetoOptions options{.job = {.seed = 7}, .steps = 1};
  EXPECT_EQ(MakeKineto(options), MakeKineto(options));
  EXPECT_NE(MakeKineto(options), MakeKineto({.job = {.seed = 8}, .steps = 1}));
}

TEST(KinetoGeneratorTest, ReachesTheSizeAskedFor) {
  for (const int64_t target : {1, 400'000, 2'000'000}) {
    KinetoFacts facts;
    const std::string text = MakeKineto({.target_bytes = target}, &facts);
    EXPECT_EQ(facts.bytes, static_cast<int64_t>(text.size()));
    EXPECT_GE(facts.bytes, target);
    EXPECT_LE(facts.bytes, target + 600'000);
  }
}

}  // namespace
}  // namespace stepcast::trace

#include "view/timelines/perfetto.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/graph_builder.h"
#include "trace/classify/rules.h"
#include "trace/link/link.h"
#include "trace/read/formats.h"

namespace stepcast::view {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;
using ::testing::HasSubstr;

ir::Measured At(int start, int duration) {
  return {.start = microseconds(start), .duration = microseconds(duration)};
}

// main    [aten::mm  [cudaLaunchKernel]]
// s7                              [sgemm]
void AddRank(ir::GraphBuilder& builder, int64_t number, int offset) {
  const ir::RankId rank =
      builder.AddRank({.number = number,
                       .gpu = builder.Intern("Test GPU"),
                       .step = ir::Measured{.start = microseconds(offset),
                                            .duration = microseconds(100)}});
  const ir::ThreadId thread =
      builder.AddThread({.rank = rank, .role = ir::ThreadRole::kMain});
  const ir::StreamId stream = builder.AddStream({.rank = rank, .number = 7});
  const ir::OpId outer = builder.AddOp({.name = builder.Intern("aten::linear"),
                                        .thread = thread,
                                        .phase = ir::Phase::kForward,
                                        .measured = At(0, 50)});
  const ir::OpId op =
      builder.AddOp({.name = builder.Intern("aten::mm"),
                     .thread = thread,
                     .parent = outer,
                     .phase = ir::Phase::kForward,
                     .measured = At(5, 40)},
                    {{.dims = {16, 13}, .dtype = ir::DType::kFp32}});
  const ir::CallId call = builder.AddCall({.name = builder.Intern("launch"),
                                           .thread = thread,
                                           .op = op,
                                           .measured = At(10, 6)});
  builder.AddActivity({.name = builder.Intern("sgemm"),
                       .stream = stream,
                       .call = call,
                       .measured = ir::Measured{.start = microseconds(20),
                                                .duration = nanoseconds(1250)}},
                      ir::Gemm{.batch = 1, .m = 16, .n = 256, .k = 13});
}

trace::LinkedTrace ReadBack(const std::string& json) {
  Diagnostics diagnostics;
  auto file = trace::ReadTrace(json, "timeline.json", diagnostics);
  EXPECT_TRUE(file) << file.error().message;
  EXPECT_TRUE(diagnostics.list().empty());
  const auto rules = trace::Rules::Load();
  EXPECT_TRUE(rules);
  return trace::Link(*std::move(file->profiler), *rules, diagnostics);
}

TEST(PerfettoTest, OurOwnReaderFindsTheSameStepInIt) {
  ir::GraphBuilder builder;
  AddRank(builder, 3, 0);
  const auto graph = std::move(builder).Build();
  ASSERT_TRUE(graph) << graph.error().message;

  const auto json = PerfettoJson(*graph, 12);
  ASSERT_TRUE(json) << json.error().message;
  const trace::LinkedTrace linked = ReadBack(*json);

  ASSERT_EQ(linked.steps.size(), 1U);
  EXPECT_EQ(linked.steps[0].number, 12);
  EXPECT_EQ(linked.steps[0].duration, microseconds(100));
  EXPECT_EQ(linked.trace.info.rank, 3);
  ASSERT_EQ(linked.trace.info.devices.size(), 1U);
  EXPECT_EQ(linked.trace.info.devices[0].name, "Test GPU");
  ASSERT_EQ(linked.trace.host_events.size(), 3U);  // The step and two ops.
  EXPECT_EQ(linked.parent[2], 1U);
  ASSERT_EQ(linked.trace.runtime_events.size(), 1U);
  EXPECT_EQ(linked.call_op[0], 2U);
  ASSERT_EQ(linked.trace.device_events.size(), 1U);
  EXPECT_EQ(linked.activity_call[0], 0U);
  EXPECT_EQ(linked.trace.device_events[0].duration, nanoseconds(1250));
  EXPECT_EQ(linked.trace.device_events[0].stream, 7);
}

TEST(PerfettoTest, RanksShareOneClockAndKeepApart) {
  ir::GraphBuilder builder;
  AddRank(builder, 0, 30);
  AddRank(builder, 1, 0);
  const auto graph = std::move(builder).Build();
  ASSERT_TRUE(graph) << graph.error().message;

  const auto json = PerfettoJson(*graph);
  ASSERT_TRUE(json) << json.error().message;
  const trace::LinkedTrace linked = ReadBack(*json);

  ASSERT_EQ(linked.trace.device_events.size(), 2U);
  EXPECT_EQ(linked.trace.device_events[0].start, microseconds(50));
  EXPECT_EQ(linked.trace.device_events[1].start, microseconds(20));
  EXPECT_NE(linked.trace.device_events[0].device,
            linked.trace.device_events[1].device);
  EXPECT_NE(linked.activity_call[0], linked.activity_call[1]);
}

TEST(PerfettoTest, PeopleSeeShapesPhasesAndArrows) {
  ir::GraphBuilder builder;
  AddRank(builder, 0, 0);
  const auto graph = std::move(builder).Build();
  ASSERT_TRUE(graph) << graph.error().message;

  const auto json = PerfettoJson(*graph);
  ASSERT_TRUE(json) << json.error().message;

  EXPECT_THAT(*json, HasSubstr(R"("shape":"gemm batch=1 m=16 n=256 k=13)"));
  EXPECT_THAT(*json, HasSubstr(R"("phase":"forward")"));
  EXPECT_THAT(*json, HasSubstr(R"("inputs":["fp32[16,13]"])"));
  EXPECT_THAT(*json, HasSubstr(R"("name":"rank 0 Test GPU")"));
  EXPECT_THAT(*json, HasSubstr(R"("name":"stream 7")"));
  EXPECT_THAT(*json, HasSubstr(R"({"ph":"s","name":"ac2g")"));
  EXPECT_THAT(*json, HasSubstr(R"({"ph":"f","name":"ac2g")"));
}

TEST(PerfettoTest, AGraphWithoutTimesCannotBeDrawn) {
  ir::GraphBuilder builder;
  const ir::RankId rank = builder.AddRank({});
  const ir::ThreadId thread = builder.AddThread({.rank = rank});
  builder.AddOp({.name = builder.Intern("aten::mm"), .thread = thread});
  const auto graph = std::move(builder).Build();
  ASSERT_TRUE(graph) << graph.error().message;

  EXPECT_FALSE(PerfettoJson(*graph));
}

}  // namespace
}  // namespace stepcast::view

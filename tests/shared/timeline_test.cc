// A timeline of a recorded step is a trace of the same step.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "ir/graph.h"
#include "tests/shared/shared_traces.h"
#include "trace/build/build_graph.h"
#include "trace/read/formats.h"
#include "view/timelines/perfetto.h"

namespace stepcast::view {
namespace {

struct Sums {
  int64_t ops = 0;
  int64_t annotations = 0;
  int64_t calls = 0;
  int64_t activities = 0;
  Duration op_time{};
  Duration call_time{};
  Duration activity_time{};
  friend bool operator==(const Sums&, const Sums&) = default;
};

void PrintTo(const Sums& sums, std::ostream* out) {
  *out << sums.ops << " ops, " << sums.annotations << " annotations, "
       << sums.calls << " calls, " << sums.activities << " activities; "
       << sums.op_time.count() << ", " << sums.call_time.count() << ", "
       << sums.activity_time.count() << " ns";
}

Sums SumsOf(const ir::GraphData& data) {
  Sums sums;
  for (const ir::Op& op : data.ops) {
    ++(op.kind == ir::OpKind::kOp ? sums.ops : sums.annotations);
    sums.op_time += op.measured->duration;
  }
  for (const ir::Call& call : data.calls) {
    ++sums.calls;
    sums.call_time += call.measured->duration;
  }
  for (const ir::Activity& activity : data.activities) {
    ++sums.activities;
    sums.activity_time += activity.measured->duration;
  }
  return sums;
}

Sums SumsOf(const trace::ProfilerTrace& trace) {
  Sums sums;
  for (const trace::HostEvent& event : trace.host_events) {
    ++(event.kind == trace::HostEventKind::kOp ? sums.ops : sums.annotations);
    sums.op_time += event.duration;
  }
  for (const trace::RuntimeEvent& event : trace.runtime_events) {
    ++sums.calls;
    sums.call_time += event.duration;
  }
  for (const trace::DeviceEvent& event : trace.device_events) {
    ++sums.activities;
    sums.activity_time += event.duration;
  }
  return sums;
}

class TimelineTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { SkipWithoutTraces(); }
};

TEST_P(TimelineTest, HoldsTheSameEventsAndTimes) {
  const trace::Loaded loaded = LoadTraces({GetParam()});
  Diagnostics diagnostics;
  const auto graph =
      trace::BuildGraph(loaded.ranks, BuiltInRules(), {}, diagnostics);
  ASSERT_TRUE(graph) << graph.error().message;
  const auto json = PerfettoJson(*graph);
  ASSERT_TRUE(json) << json.error().message;

  Diagnostics reading;
  const auto file = trace::ReadTrace(*json, "timeline.json", reading);

  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(reading.list().empty());
  Sums expected = SumsOf(graph->data());
  // The timeline marks the step of every rank besides.
  for (const ir::Rank& rank : graph->data().ranks) {
    ++expected.annotations;
    expected.op_time += rank.step->duration;
  }
  EXPECT_EQ(SumsOf(*file->profiler), expected);
}

INSTANTIATE_TEST_SUITE_P(Traces, TimelineTest,
                         ::testing::Values("dlrm_param_8xV100/kineto",
                                           "dlrm_torchrec_4xV100/run3",
                                           "dlrm_hta_V100_rank1of2",
                                           "resnet50_kineto_V100",
                                           "resnet50_hta_ddp_A100"),
                         [](const auto& test) {
                           std::string name = test.param;
                           std::ranges::replace(name, '/', '_');
                           return name;
                         });

}  // namespace
}  // namespace stepcast::view

#include "model/step_builder.h"

#include <gtest/gtest.h>

#include "ir/text/graph_text.h"

namespace stepcast::model {
namespace {

constexpr ir::Gemm kProduct{
    .batch = 1, .m = 2, .n = 3, .k = 4, .dtype = ir::DType::kFp32};

std::string TextOf(StepBuilder step) {
  const auto graph = std::move(step).Finish();
  EXPECT_TRUE(graph) << graph.error().message;
  return graph ? ir::GraphText(*graph) : "";
}

TEST(StepBuilderTest, PutsWorkBelowTheOpThatLaunchesIt) {
  StepBuilder step("test");
  {
    const OpScope op(step, "aten::mm");
    step.Launch(kProduct);
  }
  EXPECT_EQ(TextOf(std::move(step)), R"(stepcast-graph 1
source "test"
rank 0
  streams 7
  thread main
    op "aten::mm" phase=forward
      call launch "cudaLaunchKernel"
        s7: gemm batch=1 m=2 n=3 k=4 dtype=fp32 "gemm"
)");
}

// The host goes on after the sync when the copy is done; a copy to pageable
// memory also holds up the call itself.
TEST(StepBuilderTest, CopiesMakeTheHostWait) {
  StepBuilder step("test");
  step.CopyToDevice(64, /*pinned=*/true, /*waits=*/false);
  step.CopyToDevice(64, /*pinned=*/false, /*waits=*/false);
  step.CopyToHost(4);
  const auto graph = std::move(step).Finish();
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->data().calls.size(), 5u);
  EXPECT_EQ(graph->data().host_waits.size(), 3u);
}

TEST(StepBuilderTest, AStreamWaitsForWhatAnotherHoldsNow) {
  StepBuilder step("test");
  const ir::StreamId compute = step.compute_stream();
  const ir::StreamId other = step.AddStream(20);
  step.Launch(kProduct);
  step.UseStream(other);
  step.WaitForStream(compute);
  step.CopyToDevice(64, /*pinned=*/true, /*waits=*/false);
  step.CopyToDevice(64, /*pinned=*/true, /*waits=*/false);
  const auto graph = std::move(step).Finish();
  ASSERT_TRUE(graph) << graph.error().message;
  ASSERT_EQ(graph->data().stream_waits.size(), 1u);
  const ir::StreamWait& wait = graph->data().stream_waits.front();
  EXPECT_EQ(graph->data().activities[wait.before].stream, compute);
}

TEST(StepBuilderTest, ACapturedGraphIsOneCall) {
  StepBuilder step("test");
  step.BeginCapture();
  {
    const OpScope op(step, "aten::mm");
    step.Launch(kProduct);
    step.Memset(4);
    step.CopyToDevice(64, /*pinned=*/false, /*waits=*/true);
  }
  step.EndCapture();
  const auto graph = std::move(step).Finish();
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->data().ops.size(), 0u);
  ASSERT_EQ(graph->data().calls.size(), 1u);
  EXPECT_EQ(graph->data().calls[ir::CallId{0}].kind,
            ir::CallKind::kGraphLaunch);
  EXPECT_EQ(graph->data().activities.size(), 2u);
  EXPECT_TRUE(graph->data().host_waits.empty());
}

TEST(StepBuilderTest, ADeviceSyncWaitsForEveryStream) {
  StepBuilder step("test");
  step.Launch(kProduct);
  step.UseStream(step.AddStream(20));
  step.Launch(kProduct);
  step.SyncDevice();
  const auto graph = std::move(step).Finish();
  ASSERT_TRUE(graph) << graph.error().message;
  EXPECT_EQ(graph->data().host_waits.size(), 2u);
}

}  // namespace
}  // namespace stepcast::model

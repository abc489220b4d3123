#include "trace/build/profiler_graph.h"

#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/read/execution_trace_testing.h"

namespace stepcast::trace {
namespace {

using ::testing::ElementsAre;

// A node of schema 1.0.1 with one tensor in and one out.
std::string Node(int id, int parent, std::string_view name,
                 std::string_view tensor, std::string_view dims) {
  const std::string values =
      "[[9, 10, 0, 12, 4, \"" + std::string(tensor) + "\"]]";
  const std::string shapes = "[" + std::string(dims) + "]";
  return "{\"name\": \"" + std::string(name) +
         "\", \"id\": " + std::to_string(id) +
         ", \"rf_id\": " + std::to_string(id) +
         ", \"parent\": " + std::to_string(parent) +
         ", \"seq_id\": -1, \"scope\": 0, \"tid\": 1, \"fw_tid\": 0, "
         "\"fw_parent\": 0, \"op_schema\": \"\", \"inputs\": " +
         values + ", \"input_shapes\": " + shapes +
         ", \"input_types\": [\"Tensor(float)\"], \"outputs\": " + values +
         ", \"output_shapes\": " + shapes +
         ", \"output_types\": [\"Tensor(float)\"]}";
}

TEST(HostOnlyTest, OneTensorOnADeviceIsEnough) {
  EXPECT_TRUE(
      IsHostOnly(TraceOfNodes(Node(2, 2, "aten::relu", "cpu", "[3, 4]"))));
  EXPECT_FALSE(
      IsHostOnly(TraceOfNodes(Node(2, 2, "aten::relu", "cpu", "[3, 4]") + "," +
                              Node(3, 3, "aten::relu", "cuda:0", "[3, 4]"))));
}

TEST(HostOnlyTest, WithoutTensorsNothingIsKnown) {
  EXPECT_FALSE(IsHostOnly({}));
}

TEST(HostOnlyTest, WhatAnOperatorCallsIsPartOfIt) {
  const ExecutionTrace trace =
      TraceOfNodes(Node(2, 2, "aten::linear", "cpu", "[3, 4]") + "," +
                   Node(3, 2, "aten::addmm", "cpu", "[3, 4]") + "," +
                   Node(4, 3, "aten::copy_", "cpu", "[3, 4]") + "," +
                   Node(5, 2, "aten::relu", "cpu", "[3, 4]"));
  std::vector<bool> launches = {false, true, true, true};
  KeepOutermost(trace, launches);
  EXPECT_THAT(launches, ElementsAre(false, true, false, true));
}

TEST(HostOnlyTest, ASparseGradientIsRecognisedByItsValues) {
  const ExecutionTrace trace =
      TraceOfNodes(Node(2, 2, "aten::add_", "cpu", "[1000, 8]") + "," +
                   Node(3, 2, "aten::_nnz", "cpu", "[1000, 8]") + "," +
                   Node(4, 2, "aten::_values", "cpu", "[20, 8]") + "," +
                   Node(5, 5, "aten::add_", "cpu", "[1000, 8]"));
  const auto update = SparseUpdate(trace, 0);
  ASSERT_TRUE(update);
  EXPECT_EQ(ir::ShapeText(*update),
            "index elements=160 source=8000 scatter=true accumulate=true "
            "slice=8 dtype=fp32");
  EXPECT_FALSE(SparseUpdate(trace, 3));
}

TEST(HostOnlyTest, TheProcessorStandsForTheDevice) {
  const ExecutionTrace trace =
      TraceOfNodes(Node(2, 2, "aten::relu", "cpu", "[3, 4]"));
  const Arguments moved =
      OnDevice(ParseArguments(trace.nodes[0].arguments, trace.strings));
  EXPECT_EQ(moved.inputs[0].tensors[0].device, ir::Device::kGpu);
  EXPECT_EQ(moved.outputs[0].tensors[0].device, ir::Device::kGpu);
}

}  // namespace
}  // namespace stepcast::trace

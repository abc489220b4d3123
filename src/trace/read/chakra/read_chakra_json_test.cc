#include "trace/read/chakra/read_chakra_json.h"

#include <chrono>
#include <string_view>

#include <gtest/gtest.h>

#include "trace/read/execution_trace_testing.h"
#include "trace/read/oddities.h"

namespace stepcast::trace {
namespace {

using std::chrono::microseconds;

constexpr std::string_view kTrace = R"json({
  "workload_graph": [
    {"Id": 10, "Name": "aten::cat(0)", "NodeType": 4, "ctrlDeps": [3],
     "data_deps": [], "runtime": 318, "is_cpu_op": true},
    {"Id": 11, "Name": "aten::cat(1)", "NodeType": 4, "ctrlDeps": [3],
     "data_deps": [10], "runtime": 28, "is_cpu_op": true},
    {"Id": 12, "Name": "CatArrayBatchedCopy(int)", "NodeType": 4,
     "ctrlDeps": [9], "data_deps": [10], "is_cpu_op": false},
    {"Id": 13, "Name": "ncclKernel_AllReduce", "NodeType": 7, "ctrlDeps": [9],
     "data_deps": [11, 12], "runtime": 5, "is_cpu_op": false, "comm_type": 0,
     "comm_size": 64}
  ],
  "workload_name": "cat", "ngpus": 8
})json";

ExecutionRead ReadJsonNodes(std::string_view text) {
  return ReadExecution(ReadChakraJson, text);
}

TEST(ReadChakraJsonTest, ReadsNodes) {
  ASSERT_TRUE(SniffChakraJson(kTrace));
  const ExecutionRead read = ReadJsonNodes(kTrace);
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.trace.info.format, "chakra-json");
  ASSERT_EQ(read.trace.nodes.size(), 4U);
  const ExecutionNode& first = read.trace.nodes[0];
  EXPECT_EQ(read.text(first.name), "aten::cat");
  EXPECT_EQ(first.kind, NodeKind::kOp);
  EXPECT_EQ(first.duration, microseconds(318));
  EXPECT_EQ(first.parent, ExecutionNode::kNoParent);
  EXPECT_EQ(read.text(read.trace.nodes[1].name), "aten::cat");
  const ExecutionNode& kernel = read.trace.nodes[2];
  EXPECT_EQ(read.text(kernel.name), "CatArrayBatchedCopy(int)");
  EXPECT_EQ(kernel.kind, NodeKind::kDevice);
  EXPECT_EQ(kernel.parent, 0U);
  EXPECT_EQ(kernel.duration, microseconds(0));
  const ExecutionNode& collective = read.trace.nodes[3];
  EXPECT_EQ(collective.parent, 1U);
  EXPECT_EQ(collective.data_dependencies.count, 2U);
  EXPECT_EQ(read.text(collective.arguments.collective),
            R"({"Collective name":"allreduce","dtype":"Byte",)"
            R"("In msg nelems":64})");
  EXPECT_EQ(read.diagnostics.count(kStaleParents), 2);
}

TEST(ReadChakraJsonTest, DamagedNodesAreCounted) {
  const ExecutionRead read = ReadJsonNodes(
      R"({"workload_graph": [5, {"Id": 1}, {"Name": "a"},
          {"Id": 99999999999999999999, "Name": "a"},
          {"Id": 2, "Name": "good", "runtime": -1, "ctrlDeps": 4,
           "data_deps": ["x", 5], "is_cpu_op": 1}]})");
  ASSERT_EQ(read.error, "");
  ASSERT_EQ(read.trace.nodes.size(), 1U);
  EXPECT_EQ(read.trace.nodes[0].kind, NodeKind::kOp);
  EXPECT_EQ(read.trace.nodes[0].data_dependencies.count, 1U);
  EXPECT_EQ(read.diagnostics.count(kMalformedRecord), 1);
  EXPECT_EQ(read.diagnostics.count(kMissingField), 3);
  EXPECT_EQ(read.diagnostics.count(kBadNumber), 3);
}

TEST(ReadChakraJsonTest, NoNodesIsAnError) {
  EXPECT_EQ(ReadJsonNodes(R"({"workload_graph": []})").error,
            "holds no usable node; expected a Chakra trace");
  EXPECT_EQ(ReadJsonNodes(R"({"workload_graph": [{"Id")").error,
            "is cut off before the end of the first node");
}

TEST(ReadChakraJsonTest, TruncationAtEveryByteIsSurvived) {
  for (size_t size = 0; size < kTrace.size(); ++size) {
    const ExecutionRead read = ReadJsonNodes(kTrace.substr(0, size));
    if (read.error.empty()) {
      EXPECT_EQ(read.diagnostics.count(kTruncated), 1) << size;
    }
  }
}

TEST(ReadChakraJsonTest, SniffingLooksForTheTopLevelKey) {
  EXPECT_FALSE(SniffChakraJson(R"({"nodes": [{"workload_graph": []}]})"));
  EXPECT_FALSE(SniffChakraJson(R"([{"workload_graph": []}])"));
}

}  // namespace
}  // namespace stepcast::trace

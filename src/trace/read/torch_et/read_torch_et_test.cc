#include "trace/read/torch_et/read_torch_et.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/read/execution_trace_testing.h"
#include "trace/read/oddities.h"

namespace stepcast::trace {
namespace {

using ::testing::HasSubstr;

// An op inside a range inside the main thread, as schema 1.0.1 writes it.
constexpr std::string_view kSchema101 = R"json({
  "schema": "1.0.1", "pid": 7, "time": "now", "start_ts": 10,
  "nodes": [
    {"name": "[pytorch|profiler|execution_graph|thread]", "id": 2, "rf_id": 0,
     "parent": 1, "fw_parent": 0, "seq_id": -1, "scope": 7, "tid": 1,
     "fw_tid": 0, "op_schema": "", "inputs": [], "input_shapes": [],
     "input_types": [], "outputs": [], "output_shapes": [],
     "output_types": []},
    {"name": "aten::relu", "id": 8, "rf_id": 4, "parent": 7, "fw_parent": 3,
     "seq_id": 41, "scope": 0, "tid": 1, "fw_tid": 2,
     "op_schema": "aten::relu(Tensor self) -> Tensor",
     "inputs": [[5, 6, 0, 12, 4, "cuda:0"]], "input_shapes": [[3, 4]],
     "input_types": ["Tensor(float)"],
     "outputs": [[9, 10, 0, 12, 4, "cuda:0"]], "output_shapes": [[3, 4]],
     "output_types": ["Tensor(float)"]},
    {"name": "## forward ##", "id": 7, "rf_id": 3, "parent": 2, "fw_parent": 0,
     "seq_id": -1, "scope": 7, "tid": 1, "fw_tid": 0, "op_schema": "",
     "inputs": [], "input_shapes": [], "input_types": [], "outputs": [],
     "output_shapes": [], "output_types": []},
    {"name": "[pytorch|profiler|execution_graph|process]", "id": 1, "rf_id": 0,
     "parent": 1, "fw_parent": 0, "seq_id": -1, "scope": 7, "tid": 0,
     "fw_tid": 0, "op_schema": "", "inputs": [], "input_shapes": [],
     "input_types": [], "outputs": [], "output_shapes": [],
     "output_types": []}
  ],
  "finish_ts": 20
})json";

// The same op as schema 1.1.1 writes it.
constexpr std::string_view kSchema111 = R"json({
  "schema": "1.1.1-chakra.0.0.4", "pid": 7, "nodes": [
    {"id": 8, "name": "aten::relu", "ctrl_deps": 7,
     "inputs": {"values": [[5, 6, 0, 12, 4, "cuda:0"]], "shapes": [[3, 4]],
                "types": ["Tensor(float)"], "strides": [[4, 1]]},
     "outputs": {"values": [[9, 10, 0, 12, 4, "cuda:0"]], "shapes": [[3, 4]],
                 "types": ["Tensor(float)"], "strides": [[4, 1]]},
     "attrs": [{"name": "rf_id", "type": "uint64", "value": 4},
               {"name": "fw_parent", "type": "uint64", "value": 3},
               {"name": "seq_id", "type": "int64", "value": 41},
               {"name": "scope", "type": "uint64", "value": 0},
               {"name": "tid", "type": "uint64", "value": 1},
               {"name": "fw_tid", "type": "uint64", "value": 2},
               {"name": "op_schema", "type": "string",
                "value": "aten::relu(Tensor self) -> Tensor"},
               {"name": "kernel_backend", "type": "string", "value": ""}]},
    {"id": 7, "name": "## forward ##", "ctrl_deps": 2,
     "inputs": {"values": [], "shapes": [], "types": [], "strides": []},
     "outputs": {"values": [], "shapes": [], "types": [], "strides": []},
     "attrs": [{"name": "rf_id", "type": "uint64", "value": 3},
               {"name": "scope", "type": "uint64", "value": 7},
               {"name": "tid", "type": "uint64", "value": 1}]},
    {"id": 2, "name": "[pytorch|profiler|execution_trace|thread]",
     "ctrl_deps": 1, "attrs": [
               {"name": "rf_id", "type": "uint64", "value": 0},
               {"name": "scope", "type": "uint64", "value": 7},
               {"name": "tid", "type": "uint64", "value": 1}]}
  ]
})json";

ExecutionRead ReadText(std::string_view text) {
  return ReadExecution(ReadTorchEt, text);
}

// Nodes of schema 1.0.1, with defaults for what is not given.
std::string NodesDocument(std::string_view nodes) {
  return fmt::format(R"({{"schema": "1.0.1", "nodes": [{}]}})", nodes);
}

void ExpectRelu(const ExecutionRead& read) {
  const ExecutionNode& relu = read.node("aten::relu");
  EXPECT_EQ(relu.id, 8);
  EXPECT_EQ(relu.kind, NodeKind::kOp);
  EXPECT_EQ(relu.record_id, 4);
  EXPECT_EQ(relu.forward_parent, 3);
  EXPECT_EQ(relu.sequence, 41);
  EXPECT_EQ(relu.scope, 0);
  EXPECT_EQ(relu.thread, 1);
  EXPECT_EQ(relu.forward_thread, 2);
  EXPECT_EQ(read.text(relu.op_schema), "aten::relu(Tensor self) -> Tensor");
  EXPECT_EQ(read.text(relu.arguments.dims), "[[3, 4]]");
  EXPECT_EQ(read.text(relu.arguments.types), R"json(["Tensor(float)"])json");
  EXPECT_EQ(read.text(relu.arguments.values),
            R"([[5, 6, 0, 12, 4, "cuda:0"]])");
  EXPECT_EQ(read.text(relu.arguments.out_dims), "[[3, 4]]");
  EXPECT_EQ(read.text(relu.arguments.out_types),
            R"json(["Tensor(float)"])json");
  EXPECT_EQ(read.text(relu.arguments.out_values),
            R"([[9, 10, 0, 12, 4, "cuda:0"]])");
  EXPECT_EQ(read.text(read.trace.nodes[relu.parent].name), "## forward ##");
  EXPECT_EQ(read.node("## forward ##").kind, NodeKind::kAnnotation);
  EXPECT_FALSE(relu.start);
  EXPECT_FALSE(relu.duration);
}

TEST(ReadTorchEtTest, ReadsFlatNodesOfSchema101) {
  ASSERT_TRUE(SniffTorchEt(kSchema101));
  const ExecutionRead read = ReadText(kSchema101);
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.trace.info.format, "torch-et");
  EXPECT_EQ(read.trace.info.schema, "1.0.1");
  EXPECT_EQ(read.trace.info.text_bytes, kSchema101.size());
  ASSERT_EQ(read.trace.nodes.size(), 4U);
  EXPECT_EQ(read.trace.nodes[0].kind, NodeKind::kRoot);
  EXPECT_EQ(read.trace.nodes[1].kind, NodeKind::kRoot);
  ExpectRelu(read);
  EXPECT_TRUE(read.diagnostics.list().empty());
}

TEST(ReadTorchEtTest, ReadsNestedNodesOfSchema111) {
  ASSERT_TRUE(SniffTorchEt(kSchema111));
  const ExecutionRead read = ReadText(kSchema111);
  ASSERT_EQ(read.error, "");
  ExpectRelu(read);
  EXPECT_EQ(read.text(read.node("aten::relu").arguments.strides), "[[4, 1]]");
  EXPECT_TRUE(read.diagnostics.list().empty());
}

TEST(ReadTorchEtTest, ALaterMinorVersionIsReadByItsFields) {
  std::string text(kSchema111);
  text.replace(text.find("1.1.1"), 5, "1.9.2");
  const ExecutionRead read = ReadText(text);
  ASSERT_EQ(read.error, "");
  ExpectRelu(read);
}

TEST(ReadTorchEtTest, AnotherMajorVersionIsAnError) {
  for (const char* schema : {"2.0.0", "0.9", "x", "", "10.1", "1x"}) {
    const ExecutionRead read =
        ReadText(fmt::format(R"({{"schema": "{}", "nodes": []}})", schema));
    EXPECT_EQ(read.error,
              fmt::format("schema '{}' of execution traces is not known; "
                          "expected 1.x",
                          schema));
  }
}

// What PARAM's linker makes of a trace: times on ops, device events as nodes.
TEST(ReadTorchEtTest, ReadsLinkedDeviceEvents) {
  const ExecutionRead read = ReadText(NodesDocument(R"json(
      {"id": 3, "name": "aten::copy_", "rf_id": 1, "tid": 2,
       "ts": 1694128201428000, "dur": 12},
      {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy HtoD", "pid": 0,
       "tid": 22, "ts": 1694128201428003.25, "dur": 1.5,
       "args": {"External id": 4, "device": 0, "stream": 22,
                "correlation": 40, "bytes": 832},
       "parent": 3, "id": 4,
       "inputs": [], "input_shapes": [], "input_types": []},
      {"ph": "X", "cat": "kernel", "name": "void f<1>()", "tid": 7, "ts": 9,
       "dur": 0, "parent": 3, "id": 5})json"));
  ASSERT_EQ(read.error, "");
  using std::chrono::microseconds;
  using std::chrono::nanoseconds;
  const ExecutionNode& op = read.node("aten::copy_");
  EXPECT_EQ(op.start, microseconds(1694128201428000));
  EXPECT_EQ(op.duration, microseconds(12));
  const ExecutionNode& copy = read.node("Memcpy HtoD");
  EXPECT_EQ(copy.kind, NodeKind::kDevice);
  EXPECT_EQ(copy.device_kind, DeviceEventKind::kMemcpy);
  EXPECT_EQ(copy.stream, 22);
  EXPECT_EQ(copy.correlation, 40);
  EXPECT_EQ(copy.bytes, 832);
  EXPECT_EQ(copy.start, nanoseconds(1694128201428003250));
  EXPECT_EQ(copy.duration, nanoseconds(1500));
  EXPECT_EQ(copy.thread, 2);
  EXPECT_EQ(copy.parent, 0U);
  const ExecutionNode& kernel = read.node("void f<1>()");
  EXPECT_EQ(kernel.device_kind, DeviceEventKind::kKernel);
  EXPECT_EQ(kernel.stream, 7);
  EXPECT_EQ(kernel.duration, nanoseconds(0));
}

TEST(ReadTorchEtTest, LayoutDoesNotChangeTheTextOfArguments) {
  const ExecutionRead read = ReadText(NodesDocument(R"(
      {"id": 3, "name": "a", "input_shapes": [
          [
              16,
              13
          ],
          [], "a\" , b"
      ]})"));
  EXPECT_EQ(read.text(read.node("a").arguments.dims),
            R"([[16, 13], [], "a\" , b"])");
}

// 1.0.1 gives no group size, but another collective of the group has splits.
TEST(ReadTorchEtTest, NormalisesCollectivesOfSchema101) {
  const ExecutionRead read = ReadText(NodesDocument(R"json(
      {"id": 3, "name": "record_param_comms", "rf_id": 1,
       "inputs": [[7, 5, 0, 60, 4, "cuda:0"], 14, 94594, 3, "all_to_allv",
                  [10, 20, 30, 0], [15, 15, 15, 15]],
       "input_types": ["Tensor(float)"],
       "outputs": [[8, 6, 0, 60, 4, "cuda:0"]]},
      {"id": 4, "name": "record_param_comms", "rf_id": 2,
       "inputs": [[7, 5, 0, 60, 4, "cuda:0"], 15, 94594, 3, "allreduce",
                  [], []],
       "input_types": ["Tensor(float)"],
       "outputs": [[8, 6, 0, 60, 4, "cuda:0"]]},
      {"id": 5, "name": "record_param_comms", "rf_id": 3,
       "inputs": [[7, 5, 0, 60, 4, "cuda:0"], 15, 94594, 0, "broadcast",
                  [], []]},
      {"id": 6, "name": "aten::add", "rf_id": 4})json"));
  ASSERT_EQ(read.trace.nodes.size(), 4U);
  EXPECT_EQ(read.text(read.trace.nodes[0].arguments.collective),
            R"({"Collective name":"all_to_allv","dtype":"float",)"
            R"("In msg nelems":60,"Out msg nelems":60,)"
            R"("In split size":"[10, 20, 30, 0]",)"
            R"("Out split size":"[15, 15, 15, 15]","Group size":4})");
  EXPECT_THAT(read.text(read.trace.nodes[1].arguments.collective),
              HasSubstr(R"("Group size":4)"));
  EXPECT_EQ(read.text(read.trace.nodes[3].arguments.collective), "");
  EXPECT_EQ(read.trace.info.rank, 3);  // A broadcast records its root's.
  EXPECT_EQ(read.trace.info.world_size, 4);
}

TEST(ReadTorchEtTest, CollectiveAttributesGoBeforePositions) {
  const ExecutionRead read = ReadText(NodesDocument(R"(
      {"id": 3, "name": "record_param_comms", "ctrl_deps": 2,
       "inputs": {"values": [[[7, 5, 0, 60, 4, "cuda:0"]], 14,
                  ["0", "default_pg"], 1, "allreduce", [], [], 0, 1, 2]},
       "attrs": [
         {"name": "collective_name", "type": "string", "value": "allreduce"},
         {"name": "dtype", "type": "string", "value": "Float"},
         {"name": "in_msg_nelems", "type": "uint64", "value": 60},
         {"name": "out_msg_nelems", "type": "uint64", "value": 61},
         {"name": "in_split_size", "type": "string", "value": "[]"},
         {"name": "out_split_size", "type": "string", "value": "[]"},
         {"name": "pg_name", "type": "string", "value": "0"},
         {"name": "pg_desc", "type": "string", "value": "default_pg"},
         {"name": "pg_size", "type": "uint64", "value": 2}]},
      {"id": 4, "name": "aten::add", "attrs": []})"));
  EXPECT_EQ(read.text(read.trace.nodes[0].arguments.collective),
            R"({"Collective name":"allreduce","dtype":"Float",)"
            R"("In msg nelems":60,"Out msg nelems":61,)"
            R"("In split size":"[]","Out split size":"[]",)"
            R"("Process Group Name":"0",)"
            R"("Process Group Description":"default_pg","Group size":2,)"
            R"("Global rank start":0,"Global rank stride":1})");
  EXPECT_EQ(read.text(read.trace.nodes[1].arguments.collective), "");
  EXPECT_EQ(read.trace.info.rank, 1);
}

TEST(ReadTorchEtTest, WorldSizeAndBackendComeFromTheProcessGroups) {
  const ExecutionRead read = ReadText(NodesDocument(R"(
      {"id": 3, "name": "## process_group:init ##", "inputs":
       ["[{\"pg_name\": \"1\", \"pg_desc\": \"undefined\",
           \"backend_config\": \"cpu:gloo\", \"group_size\": 2},
          {\"pg_name\": \"0\", \"pg_desc\": \"default_pg\",
           \"backend_config\": \"cpu:gloo,cuda:nccl\", \"ranks\": [],
           \"group_size\": 16, \"group_count\": 2}]"]})"));
  EXPECT_EQ(read.trace.info.world_size, 16);
  EXPECT_EQ(read.trace.info.backend, "nccl");
  EXPECT_FALSE(read.trace.info.rank);
}

// Ranks within a group other than the default one say nothing about the job.
TEST(ReadTorchEtTest, TheRankIsNotTakenFromOtherGroups) {
  const ExecutionRead read = ReadText(NodesDocument(R"(
      {"id": 3, "name": "record_param_comms", "inputs":
       [14, ["5", "mesh"], 1, "allreduce", [], [], 0, 1, 2]})"));
  EXPECT_FALSE(read.trace.info.rank);
  EXPECT_FALSE(read.trace.info.world_size);
}

TEST(ReadTorchEtTest, NodesWithoutIdOrNameAreLeftOutAndCounted) {
  const ExecutionRead read = ReadText(NodesDocument(
      R"({"name": "no id"}, {"id": 1}, {"id": "x", "name": "bad id"},
         {"id": 2, "name": 5}, 17, "text", [], null,
         {"id": 3, "name": "good"})"));
  ASSERT_EQ(read.error, "");
  ASSERT_EQ(read.trace.nodes.size(), 1U);
  EXPECT_EQ(read.diagnostics.count(kMissingField), 4);
  EXPECT_EQ(read.diagnostics.count(kMalformedRecord), 4);
}

TEST(ReadTorchEtTest, NumbersThatAreNoneAreCountedAndLeftOut) {
  const ExecutionRead read = ReadText(NodesDocument(
      R"({"id": 1, "name": "a", "seq_id": 99999999999999999999,
          "rf_id": 1.5, "tid": "two", "dur": -3, "ts": 1e400},
         {"id": 2, "name": "b", "dur": NaN, "ts": 9e15, "parent": {}})"));
  ASSERT_EQ(read.error, "");
  const ExecutionNode& a = read.node("a");
  EXPECT_EQ(a.sequence, -1);
  EXPECT_EQ(a.record_id, -1);
  EXPECT_EQ(a.thread, 0);
  EXPECT_FALSE(a.duration);
  EXPECT_FALSE(a.start);
  EXPECT_FALSE(read.node("b").duration);
  EXPECT_FALSE(read.node("b").start);
  EXPECT_EQ(read.diagnostics.count(kBadNumber), 8);
}

TEST(ReadTorchEtTest, WrongTypesOfOtherFieldsAreIgnored) {
  const ExecutionRead read = ReadText(NodesDocument(
      R"({"id": 1, "name": "a", "inputs": 5, "outputs": "x", "attrs": {},
          "args": [], "cat": 7, "op_schema": [], "input_shapes": {},
          "parent": null, "ts": null, "dur": null},
         {"id": 2, "name": "b", "inputs": {"values": 3, "shapes": {}},
          "attrs": [5, [], {"name": 3, "value": 4}, {"value": 1},
                    {"name": "tid"}], "ctrl_deps": [1]})"));
  ASSERT_EQ(read.error, "");
  ASSERT_EQ(read.trace.nodes.size(), 2U);
  EXPECT_EQ(read.text(read.trace.nodes[0].arguments.values), "");
  EXPECT_EQ(read.trace.nodes[1].parent, 0U);
  EXPECT_TRUE(read.diagnostics.list().empty());
}

TEST(ReadTorchEtTest, CyclesAndMissingParentsAreCounted) {
  const ExecutionRead read = ReadText(NodesDocument(
      R"({"id": 1, "name": "a", "parent": 2}, {"id": 2, "name": "b",
          "parent": 1}, {"id": 3, "name": "c", "parent": 9})"));
  EXPECT_EQ(read.trace.nodes.size(), 3U);
  EXPECT_EQ(read.diagnostics.count(kBadParent), 2);
}

TEST(ReadTorchEtTest, NoNodesIsAnError) {
  EXPECT_EQ(ReadText(NodesDocument("")).error,
            "holds no usable node; expected an execution trace");
  EXPECT_EQ(ReadText(R"({"schema": "1.0.1"})").error,
            "holds no usable node; expected an execution trace");
  EXPECT_EQ(ReadText(R"({"schema": "1.0.1", "nodes": [{"id": )").error,
            "is cut off before the end of the first node");
}

// Cut anywhere, the nodes before the cut are there, and nothing else happens.
TEST(ReadTorchEtTest, TruncationAtEveryByteIsSurvived) {
  for (const std::string_view text : {kSchema101, kSchema111}) {
    const size_t first_end = text.find("}", text.find("nodes")) + 1;
    for (size_t size = 0; size < text.size(); ++size) {
      const ExecutionRead read = ReadText(text.substr(0, size));
      if (read.error.empty()) {
        EXPECT_GE(size, first_end);
        EXPECT_EQ(read.diagnostics.count(kTruncated), 1) << size;
      }
    }
  }
}

TEST(ReadTorchEtTest, EveryByteReplacedGivesNodesOrALineWhyNot) {
  for (const char bad : {'"', '\xFF'}) {
    std::string text(kSchema111);
    for (char& c : text) {
      const char good = std::exchange(c, bad);
      const ExecutionRead read = ReadText(text);
      ASSERT_EQ(read.trace.nodes.empty(), !read.error.empty()) << read.error;
      ASSERT_THAT(read.error, Not(HasSubstr("\n")));
      c = good;
    }
  }
}

TEST(ReadTorchEtTest, SniffingDistinguishesExecutionTracesFromOtherJson) {
  EXPECT_TRUE(SniffTorchEt(R"({"nodes": [{"id": 1, "ctrl_deps": 3,)"));
  EXPECT_TRUE(SniffTorchEt(R"({"schema": "7.0", "pid": 1)"));
  EXPECT_FALSE(SniffTorchEt(""));
  EXPECT_FALSE(SniffTorchEt(R"({"schemaVersion": 1, "traceEvents": [)"));
  EXPECT_FALSE(SniffTorchEt(R"({"nodes": [{"id": 1, "edges": []}]})"));
  EXPECT_FALSE(SniffTorchEt(R"({"traceEvents": [{"nodes": [{"rf_id": 1}]}]})"));
  EXPECT_FALSE(SniffTorchEt(R"([{"schema": "1.0.1", "nodes": []}])"));
  EXPECT_FALSE(SniffTorchEt("graph\n"));
}

}  // namespace
}  // namespace stepcast::trace

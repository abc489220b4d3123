#include "trace/read/chakra/read_chakra.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/read/chakra/chakra.pb.h"
#include "trace/read/chakra/write_chakra.h"
#include "trace/read/execution_trace_testing.h"
#include "trace/read/oddities.h"

namespace stepcast::trace {
namespace {

using std::chrono::microseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::string Delimited(std::string_view record) {
  std::string out;
  size_t size = record.size();
  while (size >= 0x80) {
    out += static_cast<char>(size | 0x80U);
    size >>= 7;
  }
  out += static_cast<char>(size);
  return out.append(record);
}

std::string Metadata(std::string_view schema = "1.1.0-chakra.0.0.4") {
  chakra::GlobalMetadata metadata;
  AddText("schema", schema, metadata);
  AddInteger("pid", 7, metadata);
  return Delimited(metadata.SerializeAsString());
}

chakra::Node HostNode(uint64_t id, std::string_view name, uint64_t parent) {
  chakra::Node node;
  node.set_id(id);
  node.set_name(std::string(name));
  node.set_type(chakra::COMP_NODE);
  node.add_control_dependencies(parent);
  AddBool("is_cpu_op", true, node);
  AddInteger("rf_id", static_cast<int64_t>(id), node);
  AddInteger("tid", 1, node);
  return node;
}

chakra::Node DeviceNode(uint64_t id, std::string_view name, uint64_t parent) {
  chakra::Node node;
  node.set_id(id);
  node.set_name(std::string(name));
  node.set_type(chakra::COMP_NODE);
  node.add_control_dependencies(parent);
  AddBool("is_cpu_op", false, node);
  return node;
}

std::string File(const std::vector<chakra::Node>& nodes) {
  std::string out = Metadata();
  for (const chakra::Node& node : nodes) {
    out += Delimited(node.SerializeAsString());
  }
  return out;
}

ExecutionRead ReadBytes(std::string_view bytes) {
  return ReadExecution(ReadChakra, bytes);
}

TEST(ReadChakraTest, ReadsTheFieldsOfANode) {
  chakra::Node node = HostNode(8, "aten::relu", 7);
  node.set_start_time_micros(100);
  node.set_duration_micros(12);
  node.add_data_dependencies(3);
  node.add_data_dependencies(7);
  node.mutable_inputs()->set_values("[[5, 6, 0, 12, 4, 'cuda:0']]");
  node.mutable_inputs()->set_shapes("[[3, 4]]");
  node.mutable_inputs()->set_types("['Tensor(float)']");
  node.mutable_outputs()->set_values("[[9, 10, 0, 12, 4, 'cuda:0']]");
  node.mutable_outputs()->set_shapes("[[3, 4, 1]]");
  node.mutable_outputs()->set_types("['Tensor(int)']");
  AddInteger("fw_parent", 3, node);
  AddInteger("seq_id", -1, node);
  AddInteger("scope", 0, node);
  AddInteger("fw_tid", 2, node);
  AddText("op_schema", "aten::relu(Tensor self) -> Tensor", node);
  const std::string bytes = File({HostNode(7, "range", 0), node});
  ASSERT_TRUE(SniffChakra(bytes));
  const ExecutionRead read = ReadBytes(bytes);
  ASSERT_EQ(read.error, "");
  EXPECT_EQ(read.trace.info.format, "chakra");
  EXPECT_EQ(read.trace.info.schema, "1.1.0-chakra.0.0.4");
  EXPECT_EQ(read.trace.info.text_bytes, bytes.size());
  ASSERT_EQ(read.trace.nodes.size(), 2U);
  const ExecutionNode& relu = read.trace.nodes[1];
  EXPECT_EQ(relu.id, 8);
  EXPECT_EQ(relu.kind, NodeKind::kOp);
  EXPECT_EQ(relu.parent, 0U);
  EXPECT_EQ(relu.record_id, 8);
  EXPECT_EQ(relu.thread, 1);
  EXPECT_EQ(relu.forward_parent, 3);
  EXPECT_EQ(relu.forward_thread, 2);
  EXPECT_EQ(relu.sequence, -1);
  EXPECT_EQ(relu.start, microseconds(100));
  EXPECT_EQ(relu.duration, microseconds(12));
  EXPECT_EQ(read.text(relu.op_schema), "aten::relu(Tensor self) -> Tensor");
  EXPECT_EQ(read.text(relu.arguments.values), "[[5, 6, 0, 12, 4, 'cuda:0']]");
  EXPECT_EQ(read.text(relu.arguments.dims), "[[3, 4]]");
  EXPECT_EQ(read.text(relu.arguments.types), "['Tensor(float)']");
  EXPECT_EQ(read.text(relu.arguments.out_values),
            "[[9, 10, 0, 12, 4, 'cuda:0']]");
  EXPECT_EQ(read.text(relu.arguments.out_dims), "[[3, 4, 1]]");
  EXPECT_EQ(read.text(relu.arguments.out_types), "['Tensor(int)']");
  ASSERT_EQ(relu.data_dependencies.count, 2U);
  EXPECT_EQ(read.trace.dependencies[relu.data_dependencies.first + 1], 7);
}

// The 1.0.1 vintage: ops cut in parts, control dependencies of an older
// numbering, device events with their stream as tid.
//
//   copy(0) --launches--> Memcpy,  copy(1),  mul
TEST(ReadChakraTest, JoinsTheNamesOfPartsAndMistrustsTheirParents) {
  chakra::Node first = HostNode(10, "aten::copy_(0)", 3);
  chakra::Node second = HostNode(12, "aten::copy_(1)", 11);
  for (chakra::Attribute& attribute : *second.mutable_attributes()) {
    if (attribute.name() == "rf_id") {
      attribute.set_int64_value(10);
    }
  }
  chakra::Node copy = DeviceNode(11, "Memcpy DtoD (Device -> Device)", 12);
  copy.add_data_dependencies(10);
  copy.add_data_dependencies(12);
  AddInteger("tid", 7, copy);
  const ExecutionRead read =
      ReadBytes(File({first, copy, second, HostNode(13, "aten::mul(2)", 11)}));
  EXPECT_THAT(read.names(),
              ElementsAre("aten::copy_", "aten::copy_", "aten::mul(2)",
                          "Memcpy DtoD (Device -> Device)"));
  EXPECT_THAT(read.parents(), ElementsAre(0, 0, 0, 10));
  EXPECT_EQ(read.trace.nodes[3].stream, 7);
  EXPECT_EQ(read.trace.nodes[3].device_kind, DeviceEventKind::kMemcpy);
  EXPECT_EQ(read.diagnostics.count(kStaleParents), 3);
  EXPECT_EQ(read.diagnostics.count(kBadParent), 0);
}

// Later vintages nest, and write times without those of the ops inside:
// item 7 + local_scalar 51 + set 2 = 60.
TEST(ReadChakraTest, AddsUpTheTimesOfNestedOps) {
  chakra::Node item = HostNode(2, "aten::item", 1);
  item.set_duration_micros(7);
  chakra::Node scalar = HostNode(3, "aten::_local_scalar_dense", 2);
  scalar.set_duration_micros(51);
  chakra::Node set = HostNode(4, "aten::set_", 2);
  set.set_duration_micros(2);
  const ExecutionRead read =
      ReadBytes(File({HostNode(1, "range", 0), item, scalar, set}));
  ASSERT_EQ(read.trace.nodes.size(), 4U);
  EXPECT_FALSE(read.trace.nodes[0].duration);
  EXPECT_EQ(read.trace.nodes[1].duration, microseconds(60));
  EXPECT_EQ(read.trace.nodes[2].duration, microseconds(51));
}

TEST(ReadChakraTest, TimesThatHoldThoseInsideAreKept) {
  chakra::Node item = HostNode(2, "aten::item", 0);
  item.set_duration_micros(60);
  chakra::Node scalar = HostNode(3, "aten::_local_scalar_dense", 2);
  scalar.set_duration_micros(51);
  const ExecutionRead read = ReadBytes(File({item, scalar}));
  EXPECT_EQ(read.trace.nodes[0].duration, microseconds(60));
}

TEST(ReadChakraTest, DeviceWorkWithoutDurationTookNoTime) {
  chakra::Node kernel = DeviceNode(2, "f", 1);
  kernel.set_duration_micros(3);
  const ExecutionRead read =
      ReadBytes(File({HostNode(1, "op", 0), kernel, DeviceNode(3, "g", 1)}));
  EXPECT_FALSE(read.trace.nodes[0].duration);
  EXPECT_EQ(read.trace.nodes[2].duration, microseconds(0));
  const ExecutionRead untimed = ReadBytes(File({DeviceNode(3, "g", 1)}));
  EXPECT_FALSE(untimed.trace.nodes[0].duration);
}

// Where the attributes of the launching op were copied, tid is its thread.
TEST(ReadChakraTest, TheStreamIsNotInferredFromAHostThread) {
  chakra::Node kernel = DeviceNode(2, "f", 1);
  AddInteger("rf_id", 1, kernel);
  AddInteger("tid", 4, kernel);
  chakra::Node other = DeviceNode(3, "g", 1);
  AddInteger("stream", 20, other);
  const ExecutionRead read =
      ReadBytes(File({HostNode(1, "op", 0), kernel, other}));
  EXPECT_EQ(read.trace.nodes[1].stream, -1);
  EXPECT_EQ(read.trace.nodes[1].thread, 1);
  EXPECT_EQ(read.trace.nodes[2].stream, 20);
}

TEST(ReadChakraTest, ReadsCollectives) {
  chakra::Node kernel = DeviceNode(2, "ncclKernel_AllToAll", 1);
  kernel.set_type(chakra::COMM_COLL_NODE);
  kernel.mutable_inputs()->set_values("[[5, 6, 0, 12, 4, 'cuda:0']]");
  kernel.mutable_inputs()->set_types("['Tensor(float)']");
  AddInteger("comm_type", chakra::ALL_TO_ALL, kernel);
  AddInteger("comm_size", 48, kernel);
  chakra::Node send = DeviceNode(3, "send", 1);
  send.set_type(chakra::COMM_SEND_NODE);
  AddInteger("comm_size", 5, send);
  const ExecutionRead read =
      ReadBytes(File({HostNode(1, "op", 0), kernel, send}));
  EXPECT_EQ(read.text(read.trace.nodes[1].arguments.collective),
            R"({"Collective name":"all_to_all","dtype":"float",)"
            R"("In msg nelems":12})");
  EXPECT_EQ(read.text(read.trace.nodes[2].arguments.collective),
            R"({"Collective name":"send","dtype":"Byte","In msg nelems":5})");
}

// Generated traces do not say where nodes run.
TEST(ReadChakraTest, NodesThatDoNotSayRunOnTheDevice) {
  chakra::Node compute;
  compute.set_id(1);
  compute.set_name("layer_0");
  compute.set_type(chakra::COMP_NODE);
  chakra::Node load = compute;
  load.set_id(2);
  load.set_type(chakra::MEM_LOAD_NODE);
  AddInteger("tensor_size", 4096, load);
  chakra::Node metadata = compute;
  metadata.set_id(3);
  metadata.set_type(chakra::METADATA_NODE);
  const ExecutionRead read = ReadBytes(File({compute, load, metadata}));
  ASSERT_EQ(read.trace.nodes.size(), 3U);
  EXPECT_EQ(read.trace.nodes[0].kind, NodeKind::kOp);
  EXPECT_EQ(read.trace.nodes[1].kind, NodeKind::kDevice);
  EXPECT_EQ(read.trace.nodes[1].device_kind, DeviceEventKind::kKernel);
  EXPECT_EQ(read.trace.nodes[2].device_kind, DeviceEventKind::kMemcpy);
  EXPECT_EQ(read.trace.nodes[2].bytes, 4096);
}

TEST(ReadChakraTest, AttributesOfAnyNumberTypeAreRead) {
  chakra::Node node = HostNode(1, "a", 0);
  node.clear_attributes();
  const auto add = [&](const char* name) {
    chakra::Attribute* attribute = node.add_attributes();
    attribute->set_name(name);
    return attribute;
  };
  add("rf_id")->set_uint64_value(5);
  add("fw_parent")->set_double_value(6);
  add("seq_id")->set_sint32_value(-7);
  add("scope")->set_fixed32_value(7);
  add("tid")->set_uint32_value(9);
  add("fw_tid")->set_sfixed64_value(10);
  add("is_cpu_op")->set_int32_value(1);
  const ExecutionRead read = ReadBytes(File({node}));
  const ExecutionNode& out = read.trace.nodes.front();
  EXPECT_EQ(out.record_id, 5);
  EXPECT_EQ(out.forward_parent, 6);
  EXPECT_EQ(out.sequence, -7);
  EXPECT_EQ(out.kind, NodeKind::kAnnotation);
  EXPECT_EQ(out.thread, 9);
  EXPECT_EQ(out.forward_thread, 10);
}

TEST(ReadChakraTest, NumbersBeyond64BitsAreCounted) {
  chakra::Node node = HostNode(1, "a", 0);
  node.set_duration_micros(~uint64_t{0});
  chakra::Attribute* attribute = node.add_attributes();
  attribute->set_name("seq_id");
  attribute->set_uint64_value(~uint64_t{0});
  AddInteger("duration_nanos", -5, node);
  chakra::Node huge = HostNode(~uint64_t{0}, "b", 0);
  const ExecutionRead read = ReadBytes(File({node, huge}));
  ASSERT_EQ(read.trace.nodes.size(), 1U);
  EXPECT_FALSE(read.trace.nodes[0].duration);
  EXPECT_EQ(read.trace.nodes[0].sequence, -1);
  EXPECT_EQ(read.diagnostics.count(kBadNumber), 4);
}

TEST(ReadChakraTest, InvalidUtf8IsReplacedAndCounted) {
  const ExecutionRead read = ReadBytes(File({HostNode(1, "a\xFF\xC3\xA4", 0)}));
  EXPECT_THAT(read.names(), ElementsAre("a?\xC3\xA4"));
  EXPECT_EQ(read.diagnostics.count(kInvalidUtf8), 1);
}

TEST(ReadChakraTest, UnknownFieldsAndAttributesAreHarmless) {
  chakra::Node node = HostNode(1, "a", 0);
  AddText("tid", "words", node);
  AddInteger("brand_new", 5, node);
  node.add_attributes();  // Nameless and valueless.
  // Field 200 with five bytes; field 9 of the wrong wire type.
  const std::string record = node.SerializeAsString() + std::string(
                                                            "\xC2\x0C\x05"
                                                            "hello"
                                                            "\x48\x01");
  const ExecutionRead read = ReadBytes(Metadata() + Delimited(record));
  ASSERT_EQ(read.error, "");
  EXPECT_THAT(read.names(), ElementsAre("a"));
}

TEST(ReadChakraTest, RecordsThatAreNotNodesAreCounted) {
  const std::string bytes = Metadata() + Delimited("\xFF\xFF\xFF") +
                            Delimited("") +
                            Delimited(HostNode(1, "a", 0).SerializeAsString());
  const ExecutionRead read = ReadBytes(bytes);
  EXPECT_THAT(read.names(), ElementsAre("a"));
  EXPECT_EQ(read.diagnostics.count(kMalformedRecord), 2);
}

TEST(ReadChakraTest, SaysWhatIsWrongWithAnUnusableFile) {
  EXPECT_THAT(ReadBytes("").error, HasSubstr("does not begin with"));
  EXPECT_THAT(ReadBytes("\x03\xFF\xFF\xFF").error,
              HasSubstr("does not begin with"));
  EXPECT_EQ(ReadBytes(Metadata()).error,
            "holds no usable node; expected a Chakra trace");
  EXPECT_EQ(ReadBytes(Metadata() + "\x10\x08").error,
            "is cut off before the end of the first node");
  EXPECT_THAT(ReadBytes(Metadata() + "\x80\x80\x80\x80\x10").error,
              HasSubstr("no record has this length"));
}

TEST(ReadChakraTest, TruncationAtEveryByteIsSurvived) {
  const std::string bytes =
      File({HostNode(1, "op", 0), DeviceNode(2, "kernel", 1)});
  const size_t first_node =
      bytes.size() -
      Delimited(DeviceNode(2, "kernel", 1).SerializeAsString()).size();
  for (size_t size = 0; size < bytes.size(); ++size) {
    const ExecutionRead read = ReadBytes(bytes.substr(0, size));
    EXPECT_EQ(read.error.empty(), size >= first_node) << size;
    if (size > first_node) {
      EXPECT_EQ(read.diagnostics.count(kTruncated), 1) << size;
    }
  }
}

TEST(ReadChakraTest, EveryByteReplacedGivesNodesOrALineWhyNot) {
  chakra::Node kernel = DeviceNode(2, "kernel", 1);
  kernel.add_data_dependencies(1);
  kernel.mutable_inputs()->set_values("[[5, 6, 0, 12, 4, 'cuda:0']]");
  AddInteger("comm_type", 6, kernel);
  std::string bytes = File({HostNode(1, "op(0)", 0), kernel});
  for (const char bad : {'\0', '\x01', '\x7F', '\xFF'}) {
    for (char& c : bytes) {
      const char good = std::exchange(c, bad);
      const ExecutionRead read = ReadBytes(bytes);
      ASSERT_EQ(read.trace.nodes.empty(), !read.error.empty()) << read.error;
      ASSERT_THAT(read.error, Not(HasSubstr("\n")));
      c = good;
    }
  }
}

TEST(ReadChakraTest, SniffingClaimsNothingElse) {
  const std::string node = Delimited(HostNode(1, "a", 0).SerializeAsString());
  chakra::GlobalMetadata version;
  version.set_version("0.0.4");
  EXPECT_TRUE(SniffChakra(Delimited(version.SerializeAsString())));
  EXPECT_TRUE(SniffChakra(Metadata() + node));
  EXPECT_TRUE(SniffChakra(Metadata() + node.substr(0, 5)));
  EXPECT_TRUE(SniffChakra(std::string(1, '\0') + node));  // Empty metadata.
  EXPECT_FALSE(SniffChakra(""));
  EXPECT_FALSE(SniffChakra(std::string(64, '\0')));
  EXPECT_FALSE(SniffChakra(std::string(64, '\xFF')));
  EXPECT_FALSE(SniffChakra(node));
  EXPECT_FALSE(SniffChakra(R"({"schema": "1.0.1", "nodes": []})"));
  EXPECT_FALSE(SniffChakra("\n\n\n\n\n\n\n\n\n\n\n\n"));
  EXPECT_FALSE(SniffChakra("graph\nrank 0\n"));
  EXPECT_FALSE(SniffChakra("\x1F\x8B\x08" + std::string(100, 'x')));
}

}  // namespace
}  // namespace stepcast::trace

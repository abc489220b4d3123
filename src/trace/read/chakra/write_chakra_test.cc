#include "trace/read/chakra/write_chakra.h"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "ir/graph_builder.h"
#include "trace/read/chakra/chakra.pb.h"
#include "trace/read/chakra/read_chakra.h"

namespace stepcast::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)

constexpr ir::Device kGpu = ir::Device::kGpu;

// Rank 5 of a job, after rank 4, which has one op:
//
//   main   [forward 0..100us         ] [wait(1) 110..120us] [next 130..131us]
//           [mm 10..40]  [a2a 50..60]
//   stream 7      gemm 20..35, memset 36..37
//   stream 20                  a2a 55..75 (waits for the memset), copy 76..78
//
// "wait(1)" launches the copy and waits for it.
class WriteChakraTest : public ::testing::Test {
 protected:
  WriteChakraTest() {
    const ir::RankId other = builder_.AddRank({.number = 4});
    const ir::ThreadId other_thread =
        builder_.AddThread({.rank = other, .role = ir::ThreadRole::kMain});
    builder_.AddOp({.name = builder_.Intern("other"), .thread = other_thread});
    const ir::RankId rank = builder_.AddRank({.number = 5});
    thread_ = builder_.AddThread({.rank = rank, .role = ir::ThreadRole::kMain});
    compute_ = builder_.AddStream({.rank = rank, .number = 7});
    network_ = builder_.AddStream({.rank = rank, .number = 20});
    AddOps();
    AddActivities();
    auto graph = std::move(builder_).Build();
    EXPECT_TRUE(graph) << graph.error().message;
    graph_.emplace(*std::move(graph));
  }

  void AddOps() {
    forward_ = AddOp("## forward ##", {}, {.start = 0ns, .duration = 100us},
                     ir::OpKind::kAnnotation);
    mm_ = builder_.AddOp(
        {.name = builder_.Intern("aten::mm"),
         .thread = thread_,
         .parent = forward_,
         .sequence = 41,
         .measured = ir::Measured{.start = 10us, .duration = 30us}},
        {{.dims = {2, 3},
          .dtype = ir::DType::kFp32,
          .device = kGpu,
          .storage = 9},
         {.dims = {3, 4},
          .dtype = ir::DType::kBf16,
          .device = ir::Device::kCpu}},
        {{.dims = {}, .dtype = ir::DType::kInt64}});
    all_to_all_ = AddOp("c10d::alltoall_base_", forward_,
                        {.start = 50us, .duration = 10us});
    wait_ = AddOp("wait(1)", {}, {.start = 110us, .duration = 10us});
    AddOp("next", {}, {.start = 130us, .duration = 1234ns});
  }

  void AddActivities() {
    AddActivity("gemm", ir::ActivityKind::kKernel, compute_, mm_,
                ir::Gemm{.batch = 1, .m = 2, .n = 4, .k = 3},
                {.start = 20us, .duration = 15us});
    const ir::ActivityId memset = AddActivity(
        "fill buffer", ir::ActivityKind::kMemset, compute_, mm_,
        ir::Fill{.bytes = {512}}, {.start = 36us, .duration = 1001ns});
    const ir::ActivityId exchange = AddActivity(
        "ncclSendRecv", ir::ActivityKind::kCollective, network_, all_to_all_,
        ir::Collective{.kind = ir::CollectiveKind::kAllToAll,
                       .bytes = {48},
                       .group_size = 8,
                       .dtype = ir::DType::kFp32,
                       .send_splits = {1, 2, 9},
                       .receive_splits = {4, 4, 4}},
        {.start = 55us, .duration = 20us});
    const ir::ActivityId copy = AddActivity(
        "CopyDeviceToHost", ir::ActivityKind::kMemcpy, network_, wait_,
        ir::Copy{.kind = ir::CopyKind::kDeviceToHost, .bytes = {96}},
        {.start = 76us, .duration = 0ns});
    builder_.AddStreamWait({.before = memset, .after = exchange});
    const ir::CallId sync = builder_.AddCall(
        {.name = builder_.Intern("cudaStreamSynchronize"),
         .kind = ir::CallKind::kStreamSync,
         .thread = thread_,
         .op = wait_,
         .stream = network_,
         .measured = ir::Measured{.start = 115us, .duration = 4us}});
    builder_.AddHostWait({.before = copy, .call = sync});
  }

  ir::OpId AddOp(std::string_view name, ir::OpId parent, ir::Measured measured,
                 ir::OpKind kind = ir::OpKind::kOp) {
    return builder_.AddOp({.name = builder_.Intern(name),
                           .kind = kind,
                           .thread = thread_,
                           .parent = parent,
                           .measured = measured});
  }

  ir::ActivityId AddActivity(std::string_view name, ir::ActivityKind kind,
                             ir::StreamId stream, ir::OpId op,
                             const ir::KernelShape& shape,
                             ir::Measured measured) {
    const ir::CallId call = builder_.AddCall(
        {.name = builder_.Intern("cudaLaunchKernel"),
         .thread = thread_,
         .op = op,
         .measured =
             ir::Measured{.start = *measured.start - 5us, .duration = 2us}});
    return builder_.AddActivity({.name = builder_.Intern(name),
                                 .kind = kind,
                                 .stream = stream,
                                 .call = call,
                                 .measured = measured},
                                shape);
  }

  std::string Write(uint32_t rank) const {
    const auto bytes = WriteChakra(*graph_, ir::RankId{rank});
    EXPECT_TRUE(bytes) << bytes.error().message;
    return bytes.value_or("");
  }

  ir::GraphBuilder builder_;
  std::optional<ir::Graph> graph_;
  ir::ThreadId thread_;
  ir::StreamId compute_;
  ir::StreamId network_;
  ir::OpId forward_;
  ir::OpId mm_;
  ir::OpId all_to_all_;
  ir::OpId wait_;
};

ExecutionTrace ReadBack(std::string_view bytes) {
  EXPECT_TRUE(SniffChakra(bytes));
  const auto source = OpenMemory(bytes);
  Diagnostics diagnostics;
  auto file = ReadChakra(*source, diagnostics);
  EXPECT_TRUE(file) << file.error().message;
  EXPECT_TRUE(diagnostics.list().empty());
  return file ? *std::move(file->execution) : ExecutionTrace();
}

// One line per node: name, parent's name, start and duration in ns.
std::vector<std::string> Lines(const ExecutionTrace& trace, bool device) {
  std::vector<std::string> lines;
  for (const ExecutionNode& node : trace.nodes) {
    if ((node.kind == NodeKind::kDevice) != device) {
      continue;
    }
    std::string line(trace.strings.view(node.name));
    line += " < ";
    if (node.parent != ExecutionNode::kNoParent) {
      line += trace.strings.view(trace.nodes[node.parent].name);
    }
    line += " @" + std::to_string(node.start.value_or(-1ns).count());
    line += " +" + std::to_string(node.duration.value_or(-1ns).count());
    if (device) {
      line += " on " + std::to_string(node.stream);
    }
    lines.push_back(line);
  }
  return lines;
}

TEST_F(WriteChakraTest, GivesBackTheSameOpsActivitiesAndTimes) {
  const ExecutionTrace trace = ReadBack(Write(1));
  EXPECT_EQ(trace.info.rank, 5);
  EXPECT_EQ(trace.info.world_size, 8);
  EXPECT_THAT(
      Lines(trace, false),
      ElementsAre("## forward ## <  @0 +100000",
                  "aten::mm < ## forward ## @10000 +30000",
                  "c10d::alltoall_base_ < ## forward ## @50000 +10000",
                  "wait(1) <  @110000 +10000", "next <  @130000 +1234"));
  EXPECT_THAT(Lines(trace, true),
              ElementsAre("gemm < aten::mm @20000 +15000 on 7",
                          "fill buffer < aten::mm @36000 +1001 on 7",
                          "ncclSendRecv < c10d::alltoall_base_ @55000 +20000 "
                          "on 20",
                          "CopyDeviceToHost < wait(1) @76000 +0 on 20"));
  EXPECT_EQ(trace.nodes[0].kind, NodeKind::kAnnotation);
  EXPECT_EQ(trace.nodes[1].kind, NodeKind::kOp);
  EXPECT_EQ(trace.nodes[1].sequence, 41);
  EXPECT_EQ(trace.nodes[6].device_kind, DeviceEventKind::kMemset);
  EXPECT_EQ(trace.nodes[6].bytes, 512);
  EXPECT_EQ(trace.nodes[8].device_kind, DeviceEventKind::kMemcpy);
  EXPECT_EQ(trace.nodes[8].bytes, 96);
}

TEST_F(WriteChakraTest, TensorsAndCollectivesKeepTheirNumbers) {
  const ExecutionTrace trace = ReadBack(Write(1));
  const RawArguments& mm = trace.nodes[1].arguments;
  EXPECT_THAT(trace.strings.view(mm.values),
              HasSubstr(", 9, 0, 6, 4, 'cuda:0'], ["));
  EXPECT_EQ(trace.strings.view(mm.dims), "[[2, 3], [3, 4]]");
  EXPECT_EQ(trace.strings.view(mm.types),
            "['Tensor(float)', 'Tensor(c10::BFloat16)']");
  EXPECT_EQ(trace.strings.view(mm.out_dims), "[[]]");
  EXPECT_EQ(trace.strings.view(mm.out_types), "['Tensor(long int)']");
  EXPECT_EQ(trace.strings.view(trace.nodes[7].arguments.collective),
            R"({"Collective name":"all_to_all","dtype":"Float",)"
            R"("In msg nelems":12,"In split size":"[1, 2, 9]",)"
            R"("Out split size":"[4, 4, 4]","Group size":8})");
}

// What Chakra's own tools read: dependencies, types and microseconds.
TEST_F(WriteChakraTest, DependenciesFollowThreadsStreamsAndWaits) {
  const std::string bytes = Write(1);
  const auto source = OpenMemory(bytes);
  RecordStream records(*source);
  ASSERT_TRUE(records.Next());  // The metadata.
  std::map<std::string, chakra::Node> nodes;
  while (const auto record = *records.Next()) {
    chakra::Node node;
    ASSERT_TRUE(
        node.ParseFromArray(record->data(), static_cast<int>(record->size())));
    nodes[node.name()] = node;
  }
  ASSERT_EQ(nodes.size(), 9U);
  const auto id = [&](const char* name) { return nodes[name].id(); };
  const chakra::Node& mm = nodes["aten::mm"];
  EXPECT_THAT(mm.control_dependencies(), ElementsAre(id("## forward ##")));
  EXPECT_THAT(mm.data_dependencies(), ElementsAre(id("## forward ##")));
  // 100 us less 30 and 10 of the ops in it.
  EXPECT_EQ(nodes["## forward ##"].duration_micros(), 60U);
  // The op after the one that waited for the copy.
  EXPECT_THAT(nodes["wait(1)"].data_dependencies(),
              ElementsAre(id("c10d::alltoall_base_")));
  EXPECT_THAT(nodes["next"].data_dependencies(),
              ElementsAre(id("wait(1)"), id("CopyDeviceToHost")));
  EXPECT_EQ(nodes["next"].duration_micros(), 1U);
  EXPECT_THAT(nodes["gemm"].data_dependencies(), IsEmpty());
  EXPECT_THAT(nodes["fill buffer"].data_dependencies(),
              ElementsAre(id("gemm")));
  const chakra::Node& collective = nodes["ncclSendRecv"];
  EXPECT_THAT(collective.data_dependencies(), ElementsAre(id("fill buffer")));
  EXPECT_EQ(collective.type(), chakra::COMM_COLL_NODE);
  EXPECT_EQ(nodes["gemm"].type(), chakra::COMP_NODE);
  std::map<std::string, int64_t> numbers;
  for (const chakra::Attribute& attribute : collective.attributes()) {
    numbers[attribute.name()] = attribute.int64_value();
  }
  EXPECT_EQ(numbers["comm_type"], chakra::ALL_TO_ALL);
  EXPECT_EQ(numbers["comm_size"], 48);
}

TEST_F(WriteChakraTest, WritesTheRankAskedFor) {
  const ExecutionTrace trace = ReadBack(Write(0));
  EXPECT_EQ(trace.info.rank, 4);
  EXPECT_FALSE(trace.info.world_size);  // Two ranks, but this is number 4.
  ASSERT_EQ(trace.nodes.size(), 1U);
  EXPECT_EQ(trace.strings.view(trace.nodes[0].name), "other");
  EXPECT_FALSE(trace.nodes[0].duration);
}

TEST_F(WriteChakraTest, TheSameGraphGivesTheSameBytes) {
  EXPECT_EQ(Write(1), Write(1));
}

TEST(WriteChakraEmptyTest, ARankWithoutOpsAndActivitiesIsAnError) {
  ir::GraphBuilder builder;
  builder.AddRank({.number = 3});
  const auto graph = std::move(builder).Build();
  ASSERT_TRUE(graph) << graph.error().message;
  const auto bytes = WriteChakra(*graph, ir::RankId{0});
  ASSERT_FALSE(bytes);
  EXPECT_EQ(bytes.error().message, "rank 3 has neither ops nor device work");
}

}  // namespace
}  // namespace stepcast::trace

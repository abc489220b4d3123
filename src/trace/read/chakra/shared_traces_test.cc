// Recorded Chakra traces outside the repository, against their published
// counts.
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

#include "base/files/tar.h"
#include "trace/read/chakra/read_chakra.h"
#include "trace/read/chakra/read_chakra_json.h"
#include "trace/read/oddities.h"

namespace stepcast::trace {
namespace {

using std::chrono::microseconds;

class SharedChakraTest : public ::testing::Test {
 protected:
  // Nothing where the folder is absent; the test is skipped then.
  static std::optional<std::string> Bytes(std::string_view name) {
    const std::filesystem::path path =
        std::filesystem::path(STEPCAST_SHARED_DATA) / "traces/chakra_et" / name;
    if (!std::filesystem::exists(path)) {
      return std::nullopt;
    }
    auto bytes = ReadFile(path);
    EXPECT_TRUE(bytes) << bytes.error().message;
    return *std::move(bytes);
  }

  ExecutionTrace Read(std::string_view bytes) {
    EXPECT_TRUE(SniffChakra(bytes.substr(0, kSniffBytes)));
    const auto source = OpenMemory(bytes);
    auto file = ReadChakra(*source, diagnostics_);
    EXPECT_TRUE(file) << file.error().message;
    return file ? *std::move(file->execution) : ExecutionTrace();
  }

  static int64_t Count(const ExecutionTrace& trace, NodeKind kind) {
    int64_t count = 0;
    for (const ExecutionNode& node : trace.nodes) {
      count += node.kind == kind ? 1 : 0;
    }
    return count;
  }

  Diagnostics diagnostics_;
};

// ResNet-50, 2 GPUs: device work on streams 7 and 14, ops in parts.
TEST_F(SharedChakraTest, Reads101) {
  const auto bytes = Bytes("chakra_1.0.1.et.gz");
  if (!bytes) {
    GTEST_SKIP() << "no recorded traces";
  }
  const ExecutionTrace trace = Read(*bytes);
  EXPECT_EQ(trace.info.schema, "1.0.1");
  EXPECT_EQ(trace.nodes.size(), 3664U);
  EXPECT_EQ(Count(trace, NodeKind::kOp), 2448);
  EXPECT_EQ(Count(trace, NodeKind::kDevice), 1216);
  EXPECT_EQ(trace.strings.view(trace.nodes[0].name),
            "aten::flatten_dense_tensors");
  EXPECT_EQ(trace.nodes[0].duration, microseconds(318));
  std::map<int64_t, int64_t> streams;
  int64_t collectives = 0;
  for (const ExecutionNode& node : trace.nodes) {
    if (node.kind == NodeKind::kDevice) {
      ++streams[node.stream];
      EXPECT_NE(node.parent, ExecutionNode::kNoParent);
      EXPECT_TRUE(node.duration);
      collectives += node.arguments.collective != StringPool::kEmpty ? 1 : 0;
    }
  }
  EXPECT_EQ(streams, (std::map<int64_t, int64_t>{{7, 1209}, {14, 7}}));
  EXPECT_EQ(collectives, 7);
  EXPECT_EQ(diagnostics_.count(kStaleParents), 2448);
  EXPECT_EQ(diagnostics_.list().size(), 1U);
}

// A transformer, 8 GPUs: nested ops, times without the ops inside.
TEST_F(SharedChakraTest, Reads110) {
  const auto bytes = Bytes("chakra_1.1.0.et.gz");
  if (!bytes) {
    GTEST_SKIP() << "no recorded traces";
  }
  const ExecutionTrace trace = Read(*bytes);
  EXPECT_EQ(trace.info.schema, "1.1.0-chakra.0.0.4");
  EXPECT_EQ(trace.info.world_size, 8);
  EXPECT_EQ(trace.info.backend, "nccl");
  EXPECT_EQ(trace.nodes.size(), 11347U);
  EXPECT_EQ(Count(trace, NodeKind::kRoot), 3);
  EXPECT_EQ(Count(trace, NodeKind::kDevice), 1617);
  EXPECT_TRUE(diagnostics_.list().empty());
  for (const ExecutionNode& node : trace.nodes) {
    // aten::item took 7 us itself and 51 us in aten::_local_scalar_dense.
    if (node.id == 6) {
      EXPECT_EQ(trace.strings.view(node.name), "aten::item");
      EXPECT_EQ(node.duration, microseconds(58));
    }
    if (node.kind == NodeKind::kDevice) {
      ASSERT_NE(node.parent, ExecutionNode::kNoParent);
      EXPECT_EQ(node.stream, -1);
    }
  }
}

TEST_F(SharedChakraTest, ReadsTheJsonRenderingInItsArchive) {
  const auto bytes = Bytes("json_trace.tar.gz");
  if (!bytes) {
    GTEST_SKIP() << "no recorded traces";
  }
  ASSERT_TRUE(SniffTar(*bytes));
  const auto archive = OpenMemory(*bytes);
  const auto members = ReadTar(*archive);
  ASSERT_TRUE(members) << members.error().message;
  std::map<std::string, size_t> counts;
  for (const TarMember& member : *members) {
    if (SniffChakraJson(
            std::string_view(member.bytes).substr(0, kSniffBytes))) {
      const auto source = OpenMemory(member.bytes);
      auto file = ReadChakraJson(*source, diagnostics_);
      ASSERT_TRUE(file) << file.error().message;
      const std::filesystem::path path = member.name;
      counts[path.filename()] = file->execution->nodes.size();
    }
  }
  EXPECT_EQ(counts, (std::map<std::string, size_t>{
                        {"chakra.0.json", 3664}, {"small_chakra.0.json", 7}}));
}

}  // namespace
}  // namespace stepcast::trace

// Recorded execution traces outside the repository, against their published
// counts.
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/read/oddities.h"
#include "trace/read/torch_et/read_torch_et.h"

namespace stepcast::trace {
namespace {

using ::testing::HasSubstr;

struct Expected {
  std::string path{};  // Under traces/.
  size_t nodes = 0;
  int64_t main = 0;      // Ops and ranges on thread 1, ...
  int64_t autograd = 0;  // ... and 2.
  int64_t devices = 0;
  int64_t collectives = 0;  // Launches and waits.
  std::optional<int64_t> rank{};
  std::optional<int64_t> world_size{};

  friend void PrintTo(const Expected& expected, std::ostream* out) {
    *out << expected.path;
  }
};

class SharedTorchEtTest : public ::testing::TestWithParam<Expected> {
 protected:
  // Nothing where the folder is absent; the test is skipped then.
  std::optional<ExecutionTrace> Load(const std::string& name) {
    const std::filesystem::path path =
        std::filesystem::path(STEPCAST_SHARED_DATA) / "traces" / name;
    if (!std::filesystem::exists(path)) {
      return std::nullopt;
    }
    const auto bytes = ReadFile(path);
    EXPECT_TRUE(bytes) << bytes.error().message;
    EXPECT_TRUE(SniffTorchEt(std::string_view(*bytes).substr(0, kSniffBytes)));
    const auto source = OpenMemory(*bytes);
    auto file = ReadTorchEt(*source, diagnostics_);
    EXPECT_TRUE(file) << file.error().message;
    return file ? std::move(file->execution) : std::nullopt;
  }

  Diagnostics diagnostics_;
};

TEST_P(SharedTorchEtTest, HasThePublishedCounts) {
  const Expected& expected = GetParam();
  const auto trace = Load(expected.path);
  if (!trace) {
    GTEST_SKIP() << "no recorded traces";
  }
  std::map<int64_t, int64_t> on_thread;
  int64_t devices = 0;
  int64_t collectives = 0;
  for (size_t i = 0; i < trace->nodes.size(); ++i) {
    const ExecutionNode& node = trace->nodes[i];
    const bool host =
        node.kind == NodeKind::kOp || node.kind == NodeKind::kAnnotation;
    on_thread[node.thread] += host ? 1 : 0;
    devices += node.kind == NodeKind::kDevice ? 1 : 0;
    collectives += node.arguments.collective != StringPool::kEmpty ? 1 : 0;
    EXPECT_TRUE(node.parent == ExecutionNode::kNoParent || node.parent < i);
  }
  EXPECT_EQ(trace->nodes.size(), expected.nodes);
  EXPECT_EQ(on_thread[1], expected.main);
  EXPECT_EQ(on_thread[2], expected.autograd);
  EXPECT_EQ(devices, expected.devices);
  EXPECT_EQ(collectives, expected.collectives);
  EXPECT_EQ(trace->info.rank, expected.rank);
  EXPECT_EQ(trace->info.world_size, expected.world_size);
  EXPECT_TRUE(diagnostics_.list().empty());
}

const Expected kExpected[] = {
    {.path = "dlrm_param_8xV100/et/rank0.json.gz",
     .nodes = 1675,
     .main = 988,
     .autograd = 684,
     .collectives = 13,
     .rank = 0,
     .world_size = 8},
    {.path = "dlrm_param_8xV100/et/rank7.json.gz",
     .nodes = 1675,
     .main = 988,
     .autograd = 684,
     .collectives = 13,
     .rank = 7,
     .world_size = 8},
    // 245 kernels and 16 copies; rank 1 also 64 launched before the step.
    {.path = "dlrm_param_8xV100/linked_reference/rank0.json.gz",
     .nodes = 1675 + 261,
     .main = 988,
     .autograd = 684,
     .devices = 261,
     .collectives = 13,
     .rank = 0,
     .world_size = 8},
    {.path = "dlrm_param_8xV100/linked_reference/rank1.json.gz",
     .nodes = 1675 + 326,
     .main = 988,
     .autograd = 684,
     .devices = 326,
     .collectives = 13,
     .rank = 1,
     .world_size = 8},
    {.path = "linear_param_2080Ti/et.json.gz",
     .nodes = 931,
     .main = 311,
     .autograd = 617},
    {.path = "resnet18_param_2080Ti/et.json.gz",
     .nodes = 1313,
     .main = 704,
     .autograd = 606},
    {.path = "small/hta_simple_add_et.json.gz", .nodes = 38, .main = 36},
    {.path = "et_schemas/resnet50_ddp_rank0_1.0.2.json.gz",
     .nodes = 4801,
     .main = 2407,
     .autograd = 2391,
     .collectives = 9,
     .rank = 0,
     .world_size = 2},
    {.path = "et_schemas/resnet50_ddp_rank1_1.0.2.json.gz",
     .nodes = 4797,
     .main = 2403,
     .autograd = 2391,
     .collectives = 9,
     .rank = 1,
     .world_size = 2},
    {.path = "et_schemas/resnet50_1.0.3.json.gz",
     .nodes = 14391,
     .main = 7188,
     .autograd = 7200,
     .collectives = 27,
     .rank = 0,
     .world_size = 1},
    {.path = "et_schemas/resnet50_2gpu_1.1.0.json.gz",
     .nodes = 14392,
     .main = 7189,
     .autograd = 7200,
     .collectives = 27,
     .rank = 1,
     .world_size = 2},
    {.path = "et_schemas/resnet50_1.1.1.json.gz",
     .nodes = 14392,
     .main = 7189,
     .autograd = 7200,
     .collectives = 27,
     .rank = 0,
     .world_size = 1},
    {.path = "et_schemas/gpt2_1.1.0.json.gz",
     .nodes = 27156,
     .main = 16063,
     .autograd = 11090},
    {.path = "et_schemas/pt2_1.1.1.json.gz", .nodes = 20, .main = 18},
};

INSTANTIATE_TEST_SUITE_P(Traces, SharedTorchEtTest,
                         ::testing::ValuesIn(kExpected));

// The uneven all-to-all of ids: 3392 sent, 96 received from each of 8 ranks.
TEST_F(SharedTorchEtTest, KnowsTheSplitsOfTheDlrmAllToAll) {
  const auto trace = Load("dlrm_param_8xV100/et/rank0.json.gz");
  if (!trace) {
    GTEST_SKIP() << "no recorded traces";
  }
  std::string found;
  for (const ExecutionNode& node : trace->nodes) {
    const std::string_view text =
        trace->strings.view(node.arguments.collective);
    if (text.find("1664") != std::string_view::npos) {
      found = text;
    }
  }
  EXPECT_THAT(found, HasSubstr(R"("In msg nelems":3392)"));
  EXPECT_THAT(
      found,
      HasSubstr(
          R"("In split size":"[96, 224, 288, 1664, 592, 96, 192, 240]")"));
  EXPECT_THAT(
      found,
      HasSubstr(R"("Out split size":"[96, 96, 96, 96, 96, 96, 96, 96]")"));
  EXPECT_THAT(found, HasSubstr(R"("Group size":8)"));
}

// The linker puts every device event under an op, with stream and correlation.
TEST_F(SharedTorchEtTest, LinkedDeviceEventsAreComplete) {
  const auto trace = Load("dlrm_param_8xV100/linked_reference/rank0.json.gz");
  if (!trace) {
    GTEST_SKIP() << "no recorded traces";
  }
  std::map<int64_t, int64_t> streams;
  int64_t copies = 0;
  for (const ExecutionNode& node : trace->nodes) {
    EXPECT_TRUE(node.duration);
    if (node.kind == NodeKind::kDevice) {
      EXPECT_NE(node.parent, ExecutionNode::kNoParent);
      EXPECT_GT(node.correlation, 0);
      EXPECT_TRUE(node.start);
      ++streams[node.stream];
      copies += node.device_kind == DeviceEventKind::kMemcpy ? 1 : 0;
    }
  }
  EXPECT_EQ(copies, 16);
  EXPECT_EQ(streams.size(), 4U);  // 7, 22, 24 and 84.
  EXPECT_EQ(streams[84], 8);      // The collectives.
}

}  // namespace
}  // namespace stepcast::trace

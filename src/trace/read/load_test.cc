#include "trace/read/load.h"

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "trace/read/oddities.h"

namespace stepcast::trace {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

// One op in one step; the rank is in the file only if given.
std::string Kineto(std::string_view distributed) {
  return fmt::format(
      R"({{"schemaVersion": 1, {} "traceEvents": [
{{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#1", "pid": 1,
 "tid": 1, "ts": 0, "dur": 100}},
{{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1,
 "ts": 10, "dur": 20}}]}})",
      distributed);
}

std::string RankInfo(int rank, int world) {
  return fmt::format(R"("distributedInfo": {{"rank": {}, "world_size": {}}},)",
                     rank, world);
}

constexpr std::string_view kExecution =
    R"({"schema": "1.0.1", "pid": 1, "nodes": [
{"name": "aten::mm", "id": 3, "rf_id": 1, "parent": 2, "fw_parent": 0,
 "seq_id": -1, "scope": 0, "tid": 1, "fw_tid": 0, "op_schema": "",
 "inputs": [], "input_shapes": [], "input_types": [], "outputs": [],
 "output_shapes": [], "output_types": []}]})";

class LoadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ =
        fs::path(::testing::TempDir()) /
        fmt::format(
            "stepcast_load_{}",
            ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(root_);
    fs::create_directories(root_);
  }
  void TearDown() override { fs::remove_all(root_); }

  void Write(std::string_view name, std::string_view bytes) {
    fs::create_directories((root_ / name).parent_path());
    ASSERT_TRUE(WriteFile(root_ / name, bytes));
  }

  Result<Loaded> LoadRoot(LoadOptions options = {}) {
    const std::vector<fs::path> paths = {root_};
    return Load(paths, *Rules::Load(), options);
  }

  fs::path root_;
};

TEST_F(LoadTest, SortsADirectoryByTheRanksInTheFiles) {
  Write("a.json", Kineto(RankInfo(1, 2)));
  Write("b.json", Kineto(RankInfo(0, 2)));
  Write("README.md", "# not a trace");
  const auto loaded = LoadRoot();
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_EQ(loaded->ranks.size(), 2U);
  EXPECT_THAT(loaded->ranks[0].paths.front(), HasSubstr("b.json"));
  EXPECT_EQ(loaded->diagnostics.count(kIgnoredFile), 1);
  EXPECT_EQ(loaded->diagnostics.count(kMissingRanks), 0);
}

TEST_F(LoadTest, JoinsExecutionAndProfilerTraceOfARank) {
  Write("kineto/rank0.json", Kineto(RankInfo(0, 1)));
  Write("et/rank0.json", kExecution);
  const auto loaded = LoadRoot();
  ASSERT_TRUE(loaded) << loaded.error().message;
  ASSERT_EQ(loaded->ranks.size(), 1U);
  ASSERT_TRUE(loaded->ranks[0].pairing.has_value());
  EXPECT_EQ(loaded->ranks[0].pairing->threads[0].matches, 1);
}

TEST_F(LoadTest, RefusesTwoFilesOfOneRank) {
  Write("a.json", Kineto(RankInfo(0, 2)));
  Write("b.json", Kineto(RankInfo(0, 2)));
  const auto loaded = LoadRoot();
  ASSERT_FALSE(loaded);
  EXPECT_THAT(loaded.error().message,
              HasSubstr("are both profiler traces of rank 0"));
  EXPECT_TRUE(LoadRoot({.allow_duplicates = true}));
}

TEST_F(LoadTest, CountsMissingRanks) {
  Write("rank0.json", Kineto(RankInfo(0, 8)));
  Write("rank5.json", Kineto(RankInfo(5, 8)));
  const auto loaded = LoadRoot();
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->diagnostics.count(kMissingRanks), 6);
}

TEST_F(LoadTest, InfersRanksFromTheOrderOfNames) {
  Write("left.json", Kineto(""));
  Write("right.json", Kineto(""));
  const auto loaded = LoadRoot();
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->ranks[1].rank, 1);
  EXPECT_EQ(loaded->diagnostics.count(kRankInferred), 2);
}

TEST_F(LoadTest, SaysWhatIsWrongWithADirectory) {
  EXPECT_THAT(LoadRoot().error().message, HasSubstr("holds no files"));
  Write("README.md", "# not a trace");
  EXPECT_THAT(LoadRoot().error().message, HasSubstr("is a trace"));
  Write("rank0.json", "");
  EXPECT_THAT(LoadRoot().error().message, HasSubstr("rank0.json: is empty"));
}

}  // namespace
}  // namespace stepcast::trace

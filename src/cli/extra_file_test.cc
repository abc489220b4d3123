#include "cli/extra_file.h"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/file.h"

namespace stepcast::cli {
namespace {

namespace fs = std::filesystem;

class ExtraFileTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }

  const fs::path folder_ =
      fs::path(::testing::TempDir()) /
      ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(ExtraFileTest, OneThatFailsLeavesNone) {
  const ExtraFile first{.path = folder_ / "a.html", .text = "a"};
  const ExtraFile second{.path = folder_ / "missing" / "b.xml", .text = "b"};
  EXPECT_FALSE(WriteExtraFiles(std::vector{first, second}));
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(ExtraFileTest, AllAreWritten) {
  const ExtraFile first{.path = folder_ / "a.html", .text = "a"};
  const ExtraFile second{.path = folder_ / "b.xml", .text = "b"};
  EXPECT_TRUE(WriteExtraFiles(std::vector{first, {}, second}));
  EXPECT_EQ(*ReadFile(first.path), "a");
  EXPECT_EQ(*ReadFile(second.path), "b");
}

}  // namespace
}  // namespace stepcast::cli

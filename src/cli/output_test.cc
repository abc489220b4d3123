#include "cli/output.h"

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/file.h"

namespace stepcast::cli {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class OutputTest : public ::testing::Test {
 protected:
  OutputTest() { fs::create_directories(folder_); }
  ~OutputTest() override { fs::remove_all(folder_); }

  const fs::path folder_ =
      fs::path(::testing::TempDir()) /
      ::testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(OutputTest, GzipComesBackAsItWas) {
  std::string text;
  for (int i = 0; i < 100000; ++i) {
    text += std::to_string(i * 7919);
  }
  const auto packed = Gzip(text);
  ASSERT_TRUE(packed);
  EXPECT_LT(packed->size(), text.size());
  EXPECT_EQ(*ReadAll(*OpenMemory(*packed)), text);
  EXPECT_EQ(*ReadAll(*OpenMemory(*Gzip(""))), "");
}

TEST_F(OutputTest, ALinkStaysALink) {
  const fs::path target = folder_ / "target";
  const fs::path link = folder_ / "link";
  ASSERT_TRUE(WriteFile(target, "old"));
  fs::create_symlink("target", link);

  ASSERT_TRUE(WriteOutput(link, "new"));

  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(*ReadFile(target), "new");
}

TEST_F(OutputTest, ADeviceIsWrittenNotReplaced) {
  const auto status = WriteOutput("/dev/full", "text");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("/dev/full: cannot write"));
  EXPECT_TRUE(WriteOutput("/dev/null", "text"));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
}

TEST_F(OutputTest, WritingToADirectoryFails) {
  const auto status = WriteOutput(folder_, "text");
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().message, HasSubstr("is a directory"));
}

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

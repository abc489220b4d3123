// The built-in models come out of the measured rows again, byte for byte.
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/files/file.h"
#include "cost/profile.h"
#include "learn/fit/fit_kernels.h"
#include "learn/measured/kernel_rows.h"

namespace stepcast::learn {
namespace {

namespace fs = std::filesystem;

// Two GPUs whose fits take seconds; all of them take minutes (`stepcast fit
// kernels`).
class Refit : public ::testing::TestWithParam<const char*> {};

std::vector<fs::path> TablesOf(const std::string& gpu) {
  std::vector<fs::path> tables;
  const fs::path kernels = fs::path(STEPCAST_SHARED_DATA) / "kernels";
  if (fs::exists(kernels)) {
    for (const auto& family : fs::directory_iterator(kernels)) {
      const fs::path table = family.path() / (gpu + ".csv");
      if (fs::exists(table) && family.path().filename() != "collective") {
        tables.push_back(table);
      }
    }
  }
  std::ranges::sort(tables);
  return tables;
}

TEST_P(Refit, GivesTheBuiltInFiles) {
  const std::string gpu = GetParam();
  const std::vector<fs::path> tables = TablesOf(gpu);
  if (tables.empty()) {
    GTEST_SKIP() << "no measured kernels";
  }
  const auto rows = learn::ReadKernelRows(tables);
  ASSERT_TRUE(rows) << rows.error().message;
  const std::string command = "stepcast 0.1.0 fit kernels";
  const auto constants = cost::ProfileStore().LoadConstants();
  ASSERT_TRUE(constants) << constants.error().message;
  const auto fitted = FitProfile(*rows, 0, *constants, command);
  ASSERT_TRUE(fitted) << fitted.error().message;
  const std::vector<ProfileFile> files = FilesOf(fitted->profile, command);
  size_t built_in = 0;
  for (const auto& file :
       fs::directory_iterator(fs::path(STEPCAST_DATA) / "kernels" / gpu)) {
    built_in += file.is_regular_file() ? 1 : 0;
  }
  EXPECT_EQ(files.size(), built_in);
  for (const ProfileFile& file : files) {
    const auto text = ReadFile(fs::path(STEPCAST_DATA) / "kernels" / file.path);
    ASSERT_TRUE(text) << text.error().message;
    EXPECT_TRUE(*text == file.text) << file.path << " differs";
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, Refit, ::testing::Values("mi300x", "a40"));

}  // namespace
}  // namespace stepcast::learn

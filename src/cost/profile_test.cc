#include "cost/profile.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cost/kernel_models.h"
#include "hw/device.h"

namespace stepcast::cost {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

TEST(ProfileStoreTest, BuiltInModelsAreWhatTheirFilesAreCalled) {
  const ProfileStore store;
  size_t count = 0;
  const auto names = hw::GpuNames();
  for (const std::string& gpu : names) {
    const auto lazy = store.LoadLazily(gpu);
    const auto full = store.Load(gpu);
    ASSERT_TRUE(lazy) << lazy.error().message;
    ASSERT_TRUE(full) << full.error().message;
    EXPECT_TRUE(lazy->models.empty());
    EXPECT_TRUE(full->unread.empty());
    ASSERT_EQ(lazy->unread.size(), full->models.size());
    for (size_t i = 0; i < lazy->unread.size(); ++i) {
      SCOPED_TRACE(lazy->unread[i].name);
      EXPECT_EQ(lazy->unread[i].family, full->models[i].family);
      EXPECT_EQ(lazy->unread[i].variant, full->models[i].variant);
      EXPECT_EQ(full->models[i].gpu, gpu);
      // Reads the file again and checks it.
      EXPECT_EQ(
          LazyModel(lazy->unread[i], " of x").name(),
          full->models[i].family + "-" + full->models[i].chosen + " of x");
      ++count;
    }
  }
  EXPECT_GT(count, 30u);
}

TEST(ProfileStoreTest, WhatIsWrongWithAUsersModelShowsAtOnce) {
  const fs::path directory =
      fs::path(::testing::TempDir()) / "WhatIsWrongWithAUsersModel";
  fs::remove_all(directory);
  fs::create_directories(directory / "t4");
  std::ofstream(directory / "t4" / "softmax.fp32.model") << "nonsense";
  const auto profile = ProfileStore({directory}).LoadLazily("t4");
  ASSERT_FALSE(profile);
  EXPECT_THAT(profile.error().message, HasSubstr("softmax.fp32.model"));
  const auto models = KernelModels::Load(hw::FindDevice("t4").value(),
                                         ProfileStore({directory}));
  EXPECT_FALSE(models);
  fs::remove_all(directory);
}

}  // namespace
}  // namespace stepcast::cost

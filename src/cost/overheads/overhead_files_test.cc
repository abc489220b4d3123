#include "cost/overheads/overhead_files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::cost {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(OverheadFilesTest, EveryBuiltInSetIsWholeAndSaysWhereItIsFrom) {
  EXPECT_THAT(OverheadNames(), Contains(kSharedOverheads));
  for (const std::string& name : OverheadNames()) {
    const auto data = LoadOverheads(name);
    ASSERT_TRUE(data) << data.error().message;
    EXPECT_EQ(data->name, name);
    EXPECT_FALSE(data->provenance.empty()) << name;
    for (size_t i = 0; i < kOverheadPartCount; ++i) {
      EXPECT_FALSE(data->parts[i].empty())
          << name << " " << Name(static_cast<OverheadPart>(i));
    }
  }
}

TEST(OverheadFilesTest, PartsThatASetLacksAreTheSharedOnes) {
  const auto shared = LoadOverheads(kSharedOverheads);
  const auto lin = LoadOverheads("v100-lin-2021");  // Has nothing of the GPU.
  ASSERT_TRUE(shared && lin);
  const auto gap = [](const OverheadData& data) {
    return data[OverheadPart::kActivityGap].at("kernel").mean_us;
  };
  EXPECT_EQ(gap(*lin), gap(*shared));
  EXPECT_EQ((*lin)[OverheadPart::kCall].count("launch hipLaunchKernel"), 0);
}

TEST(OverheadFilesTest, AnUnknownNameGetsTheNearestOrAll) {
  const auto near = LoadOverheads("shred");
  ASSERT_FALSE(near);
  EXPECT_EQ(near.error().message,
            "unknown overheads 'shred'; did you mean shared?");
  const auto data = LoadOverheads("nobody");
  ASSERT_FALSE(data);
  EXPECT_THAT(data.error().message,
              HasSubstr("unknown overheads 'nobody'; expected a .toml file or "
                        "one of: a100-ddp-2024"));
  const auto missing = LoadOverheads("nowhere/x.toml");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, Not(HasSubstr("unknown")));
}

}  // namespace
}  // namespace stepcast::cost

#include "cost/overheads/overhead_table.h"

#include <cmath>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::cost {
namespace {

using ::testing::DoubleNear;
using ::testing::HasSubstr;
using ::testing::StartsWith;

OverheadRow Row(int64_t count, double mean) {
  return {.count = count,
          .mean_us = mean,
          .std_us = 1,
          .p10_us = mean - 1,
          .p50_us = mean,
          .p90_us = mean + 1,
          .events = 2};
}

OverheadData SmallTable() {
  OverheadData data;
  data.name = "small";
  data.profiler_us_per_event = 2;
  data[OverheadPart::kBeforeLaunch] = {{"AddmmBackward0", Row(30, 40)},
                                       {"MulBackward0", Row(10, 20)},
                                       {"aten::add", Row(60, 5)}};
  data[OverheadPart::kCall] = {{"launch cudaLaunchKernel", Row(9, 6)},
                               {"launch cudaMemcpyAsync", Row(1, 16)},
                               {"event_record cudaEventRecord", Row(5, 1)}};
  return data;
}

double MeanOf(const OverheadTable& table, OverheadPart part,
              std::string_view name) {
  return table.Lookup(part, name).row.mean_us;
}
OverheadSource SourceOf(const OverheadTable& table, OverheadPart part,
                        std::string_view name) {
  return table.Lookup(part, name).source;
}

TEST(OverheadTableTest, FallsBackFromNameToSimilarToFamilyToAll) {
  const OverheadTable table(SmallTable());
  constexpr auto kT2 = OverheadPart::kBeforeLaunch;
  EXPECT_EQ(MeanOf(table, kT2, "aten::add"), 5);
  EXPECT_EQ(SourceOf(table, kT2, "aten::add"), OverheadSource::kExact);
  EXPECT_EQ(MeanOf(table, kT2, "aten::add_"), 5);
  EXPECT_EQ(
      MeanOf(table, kT2, "autograd::engine::evaluate_function: AddmmBackward"),
      40);
  EXPECT_EQ(SourceOf(table, kT2, "aten::add_"), OverheadSource::kSimilar);
  // All backward ops: (30 * 40 + 10 * 20) / 40.
  EXPECT_EQ(MeanOf(table, kT2, "TanhBackward0"), 35);
  EXPECT_EQ(SourceOf(table, kT2, "TanhBackward0"), OverheadSource::kSimilar);
  // All: (30 * 40 + 10 * 20 + 60 * 5) / 100.
  EXPECT_EQ(MeanOf(table, kT2, "aten::bmm"), 17);
  EXPECT_EQ(SourceOf(table, kT2, "aten::bmm"), OverheadSource::kPooled);
}

TEST(OverheadTableTest, ARowForAllIsTakenAsItIs) {
  OverheadData data = SmallTable();
  data[OverheadPart::kBeforeLaunch].emplace(kPooledName, Row(1, 11));
  const OverheadTable table(std::move(data));
  EXPECT_EQ(MeanOf(table, OverheadPart::kBeforeLaunch, "aten::bmm"), 11);
  EXPECT_EQ(MeanOf(table, OverheadPart::kBeforeLaunch, "TanhBackward0"), 35);
}

TEST(OverheadTableTest, CallsFallBackToTheOtherVendorThenToTheirKind) {
  const OverheadTable table(SmallTable());
  constexpr auto kT4 = OverheadPart::kCall;
  EXPECT_EQ(MeanOf(table, kT4, "launch hipLaunchKernel"), 6);
  EXPECT_EQ(MeanOf(table, kT4, "launch launch"), 7);  // (9 * 6 + 16) / 10
  EXPECT_EQ(SourceOf(table, kT4, "launch launch"), OverheadSource::kSimilar);
  EXPECT_EQ(SourceOf(table, kT4, "other cudaMalloc"), OverheadSource::kPooled);
}

TEST(OverheadTableTest, SaysWhatIsMissing) {
  const OverheadTable table(SmallTable());
  EXPECT_EQ(SourceOf(table, OverheadPart::kAfterLaunch, "aten::add"),
            OverheadSource::kMissing);
  EXPECT_EQ(MeanOf(table, OverheadPart::kAfterLaunch, "aten::add"), 0);
}

TEST(OverheadTableTest, TakesTheProfilerOutButNeverGoesBelowZero) {
  const OverheadTable table(SmallTable());
  EXPECT_EQ(table.WithoutProfiler(Row(1, 10)), 6);  // 10 - 2 events of 2.
  EXPECT_EQ(table.WithoutProfiler(Row(1, 3)), 0);
}

TEST(PoolTest, HasTheMomentsOfAllTogether) {
  const OverheadRow pooled = Pool(std::vector{Row(1, 10), Row(1, 20)});
  EXPECT_EQ(pooled.count, 2);
  EXPECT_EQ(pooled.mean_us, 15);
  // The variance within, 1, and between, 25.
  EXPECT_THAT(pooled.std_us, DoubleNear(std::sqrt(26), 1e-9));
  EXPECT_EQ(pooled.events, 2);
}

TEST(PoolTest, HasTheQuantilesOfTheMixture) {
  // A tenth of all lies below the 20 % of the first, straight from p10 = 9 to
  // p50 = 10: 9 + 0.25.
  const OverheadRow pooled = Pool(std::vector{Row(5, 10), Row(5, 20)});
  EXPECT_THAT(pooled.p10_us, DoubleNear(9.25, 1e-6));
  EXPECT_THAT(pooled.p90_us, DoubleNear(20.75, 1e-6));
}

TEST(CompletedTest, FillsPartsThatAreEmpty) {
  OverheadData other;
  other[OverheadPart::kBeforeLaunch] = {{"aten::add", Row(1, 99)}};
  other[OverheadPart::kAfterLaunch] = {{"aten::add", Row(1, 3)}};
  const OverheadData data = Completed(SmallTable(), other);
  EXPECT_EQ(data[OverheadPart::kBeforeLaunch].size(), 3);
  EXPECT_EQ(data[OverheadPart::kAfterLaunch].at("aten::add").mean_us, 3);
}

TEST(OverheadTextTest, ReadsWhatItWrites) {
  OverheadData data = SmallTable();
  data.provenance = {"Measured on a Tuesday.", "2 traces"};
  data[OverheadPart::kNoLaunch].emplace("odd \"name\" \\ \n", Row(1, 2));
  const std::string text = OverheadText(data);
  const auto parsed = ParseOverheads(text, "a.toml");
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(OverheadText(*parsed), text);
  EXPECT_EQ(parsed->provenance, data.provenance);
  EXPECT_EQ((*parsed)[OverheadPart::kNoLaunch].begin()->first,
            "odd \"name\" \\ \n");
}

std::string ErrorOf(std::string_view text) {
  const auto parsed = ParseOverheads(text, "a.toml");
  return parsed ? "no error" : parsed.error().message;
}

TEST(OverheadTextTest, SaysWhereAndWhatIsWrong) {
  EXPECT_THAT(ErrorOf("name = 'x'\n[t6]\n"),
              StartsWith("a.toml:2: unknown key 't6'; expected one of: name"));
  EXPECT_THAT(ErrorOf("[t1]\n'*' = [1, 2, 3, 4, 5, 6, 7]\n"),
              HasSubstr("'name' is missing"));
  EXPECT_THAT(ErrorOf("name = 'x'\n[t1]\na = [1, 2]\n"),
              StartsWith("a.toml:3: expected [count, mean_us,"));
  EXPECT_THAT(ErrorOf("name = 'x'\n[t1]\na = [1, 2, 3, 9, 5, 6, 7]\n"),
              HasSubstr("quantiles in order"));
  EXPECT_THAT(ErrorOf("name = 'x'\n[t1]\na = [1, -2, 3, 4, 5, 6, 7]\n"),
              HasSubstr("from 0 up"));
  EXPECT_THAT(ErrorOf("name = 'x'\nprofiler_us_per_event = 'a'\n"),
              StartsWith("a.toml:2: 'profiler_us_per_event' must be"));
  EXPECT_THAT(ErrorOf("name = 'x'\nt1 = 3\n"),
              StartsWith("a.toml:2: 't1' must be a table"));
}

using ::testing::Contains;
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

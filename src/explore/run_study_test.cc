#include "explore/run_study.h"

#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explore/read_study.h"

namespace stepcast::explore {
namespace {

using ::testing::HasSubstr;

constexpr std::string_view kStudy = R"(
model = "dlrm_default"
[base]
gpu = "v100-sxm-32gb"
[vary]
batch = { from = 64, to = 2048, steps = 8, scale = "log" }
pooling = [1, 10, 100]
rows = [1_000_000, 100_000_000]
)";

Study Parsed() {
  auto study = ParseStudy(kStudy, "study.toml");
  EXPECT_TRUE(study.has_value()) << study.error().message;
  return *std::move(study);
}

std::string TextOf(const Result<std::vector<Row>>& rows) {
  EXPECT_TRUE(rows.has_value()) << rows.error().message;
  std::string text;
  for (const Row& row : *rows) {
    text += RowText(row) + "\n";
  }
  return text;
}

class RunStudyTest : public ::testing::Test {
 protected:
  RunStudyTest()
      : directory_(
            std::filesystem::path(::testing::TempDir()) /
            ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(directory_);
  }
  std::filesystem::path directory_;
};

TEST_F(RunStudyTest, ThreadsDoNotChangeTheRows) {
  const Study study = Parsed();
  const auto one = RunStudy(study, {.threads = 1});
  ASSERT_TRUE(one.has_value());
  EXPECT_EQ(one->size(), 48u);
  EXPECT_EQ(TextOf(one), TextOf(RunStudy(study, {.threads = 3})));
}

TEST_F(RunStudyTest, WhatDoesNotFitHasARowThatSaysSo) {
  const auto rows = RunStudy(Parsed(), {.threads = 2});
  ASSERT_TRUE(rows.has_value());
  // 8 tables of 100 M rows of 64 numbers are 205 GB.
  const Row& large = (*rows)[1];
  EXPECT_FALSE(large.fits());
  EXPECT_THAT(large.note, HasSubstr("does not fit: 20"));
  EXPECT_TRUE(std::isnan(large.at(Number::kSamplesPerS)));
  EXPECT_TRUE((*rows)[0].fits());
  EXPECT_GT((*rows)[0].at(Number::kSamplesPerS), 0);
}

TEST_F(RunStudyTest, AStoppedStudyGoesOnAndPredictsNothingTwice) {
  const Study study = Parsed();
  const std::string whole = TextOf(RunStudy(study, {.threads = 2}));
  RunOptions options{.threads = 2, .directory = directory_};
  options.progress = [](int64_t done, int64_t /*all*/) { return done < 10; };
  const auto stopped = RunStudy(study, options);
  ASSERT_FALSE(stopped.has_value());
  EXPECT_THAT(stopped.error().message, HasSubstr("run again to go on"));
  int64_t left = 0;
  int64_t predicted = 0;
  options.progress = [&](int64_t /*done*/, int64_t all) {
    left = all;
    ++predicted;
    return true;
  };
  EXPECT_EQ(TextOf(RunStudy(study, options)), whole);
  EXPECT_LE(left, 38);
  EXPECT_GE(left, 30);
  EXPECT_EQ(predicted, left);
  predicted = 0;
  EXPECT_EQ(TextOf(RunStudy(study, options)), whole);
  EXPECT_EQ(predicted, 0);
}

TEST_F(RunStudyTest, ProcessesShareTheRows) {
  const Study study = Parsed();
  const std::string whole = TextOf(RunStudy(study, {.threads = 1}));
  const auto options = [&](int number) {
    return RunOptions{.threads = 1,
                      .directory = directory_,
                      .process = {.number = number, .count = 3}};
  };
  {
    std::jthread second([&] {
      const auto rows = RunStudy(study, options(1));
      EXPECT_TRUE(rows.has_value());
      EXPECT_TRUE(rows->empty());
    });
    std::jthread third([&] { (void)RunStudy(study, options(2)); });
    EXPECT_EQ(TextOf(RunStudy(study, options(0))), whole);
  }
}

TEST_F(RunStudyTest, AProcessThatIsGoneIsNotAwaitedForever) {
  const auto rows =
      RunStudy(Parsed(), {.threads = 2,
                          .directory = directory_,
                          .process = {.number = 0, .count = 2},
                          .patience = std::chrono::milliseconds(200)});
  ASSERT_FALSE(rows.has_value());
  EXPECT_THAT(rows.error().message,
              HasSubstr("nothing was heard of process 1 of 2"));
}

TEST_F(RunStudyTest, AJournalThatCannotBeWrittenIsAnError) {
  const auto rows = RunStudy(
      Parsed(), {.threads = 2, .directory = "/dev/null/no/such/directory"});
  ASSERT_FALSE(rows.has_value());
  EXPECT_THAT(rows.error().message, HasSubstr("cannot write"));
}

}  // namespace
}  // namespace stepcast::explore

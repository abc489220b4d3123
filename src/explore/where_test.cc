#include "explore/where.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "explore/read_study.h"
#include "explore/select_rows.h"

namespace stepcast::explore {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Four rows: batches 1, 2, 3, 4 with 10, 20, 30 samples per second and one
// that does not fit.
Explored Some() {
  Explored explored;
  auto study = ParseStudy(
      "model = \"dlrm_default\"\n[vary]\nbatch = [1, 2, 3, 4]\n", "s.toml");
  EXPECT_TRUE(study.has_value()) << study.error().message;
  explored.study = *std::move(study);
  for (int i = 1; i <= 4; ++i) {
    Row row;
    row.at(Number::kFits) = i < 4 ? 1 : 0;
    if (i < 4) {
      row.at(Number::kSamplesPerS) = 10 * i;
      row.bound_by = i == 1 ? "host" : "other kernels";
    }
    explored.rows.push_back(row);
  }
  return explored;
}

std::vector<int64_t> Rows(const std::string& where) {
  const auto rows = SelectRows(Some(), {.where = where});
  EXPECT_TRUE(rows.has_value()) << rows.error().message;
  return rows.value_or(std::vector<int64_t>());
}

TEST(WhereTest, ComparesNumbersAndWords) {
  EXPECT_THAT(Rows("samples_per_s>1e1"), ElementsAre(1, 2));
  EXPECT_THAT(Rows("samples_per_s >= 10 and batch != 2"), ElementsAre(0, 2));
  EXPECT_THAT(Rows("bound_by = host"), ElementsAre(0));
  EXPECT_THAT(Rows("bound_by == 'other kernels'"), ElementsAre(1, 2));
  EXPECT_THAT(Rows("fits"), ElementsAre(0, 1, 2));
  EXPECT_THAT(Rows("not fits"), ElementsAre(3));
}

TEST(WhereTest, NumbersMayHaveUnits) {
  EXPECT_THAT(Rows("samples_per_s > 10 and step_us < 2ms"), ElementsAre());
  EXPECT_THAT(Rows("step_us < 2 ms or batch = 1"), ElementsAre(0));
  EXPECT_THAT(Rows("fits >= 100%"), ElementsAre(0, 1, 2));
}

TEST(WhereTest, AndBindsTighterThanOr) {
  EXPECT_THAT(Rows("batch=1 or batch=2 and batch=3"), ElementsAre(0));
  EXPECT_THAT(Rows("(batch=1 or batch=2) and batch<2"), ElementsAre(0));
}

TEST(WhereTest, WhatIsNotKnownIsNotFound) {
  EXPECT_THAT(Rows("power_w > 0"), ElementsAre());
  EXPECT_THAT(Rows("power_w < 1e9"), ElementsAre());
}

TEST(WhereTest, MistakesAreReported) {
  const auto error = [](const std::string& where) {
    const auto rows = SelectRows(Some(), {.where = where});
    return rows ? std::string("none") : rows.error().message;
  };
  EXPECT_EQ(error("sample_per_s>1"),
            "unknown column of a condition 'sample_per_s'; did you mean "
            "samples_per_s?");
  EXPECT_THAT(error("batch>"), HasSubstr("expected a number or a word"));
  EXPECT_THAT(error("step_us < 2GB"), HasSubstr("'2GB' is not a number of us"));
  EXPECT_THAT(error("samples_per_s > many"), HasSubstr("with a word"));
  EXPECT_THAT(error("bound_by > host"), HasSubstr("expected = or !="));
  EXPECT_THAT(error("(batch>1"), HasSubstr("expected ')'"));
  EXPECT_THAT(error("batch>1 batch<3"), HasSubstr("expected 'and', 'or'"));
  EXPECT_THAT(error(std::string(1000, '(')), HasSubstr("fewer parentheses"));
}

TEST(SelectRowsTest, TheBestComeFirst) {
  const auto top = SelectRows(Some(), {.top = 2});
  ASSERT_TRUE(top.has_value());
  EXPECT_THAT(*top, ElementsAre(2, 1));
  const auto least = SelectRows(Some(), {.by = "-samples_per_s"});
  ASSERT_TRUE(least.has_value());
  EXPECT_THAT(*least, ElementsAre(0, 1, 2, 3));
}

}  // namespace
}  // namespace stepcast::explore

#include <fstream>
#include <map>

#include <gtest/gtest.h>

#include "explore/run_study.h"

namespace stepcast::explore {
namespace {

class JournalTest : public ::testing::Test {
 protected:
  JournalTest()
      : directory_(
            std::filesystem::path(::testing::TempDir()) /
            ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(directory_);
  }

  std::map<int64_t, Row> ReadAll() {
    std::map<int64_t, Row> rows;
    JournalReader(directory_, "key").ReadNew([&](int64_t number, Row row) {
      rows[number] = std::move(row);
    });
    return rows;
  }

  void Append(std::string_view text) {
    std::ofstream(JournalPath(directory_, "key", 0), std::ios::app) << text;
  }

  std::filesystem::path directory_;
};

Row SomeRow() {
  Row row;
  row.at(Number::kStepUs) = 1.0 / 3;
  row.at(Number::kFits) = 1;
  row.bound_by = "other kernels";
  row.note = "a, \"b\"";
  return row;
}

TEST_F(JournalTest, RowsReadBackAsTheyWere) {
  JournalWriter writer;
  ASSERT_TRUE(writer.Open(JournalPath(directory_, "key", 0)).has_value());
  ASSERT_TRUE(writer.Add(7, SomeRow()).has_value());
  const auto rows = ReadAll();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(RowText(rows.at(7)), RowText(SomeRow()));
  EXPECT_EQ(rows.at(7).at(Number::kStepUs), 1.0 / 3);
  EXPECT_TRUE(std::isnan(rows.at(7).at(Number::kPowerW)));
}

TEST_F(JournalTest, ALineThatWasCutOffIsNotThereAndSpoilsNothing) {
  {
    JournalWriter writer;
    ASSERT_TRUE(writer.Open(JournalPath(directory_, "key", 0)).has_value());
    ASSERT_TRUE(writer.Add(1, SomeRow()).has_value());
  }
  const std::string line = JournalLine(2, SomeRow());
  Append(line.substr(0, line.size() / 2));
  EXPECT_EQ(ReadAll().size(), 1u);
  JournalWriter writer;
  ASSERT_TRUE(writer.Open(JournalPath(directory_, "key", 0)).has_value());
  ASSERT_TRUE(writer.Add(3, SomeRow()).has_value());
  const auto rows = ReadAll();
  EXPECT_EQ(rows.size(), 2u);
  EXPECT_TRUE(rows.contains(3));
}

TEST_F(JournalTest, ALineThatWasChangedIsNotThere) {
  std::filesystem::create_directories(directory_);
  std::string line = JournalLine(2, SomeRow());
  const size_t digit = line.find("0.333");
  ASSERT_NE(digit, std::string::npos);
  line[digit + 2] = '4';
  Append(line);
  EXPECT_TRUE(ReadAll().empty());
}

TEST_F(JournalTest, OtherStudiesKeepToThemselves) {
  JournalWriter writer;
  ASSERT_TRUE(writer.Open(JournalPath(directory_, "other", 0)).has_value());
  ASSERT_TRUE(writer.Add(7, SomeRow()).has_value());
  EXPECT_TRUE(ReadAll().empty());
}

TEST_F(JournalTest, OnlyNewLinesAreReadAgain) {
  JournalWriter writer;
  ASSERT_TRUE(writer.Open(JournalPath(directory_, "key", 3)).has_value());
  JournalReader reader(directory_, "key");
  int rows = 0;
  const auto count = [&](int64_t /*number*/, const Row& /*row*/) { ++rows; };
  ASSERT_TRUE(writer.Add(1, SomeRow()).has_value());
  reader.ReadNew(count);
  ASSERT_TRUE(writer.Add(2, SomeRow()).has_value());
  ASSERT_TRUE(writer.Beat().has_value());
  const auto sizes = reader.ReadNew(count);
  EXPECT_EQ(rows, 2);
  EXPECT_EQ(sizes.at(3),
            std::filesystem::file_size(JournalPath(directory_, "key", 3)));
}

TEST(RowTest, MalformedRowsAreRejected) {
  EXPECT_FALSE(ParseRow("").has_value());
  EXPECT_FALSE(ParseRow("1\t2\t3").has_value());
  std::string text = RowText(SomeRow());
  text[0] = 'x';
  EXPECT_FALSE(ParseRow(text).has_value());
}

}  // namespace
}  // namespace stepcast::explore

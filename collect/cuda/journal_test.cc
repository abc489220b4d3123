#include "collect/cuda/journal.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::collect {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

class JournalTest : public testing::Test {
 protected:
  JournalTest() {
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    out_ = std::filesystem::path(testing::TempDir()) /
           (std::string("collect_cuda_journal_") + test->name());
    std::filesystem::remove_all(out_);
  }

  std::unique_ptr<Journal> Open() {
    std::string wrong;
    auto journal = Journal::Open(out_.string(), wrong);
    EXPECT_EQ(wrong, "");
    return journal;
  }

  std::string Text() const {
    std::ifstream file(out_ / "journal.tsv", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  void SetText(const std::string& text) const {
    std::ofstream(out_ / "journal.tsv", std::ios::binary) << text;
  }

  std::vector<std::string> Lines() {
    std::vector<std::string> lines;
    for (const TableRow& row : Open()->Rows()) {
      lines.push_back(row.line);
    }
    return lines;
  }

  std::filesystem::path out_;
};

TEST_F(JournalTest, WhatWasAddedIsThereAfterwards) {
  Open()->Add({"start", {"seed=1"}});
  Open()->Add({"point", {"a", "0.5", "gemm", "row,a"}});
  Open()->Add({"point", {"b", "0.7"}});
  EXPECT_EQ(Open()->Settings(), "seed=1");
  EXPECT_THAT(Open()->Done(), UnorderedElementsAre("a", "b"));
  EXPECT_THAT(Lines(), ElementsAre("row,a"));
}

// Every byte at which a kill may have cut the last line off.
TEST_F(JournalTest, ATornLastLineNeverCountsAndCostsNoOtherLine) {
  Open()->Add({"point", {"a", "0.5", "gemm", "row,a"}});
  const size_t whole = Text().size();
  Open()->Add({"point", {"b", "0.7", "gemm", "row,b"}});
  const std::string full = Text();
  for (size_t size = whole; size < full.size(); ++size) {
    SetText(full.substr(0, size));
    EXPECT_THAT(Open()->Done(), UnorderedElementsAre("a")) << size;
    EXPECT_EQ(Text().size(), whole);
    Open()->Add({"point", {"b", "0.9", "gemm", "again,b"}});
    EXPECT_THAT(Lines(), ElementsAre("row,a", "again,b")) << size;
  }
}

TEST_F(JournalTest, ADamagedLineEndsWhatIsBelieved) {
  Open()->Add({"point", {"a", "0.5", "gemm", "row,a"}});
  Open()->Add({"point", {"b", "0.7", "gemm", "row,b"}});
  std::string text = Text();
  text[text.size() - 3] ^= 1;
  SetText(text);
  EXPECT_THAT(Open()->Done(), UnorderedElementsAre("a"));
}

TEST_F(JournalTest, APointToMeasureAgainIsNotDoneUntilItIs) {
  auto journal = Open();
  journal->Add({"point", {"a", "1", "gemm", "old"}});
  journal->Add({"point", {"b", "2", "gemm", "b"}});
  journal->Add({"again", {"a", "3"}});
  EXPECT_THAT(journal->Done(), UnorderedElementsAre("b"));
  EXPECT_THAT(Lines(), ElementsAre("b"));
  journal->Add({"point", {"a", "4", "gemm", "new"}});
  EXPECT_THAT(journal->Done(), UnorderedElementsAre("a", "b"));
  EXPECT_THAT(Lines(), ElementsAre("b", "new"));
}

TEST_F(JournalTest, TheTimesOfAllRunsAddUp) {
  auto journal = Open();
  journal->Add({"run", {}});
  journal->Add({"point", {"a", "5.5"}});
  journal->Add({"run", {}});
  journal->Add({"point", {"b", "2.0"}});
  EXPECT_DOUBLE_EQ(journal->SpentSeconds(), 7.5);
}

TEST(JournalOpenTest, SaysWhereItCannotWrite) {
  std::string wrong;
  EXPECT_EQ(Journal::Open("/dev/null/x", wrong), nullptr);
  EXPECT_THAT(wrong, testing::HasSubstr("; expected"));
}

}  // namespace
}  // namespace stepcast::collect

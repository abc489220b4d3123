#include "base/files/catalog.h"

#include <array>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/parallel.h"

namespace stepcast {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr std::array<EmbeddedFile, 4> kFiles = {
    EmbeddedFile{"words/two_words.toml", "two"},
    EmbeddedFile{"words/below/one.toml", "one"},
    EmbeddedFile{"words/bad.toml", "bad"},
    EmbeddedFile{"words/other.model", "of another kind"}};

std::atomic<int>& WordsParsed() {
  static std::atomic<int> count = 0;
  return count;
}

Result<std::string> ParseWord(std::string_view text, std::string_view source) {
  ++WordsParsed();
  if (text == "bad") {
    return Fail(ErrorCode::kInvalidInput, std::string(source) + ":1: bad");
  }
  return std::string(text);
}

class CatalogTest : public ::testing::Test {
 protected:
  CatalogTest() : words_({.what = "word", .files = kFiles}, &ParseWord) {
    WordsParsed() = 0;
    fs::remove_all(directory_);
    fs::create_directories(directory_ / "below");
  }
  void TearDown() override { fs::remove_all(directory_); }

  // Each file is one second older than the one before, so that times differ.
  fs::path Write(const std::string& name, const std::string& text) {
    fs::path path = directory_ / name;
    std::ofstream(path) << text;
    time_ -= std::chrono::seconds(1);
    fs::last_write_time(path, time_);
    return path;
  }

  fs::path directory_ = fs::path(::testing::TempDir()) / "CatalogTest";
  fs::file_time_type time_ = fs::file_time_type::clock::now();
  Catalog<std::string> words_;
};

TEST_F(CatalogTest, NamesAreThePathsOfFilesWithTheEnding) {
  EXPECT_THAT(words_.names(), ElementsAre("bad", "below/one", "two_words"));
  EXPECT_EQ(WordsParsed(), 0);
}

TEST_F(CatalogTest, ABuiltInFileIsParsedOnceHoweverManyThreadsAsk) {
  std::array<const std::string*, 16> found{};
  ParallelFor(found.size(), 4, [&](size_t i) {
    found[i] = words_.Find(i % 2 == 0 ? "two_words" : "Two-Words").value();
  });
  EXPECT_EQ(*found[0], "two");
  for (const std::string* one : found) {
    EXPECT_EQ(one, found[0]);
  }
  EXPECT_EQ(WordsParsed(), 1);
}

TEST_F(CatalogTest, AnUnknownNameIsReportedWithTheNearest) {
  EXPECT_EQ(words_.Find("tow_words").error().message,
            "unknown word 'tow_words'; did you mean two_words?");
  EXPECT_EQ(words_.Find("x").error().message,
            "unknown word 'x'; expected a .toml file or one of: bad, "
            "below/one, two_words");
}

TEST_F(CatalogTest, WhatIsWrongHasTheNameOfItsFile) {
  EXPECT_EQ(words_.Find("bad").error().message, "words/bad.toml:1: bad");
  const fs::path path = Write("mine.toml", "bad");
  EXPECT_EQ(words_.Find(path.string()).error().message,
            path.string() + ":1: bad");
  EXPECT_THAT(words_.Find("nowhere/x.toml").error().message,
              HasSubstr("nowhere/x.toml"));
}

TEST_F(CatalogTest, AUsersFileIsReadAgainOnlyWhenItHasChanged) {
  const fs::path path = Write("mine.toml", "first");
  const std::string* first = words_.Find(path.string()).value();
  EXPECT_EQ(words_.Read(path).value(), first);
  EXPECT_EQ(WordsParsed(), 1);
  Write("mine.toml", "other");  // As long as before, at another time.
  EXPECT_EQ(*words_.Read(path).value(), "other");
  EXPECT_EQ(*first, "first");
  EXPECT_EQ(WordsParsed(), 2);
}

TEST_F(CatalogTest, AFileThatAnotherNamesCountsAsItsPart) {
  const Catalog<std::string> joined(
      {.what = "word", .files = kFiles},
      [](std::string_view text, std::string_view, const ReadSibling& read) {
        return read(text);
      });
  const fs::path path = Write("mine.toml", "ids.txt");
  Write("ids.txt", "1 2");
  EXPECT_EQ(*joined.Read(path).value(), "1 2");
  Write("ids.txt", "1 2 3");
  EXPECT_EQ(*joined.Read(path).value(), "1 2 3");
  EXPECT_FALSE(joined.Find("two_words"));
}

TEST_F(CatalogTest, TheFirstDirectoryWithAFileComesBeforeTheBuiltIn) {
  const std::array<fs::path, 2> directories = {directory_ / "none", directory_};
  EXPECT_EQ(*words_.FindIn(directories, "below/one").value(), "one");
  Write("below/one.toml", "mine");
  EXPECT_EQ(*words_.FindIn(directories, "below/one").value(), "mine");
  EXPECT_EQ(words_.FindIn(directories, "nothing").value(), nullptr);
}

}  // namespace
}  // namespace stepcast

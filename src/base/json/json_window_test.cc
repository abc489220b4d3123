// Property tests of reading through a window: wherever its edges fall and
// however the bytes arrive, the same comes out.
#include "base/json/json_window.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <simdjson.h>

#include "base/drip_source_testing.h"
#include "base/json/json_read.h"
#include "base/json/json_read_testing.h"

namespace stepcast {
namespace {

using ::testing::HasSubstr;

constexpr std::array<std::string_view, 1> kEventsArray = {"events"};

struct RecordReading {
  std::vector<std::string> records{};
  std::string error{};
  JsonRecordReader::Counts counts{};
};

RecordReading ReadRecords(std::string_view text, size_t step = SIZE_MAX) {
  DripSource source(text, step);
  const JsonItems items = ReadItems(source, kEventsArray);
  RecordReading reading{.error = items.error, .counts = items.counts};
  for (const JsonItems::Item& item : items.list) {
    if (item.is_record) {
      reading.records.push_back(item.raw);
    }
  }
  return reading;
}

/// Parts of strings that the edge of a window must not cut in two.
constexpr std::array<std::string_view, 10> kFragments = {R"(\")",
                                                         R"(\\)",
                                                         R"(\\\")",
                                                         R"(\uD83D\uDE00)",
                                                         "\xC2\xB5",
                                                         "\xE2\x82\xAC",
                                                         "\xF0\x9F\x98\x80",
                                                         "{[,:]}",
                                                         "plain text",
                                                         " "};

/// A document that is right by construction, and its records.
struct Document {
  std::string text{};
  std::vector<std::string> records{};
};

std::string RandomString(std::mt19937_64& random, size_t size) {
  std::string text = "\"";
  while (text.size() < size) {
    text += kFragments[random() % kFragments.size()];
  }
  return text + "\"";
}

std::string RandomRecord(std::mt19937_64& random, size_t size) {
  switch (random() % 6) {
    case 0:
      return RandomString(random, size);
    case 1:
      return std::to_string(random());
    case 2:
      return "[[], {}, [" + RandomString(random, size / 2) + ", -1.5e3], null]";
    default:
      return "{\"name\": " + RandomString(random, size) +
             ", \"ts\": " + std::to_string(random() % 1'000'000) +
             ", \"args\": {\"dims\": [[1, 2], []]}}";
  }
}

/// `newlines` decides whether the window can end at a line.
Document RandomDocument(uint64_t seed, size_t record_size, bool newlines) {
  std::mt19937_64 random(seed);
  Document document{.text = "{\"events\": ["};
  const size_t enough = 3 * JsonWindow::kSize;
  while (document.text.size() < enough) {
    document.text += document.records.empty() ? "" : ",";
    document.text += newlines ? "\n" : "";
    // Some records a little longer or shorter than the rest.
    document.records.push_back(
        RandomRecord(random, record_size / 2 + random() % (record_size + 1)));
    document.text += document.records.back();
  }
  document.text += "]}";
  return document;
}

TEST(JsonWindowTest, AnyRecordSizeComesOutWhole) {
  uint64_t seed = 1;
  for (const size_t size :
       {size_t{1}, size_t{40}, size_t{700}, size_t{5000}, JsonWindow::kSize / 3,
        JsonWindow::kSize / 2, JsonWindow::kSize - 1, JsonWindow::kSize,
        JsonWindow::kSize + 1, 3 * JsonWindow::kSize}) {
    for (const bool newlines : {false, true}) {
      const Document document = RandomDocument(++seed, size, newlines);
      // Another reader agrees that this is right, and on the count.
      simdjson::dom::parser parser;
      simdjson::dom::array expected;
      ASSERT_EQ(parser.parse(document.text)["events"].get(expected),
                simdjson::SUCCESS);
      ASSERT_EQ(expected.size(),
                std::min<size_t>(document.records.size(), 0xFFFFFF));
      const RecordReading reading = ReadRecords(document.text);
      EXPECT_EQ(reading.error, "");
      EXPECT_EQ(reading.records, document.records)
          << "size " << size << " seed " << seed;
      EXPECT_FALSE(reading.counts.truncated);
      EXPECT_EQ(reading.counts.invalid_utf8, 0);
      EXPECT_EQ(reading.counts.control_characters, 0);
    }
  }
}

TEST(JsonWindowTest, HoweverTheBytesArriveTheSameComesOut) {
  for (const bool newlines : {false, true}) {
    const Document document = RandomDocument(99, 300, newlines);
    for (const size_t step : {1u, 7u, 64u, 4096u, 65537u}) {
      EXPECT_EQ(ReadRecords(document.text, step).records, document.records)
          << step;
    }
  }
}

/// A text whose first record's string holds `fragment` so that its byte `at` is
/// the first one after the window.
std::string WithFragmentAtEdge(std::string_view fragment, size_t at) {
  std::string text = "[\"";
  text += std::string(JsonWindow::kFirstSize - text.size() - at, 'p');
  text += fragment;
  return text + "tail\", \"second\"]";
}

TEST(JsonWindowTest, NoEscapeOrCharacterIsCutByTheEdge) {
  for (const std::string_view fragment :
       {R"(\")", R"(\\)", R"(\\\")", R"(\\\\)", R"(\uD83D\uDE00)", "\xC2\xB5",
        "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xC2\xB5\xC2\xB5\xC2\xB5",
        "\xE4\xB8\xAD\xE6\x96\x87\xE4\xB8\xAD"}) {
    for (size_t at = 0; at <= fragment.size(); ++at) {
      const std::string text = WithFragmentAtEdge(fragment, at);
      const RecordReading reading = ReadRecords(text);
      ASSERT_EQ(reading.records.size(), 2U) << fragment << " at " << at;
      EXPECT_THAT(reading.records[0],
                  HasSubstr(std::string(fragment) + "tail"));
      EXPECT_EQ(reading.records[1], "\"second\"");
      EXPECT_EQ(reading.counts.invalid_utf8, 0) << fragment << " at " << at;
    }
  }
}

// Repaired bytes are counted once, although the window that met them may be
// read again from there.
TEST(JsonWindowTest, OddBytesAtTheEdgeAreCountedOnce) {
  struct Case {
    std::string_view bytes;
    int64_t control_characters = 0;
    int64_t invalid_utf8 = 0;
    std::string_view repaired;
  };
  for (const Case& odd :
       {Case{"\n", 1, 0, " "}, Case{"\x01\x02", 2, 0, "  "},
        Case{"\xFF", 0, 1, "?"}, Case{"\xE2\x82", 0, 2, "??"},
        Case{"\x80\x80\x80\x80\x80", 0, 5, "?????"},
        Case{"\xF0\x9F\x98", 0, 3, "???"}, Case{"\xC0\xAF", 0, 2, "??"},
        Case{"\xED\xA0\x80", 0, 3, "???"}, Case{"\\\n", 1, 0, "\\ "},
        Case{"\\\xFF", 0, 1, "\\?"}, Case{"\xC2\xB5\xFF", 0, 1, "\xC2\xB5?"}}) {
    for (size_t at = 0; at <= odd.bytes.size(); ++at) {
      const RecordReading reading =
          ReadRecords(WithFragmentAtEdge(odd.bytes, at));
      ASSERT_EQ(reading.records.size(), 2U) << odd.repaired << " at " << at;
      EXPECT_THAT(reading.records[0],
                  HasSubstr("p" + std::string(odd.repaired) + "tail"));
      EXPECT_EQ(reading.counts.control_characters, odd.control_characters);
      EXPECT_EQ(reading.counts.invalid_utf8, odd.invalid_utf8)
          << odd.repaired << " at " << at;
    }
  }
}

TEST(JsonWindowTest, ScalarsAreNotCutByTheEdge) {
  for (size_t at = 0; at <= 12; ++at) {
    std::string text = "[";
    text += std::string(JsonWindow::kFirstSize - text.size() - at, ' ');
    text += "1234567890.5, true]";
    const RecordReading reading = ReadRecords(text);
    EXPECT_THAT(reading.records, ::testing::ElementsAre("1234567890.5", "true"))
        << at;
  }
}

TEST(JsonWindowTest, SpaceOfAnyLengthIsSkipped) {
  const std::string space(3 * JsonWindow::kSize, ' ');
  const RecordReading reading =
      ReadRecords(space + "[" + space + "1" + space + "," + space + "2" +
                  space + "]" + space);
  EXPECT_THAT(reading.records, ::testing::ElementsAre("1", "2"));
  EXPECT_EQ(reading.counts.trailing_bytes, 0);
}

TEST(JsonWindowTest, ABomIsSkipped) {
  EXPECT_THAT(ReadRecords("\xEF\xBB\xBF[1]").records,
              ::testing::ElementsAre("1"));
  EXPECT_THAT(ReadRecords("\xEF\xBB\xBF{\"events\": [2]}", 1).records,
              ::testing::ElementsAre("2"));
  // Anywhere else it is a character like any other.
  EXPECT_THAT(ReadRecords("[\"\xEF\xBB\xBF\"]").records,
              ::testing::ElementsAre("\"\xEF\xBB\xBF\""));
  EXPECT_THAT(ReadRecords("\xEF\xBB[1]").error,
              HasSubstr("expected a JSON object"));
}

TEST(JsonWindowTest, WhatFollowsTheDocumentIsCountedAcrossWindows) {
  const std::string rest(2 * JsonWindow::kSize, 'x');
  EXPECT_EQ(ReadRecords("[1] " + rest).counts.trailing_bytes,
            static_cast<int64_t>(rest.size()));
  const std::string space(2 * JsonWindow::kSize, '\n');
  EXPECT_EQ(ReadRecords("[1]" + space + "[2]").counts.trailing_bytes, 3);
  EXPECT_EQ(ReadRecords("[1]" + space).counts.trailing_bytes, 0);
}

TEST(JsonWindowTest, AValueBeyondAllReasonIsRefused) {
  const std::string text =
      "[1, \"" + std::string(2 * JsonWindow::kLongestValue, 'v') + "\"]";
  const RecordReading reading = ReadRecords(text);
  EXPECT_EQ(reading.records.size(), 1U);
  EXPECT_EQ(reading.error, "one JSON value at byte 4 is longer than 32 MiB");
}

TEST(JsonWindowTest, BracketsKnowTheirPartners) {
  const std::string text = R"({"a": [1, {"b": []}], "c": "]"})";
  DripSource source(text, 5);
  JsonWindow window(source);
  ASSERT_TRUE(window.Advance(0).has_value());
  const JsonIndex& index = window.index();
  // { "a" : [ 1 , { "b" : [ ] } ] , "c" : "]" }
  // 0 1   2 3 4 5 6 7   8 9 10..  13 14  15 16 17
  ASSERT_EQ(index.count, 18U);
  EXPECT_EQ(index.end[0], 18U);
  EXPECT_EQ(index.end[3], 13U);
  EXPECT_EQ(index.end[6], 12U);
  EXPECT_EQ(index.end[9], 11U);
  EXPECT_EQ(index.at[18], text.size());
}

TEST(JsonWindowTest, OpenBracketsEndNowhere) {
  DripSource source("[[[1], [", 100);
  JsonWindow window(source);
  ASSERT_TRUE(window.Advance(0).has_value());
  const JsonIndex& index = window.index();
  ASSERT_EQ(index.count, 7U);
  EXPECT_EQ(index.end[0], 8U);
  EXPECT_EQ(index.end[1], 8U);
  EXPECT_EQ(index.end[2], 5U);
  EXPECT_EQ(index.end[6], 8U);
}

}  // namespace
}  // namespace stepcast

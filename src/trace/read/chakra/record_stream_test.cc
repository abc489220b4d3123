#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/drip_source_testing.h"
#include "trace/read/chakra/read_chakra.h"

namespace stepcast::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Records {
  std::vector<std::string> list{};
  std::string error{};
  bool truncated = false;
  uint64_t offset = 0;
};

Records ReadAllRecords(ByteSource& source) {
  RecordStream stream(source);
  Records out;
  while (true) {
    const auto record = stream.Next();
    if (!record) {
      out.error = record.error().message;
      break;
    }
    if (!*record) {
      break;
    }
    out.list.emplace_back(**record);
  }
  out.truncated = stream.truncated();
  out.offset = stream.offset();
  return out;
}

Records ReadAllRecords(std::string_view bytes) {
  DripSource source(bytes, 1);  // A byte at a time, as a slow pipe.
  return ReadAllRecords(source);
}

TEST(RecordStreamTest, ParsesVarints) {
  const auto value = [](std::string_view bytes) {
    const auto varint = ParseVarint(bytes);
    return varint ? std::pair(varint->value, varint->size)
                  : std::pair(uint64_t{0}, size_t{0});
  };
  EXPECT_EQ(value("\x05"), std::pair(uint64_t{5}, size_t{1}));
  // 300 = 2 * 128 + 44
  EXPECT_EQ(value("\xAC\x02rest"), std::pair(uint64_t{300}, size_t{2}));
  EXPECT_EQ(value("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x01"),
            std::pair(~uint64_t{0}, size_t{10}));
  EXPECT_FALSE(ParseVarint(""));
  EXPECT_FALSE(ParseVarint("\x80"));
  EXPECT_FALSE(ParseVarint("\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x02"));
  EXPECT_FALSE(ParseVarint(std::string(11, '\x80')));
}

TEST(RecordStreamTest, GivesRecordsOneByOne) {
  const std::string large(300, 'x');
  const std::string bytes = std::string(
                                "\x03"
                                "abc"
                                "\x00",
                                5) +
                            "\xAC\x02" + large;
  const Records records = ReadAllRecords(bytes);
  EXPECT_THAT(records.list, ElementsAre("abc", "", large));
  EXPECT_EQ(records.error, "");
  EXPECT_FALSE(records.truncated);
  EXPECT_EQ(records.offset, bytes.size());
}

TEST(RecordStreamTest, RecordsLargerThanTheBufferArriveWhole) {
  std::string bytes = "\x80\x80\x80\x01";  // 2^21
  bytes += std::string(size_t{1} << 21, 'y');
  const auto source = OpenMemory(bytes);
  const Records records = ReadAllRecords(*source);
  ASSERT_EQ(records.list.size(), 1U);
  EXPECT_EQ(records.list[0].size(), size_t{1} << 21);
}

TEST(RecordStreamTest, EndsBeforeARecordThatIsCutOff) {
  for (const char* bytes : {"\x01z\x03"
                            "ab",
                            "\x01z\x03", "\x01z\x83"}) {
    const Records records = ReadAllRecords(std::string_view(bytes));
    EXPECT_THAT(records.list, ElementsAre("z"));
    EXPECT_EQ(records.error, "");
    EXPECT_TRUE(records.truncated);
  }
}

// Five bytes that claim 4 GiB.
TEST(RecordStreamTest, AnAbsurdLengthIsAnErrorThatAllocatesNothing) {
  EXPECT_THAT(ReadAllRecords(std::string_view("\x80\x80\x80\x80\x10")).error,
              HasSubstr("byte 0: no record has this length"));
  EXPECT_THAT(ReadAllRecords(std::string(12, '\xFF')).error,
              HasSubstr("byte 0: no record has this length"));
  // 255 MiB is a length a record may have, but the bytes are not there.
  const Records records =
      ReadAllRecords(std::string_view("\x80\x80\xC0\x7F"
                                      "abc"));
  EXPECT_EQ(records.error, "");
  EXPECT_TRUE(records.truncated);
}

}  // namespace
}  // namespace stepcast::trace

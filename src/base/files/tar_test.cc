#include "base/files/tar.h"

#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast {
namespace {

using ::testing::HasSubstr;

constexpr size_t kBlock = 512;

struct Entry {
  std::string name{};
  std::string bytes{};
  char type = '0';
  std::string prefix{};
  std::string size_field{};  // Instead of the size of the bytes.
};

void Put(std::string& header, size_t at, std::string_view text) {
  header.replace(at, text.size(), text);
}

void Seal(std::string& header) {
  Put(header, 148, "        ");
  const unsigned sum = std::accumulate(
      header.begin(), header.end(), 0U, [](unsigned total, char c) {
        return total + static_cast<unsigned char>(c);
      });
  Put(header, 148, fmt::format("{:06o}", sum));
  header[154] = '\0';
}

std::string MakeEntry(const Entry& entry) {
  std::string header(kBlock, '\0');
  Put(header, 0, entry.name);
  Put(header, 100, "0000644");
  Put(header, 124,
      entry.size_field.empty() ? fmt::format("{:011o}", entry.bytes.size())
                               : entry.size_field);
  header[156] = entry.type;
  Put(header, 257, "ustar");
  Put(header, 263, "00");
  Put(header, 345, entry.prefix);
  Seal(header);
  std::string out = header + entry.bytes;
  out.resize((out.size() + kBlock - 1) / kBlock * kBlock);
  return out;
}

std::string MakeTar(const std::vector<Entry>& entries) {
  std::string out;
  for (const Entry& entry : entries) {
    out += MakeEntry(entry);
  }
  return out + std::string(2 * kBlock, '\0');
}

Result<std::vector<TarMember>> ReadMembers(std::string_view bytes,
                                           size_t limit = size_t{1} << 30) {
  const auto source = OpenMemory(bytes);
  return ReadTar(*source, limit);
}

std::string ErrorOf(std::string_view bytes) {
  const auto members = ReadMembers(bytes);
  return members ? "no error" : members.error().message;
}

TEST(TarTest, GivesTheFilesInOrderWithTheirBytes) {
  const std::string tar =
      MakeTar({{.name = "traces/", .type = '5'},
               {.name = "traces/rank0.json", .bytes = "{\"a\": 1}"},
               {.name = "empty"},
               {.name = "block", .bytes = std::string(kBlock, 'x')}});
  EXPECT_TRUE(SniffTar(tar));
  const auto members = ReadMembers(tar);
  ASSERT_TRUE(members) << members.error().message;
  ASSERT_EQ(members->size(), 3U);
  EXPECT_EQ((*members)[0].name, "traces/rank0.json");
  EXPECT_EQ((*members)[0].bytes, "{\"a\": 1}");
  EXPECT_EQ((*members)[1].name, "empty");
  EXPECT_EQ((*members)[1].bytes, "");
  EXPECT_EQ((*members)[2].bytes, std::string(kBlock, 'x'));
}

TEST(TarTest, LeavesOutLinksAndDevices) {
  const auto members = ReadMembers(MakeTar({{.name = "link", .type = '2'},
                                            {.name = "device", .type = '3'},
                                            {.name = "file", .bytes = "1"}}));
  ASSERT_TRUE(members);
  ASSERT_EQ(members->size(), 1U);
  EXPECT_EQ((*members)[0].name, "file");
}

TEST(TarTest, JoinsThePrefixOfLongUstarNames) {
  const auto members =
      ReadMembers(MakeTar({{.name = "file", .bytes = "1", .prefix = "a/b"}}));
  ASSERT_TRUE(members);
  EXPECT_EQ((*members)[0].name, "a/b/file");
}

TEST(TarTest, TakesLongNamesFromGnuAndPaxHeaders) {
  const std::string name(150, 'n');
  // "160 path=" is 9 bytes, the name 150, the newline 1.
  const std::string pax = fmt::format("{} path={}\n", 160, name);
  ASSERT_EQ(pax.size(), 160U);
  const auto members = ReadMembers(MakeTar(
      {{.name = "././@LongLink", .bytes = name + '\0', .type = 'L'},
       {.name = "cut", .bytes = "1"},
       {.name = "PaxHeader", .bytes = "17 comment=hello\n", .type = 'g'},
       {.name = "PaxHeader", .bytes = pax, .type = 'x'},
       {.name = "cut", .bytes = "2"},
       {.name = "short", .bytes = "3"}}));
  ASSERT_TRUE(members) << members.error().message;
  ASSERT_EQ(members->size(), 3U);
  EXPECT_EQ((*members)[0].name, name);
  EXPECT_EQ((*members)[1].name, name);
  EXPECT_EQ((*members)[2].name, "short");
}

TEST(TarTest, BrokenPaxRecordsAreIgnored) {
  for (const std::string pax : {"0 path=x\n", "99 path=x\n", "abc", "3 \n", "5",
                                "8 path=x", "18446744073709551616 path=x\n"}) {
    const auto members =
        ReadMembers(MakeTar({{.name = "PaxHeader", .bytes = pax, .type = 'x'},
                             {.name = "file", .bytes = "1"}}));
    ASSERT_TRUE(members) << pax;
    ASSERT_EQ(members->size(), 1U) << pax;
  }
}

TEST(TarTest, AnArchiveWithoutEndMarkIsRead) {
  std::string tar = MakeTar({{.name = "file", .bytes = "1"}});
  tar.resize(kBlock + 1);  // Not even padded.
  const auto members = ReadMembers(tar);
  ASSERT_TRUE(members) << members.error().message;
  EXPECT_EQ((*members)[0].bytes, "1");
}

TEST(TarTest, CutOffAnywhereInsideAFileIsAnError) {
  const std::string tar = MakeTar({{.name = "file", .bytes = "0123456789"}});
  for (size_t size = 1; size < kBlock + 10; ++size) {
    EXPECT_FALSE(ReadMembers(tar.substr(0, size))) << size;
  }
  EXPECT_THAT(ErrorOf(tar.substr(0, kBlock + 3)),
              HasSubstr("cut off inside 'file' (3 of 10 bytes)"));
  EXPECT_THAT(ErrorOf(tar.substr(0, 100)), HasSubstr("no header at byte 0"));
}

TEST(TarTest, AWrongChecksumIsAnErrorAndNotSniffed) {
  std::string tar = MakeTar({{.name = "file", .bytes = "1"}});
  tar[0] = 'F';
  EXPECT_FALSE(SniffTar(tar));
  EXPECT_THAT(ErrorOf(tar), HasSubstr("no header at byte 0"));
}

TEST(TarTest, GarbageBetweenFilesIsAnError) {
  std::string tar = MakeEntry({.name = "file", .bytes = "1"});
  tar += std::string(kBlock, 'x');
  EXPECT_THAT(ErrorOf(tar), HasSubstr("no header at byte 1024"));
}

// Octal and base-256 sizes of many GB, with nothing after them.
TEST(TarTest, ClaimedSizesAreNotBelieved) {
  EXPECT_THAT(ErrorOf(MakeEntry({.name = "big", .size_field = "77777777777"})),
              HasSubstr("too large: 8589934591 bytes"));
  std::string base256("\x80\0\0\0\0\0\0\0\x20\0\0\0", 12);
  EXPECT_THAT(ErrorOf(MakeEntry({.name = "big", .size_field = base256})),
              HasSubstr("cut off inside 'big' (0 of 536870912 bytes)"));
  base256.replace(1, 11, 11, '\xFF');
  EXPECT_THAT(ErrorOf(MakeEntry({.name = "big", .size_field = base256})),
              HasSubstr("no size of 'big'"));
  base256[0] = '\xFF';
  EXPECT_THAT(ErrorOf(MakeEntry({.name = "big", .size_field = base256})),
              HasSubstr("no size of 'big'"));
  EXPECT_THAT(ErrorOf(MakeEntry({.name = "big", .size_field = "abcdefghijk"})),
              HasSubstr("no size of 'big'"));
}

TEST(TarTest, TheLimitIsOverAllFiles) {
  const std::string tar = MakeTar({{.name = "a", .bytes = std::string(60, 'a')},
                                   {.name = "b", .bytes = "1234567"}});
  EXPECT_TRUE(ReadMembers(tar, 67));
  const auto members = ReadMembers(tar, 66);
  ASSERT_FALSE(members);
  EXPECT_THAT(members.error().message, HasSubstr("'b'"));
}

TEST(TarTest, OtherBytesAreNotSniffed) {
  EXPECT_FALSE(SniffTar(""));
  EXPECT_FALSE(SniffTar("{\"traceEvents\": []}"));
  EXPECT_FALSE(SniffTar(std::string(1024, '\0')));
  EXPECT_FALSE(SniffTar(std::string(1024, 'a')));
}

TEST(TarTest, AnEmptyArchiveHasNoFiles) {
  const auto members = ReadMembers(std::string(2 * kBlock, '\0'));
  ASSERT_TRUE(members);
  EXPECT_TRUE(members->empty());
}

}  // namespace
}  // namespace stepcast

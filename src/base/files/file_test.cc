// Tests of reading files with gzip undone and of writing them whole or not.
#include "base/files/file.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

namespace stepcast {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// `text` as one gzip member.
std::string Gzip(std::string_view text) {
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8,
                         Z_DEFAULT_STRATEGY),
            Z_OK);
  std::string bytes(deflateBound(&stream, text.size()), '\0');
  std::string input(text);
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  return bytes;
}

Result<std::string> Unpack(std::string_view bytes) {
  return ReadAll(*OpenMemory(bytes));
}

/// Long enough to compress to more than one input chunk of 64 KiB.
std::string LongText() {
  std::string text;
  for (uint32_t i = 0; text.size() < 1'500'000; ++i) {
    text += std::to_string(i * 2654435761U) + ",";
  }
  return text;
}

class FileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "file_test.XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    directory_ = pattern;
  }
  void TearDown() override { fs::remove_all(directory_); }

  fs::path Write(std::string_view name, std::string_view bytes) const {
    fs::path path = directory_ / name;
    std::ofstream(path, std::ios::binary) << bytes;
    return path;
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_)) {
      names.push_back(entry.path().filename().string());
    }
    std::ranges::sort(names);
    return names;
  }

  fs::path directory_;
};

TEST(OpenMemoryTest, PlainBytesComeThrough) {
  EXPECT_EQ(*Unpack(""), "");
  EXPECT_EQ(*Unpack("x"), "x");
  EXPECT_EQ(*Unpack("\x1f"), "\x1f");  // Half of gzip's magic number.
  const std::string text = LongText();
  EXPECT_EQ(*Unpack(text), text);
}

TEST(OpenMemoryTest, GzipIsUndone) {
  const std::string text = LongText();
  EXPECT_EQ(*Unpack(Gzip(text)), text);
  EXPECT_EQ(*Unpack(Gzip("")), "");
}

TEST(OpenMemoryTest, ConsecutiveMembersAreOneText) {
  EXPECT_EQ(*Unpack(Gzip("one,") + Gzip("") + Gzip("two")), "one,two");
}

TEST(OpenMemoryTest, PaddingAfterTheLastMemberIsIgnored) {
  EXPECT_EQ(*Unpack(Gzip("one") + std::string(512, '\0')), "one");
}

TEST(OpenMemoryTest, GzipCutAtAnyByteFails) {
  const std::string whole = Gzip("a text that is long enough to be cut");
  for (size_t size = 2; size < whole.size(); ++size) {
    const auto text = Unpack(std::string_view(whole).substr(0, size));
    ASSERT_FALSE(text) << size;
    EXPECT_THAT(text.error().message, HasSubstr("cut off")) << size;
    EXPECT_EQ(text.error().code, ErrorCode::kInvalidInput);
  }
}

TEST(OpenMemoryTest, DamagedGzipFails) {
  std::string bytes = Gzip(LongText());
  bytes[bytes.size() / 2] ^= 0x55;
  const auto damaged = Unpack(bytes);
  ASSERT_FALSE(damaged);
  EXPECT_THAT(damaged.error().message, HasSubstr("corrupt"));

  std::string checksum = Gzip("text");
  checksum[checksum.size() - 5] ^= 1;
  EXPECT_FALSE(Unpack(checksum));
}

TEST(ReadAllTest, StopsAtTheLimit) {
  EXPECT_TRUE(ReadAll(*OpenMemory("12345"), 5));
  const auto over = ReadAll(*OpenMemory("123456"), 5);
  ASSERT_FALSE(over);
  EXPECT_EQ(over.error().code, ErrorCode::kUnsupported);
}

TEST(ReadAllTest, ABombStopsAtTheLimit) {
  std::string zeros;
  zeros.resize(20'000'000);
  const std::string bomb = Gzip(zeros);
  ASSERT_LT(bomb.size(), 100'000);
  EXPECT_FALSE(ReadAll(*OpenMemory(bomb), 1'000'000));
}

TEST(ByteSourceTest, SmallBuffersGiveTheSameBytes) {
  const std::string packed = Gzip("0123456789");
  const auto source = OpenMemory(packed);
  std::string text;
  std::array<char, 3> buffer{};
  while (true) {
    const auto got = source->Read(buffer);
    ASSERT_TRUE(got);
    if (*got == 0) {
      break;
    }
    text.append(buffer.data(), *got);
  }
  EXPECT_EQ(text, "0123456789");
}

TEST_F(FileTest, ReadsPlainAndGzipWhateverTheName) {
  EXPECT_EQ(*ReadFile(Write("plain.gz", "text")), "text");
  EXPECT_EQ(*ReadFile(Write("packed.json", Gzip("text"))), "text");
}

TEST_F(FileTest, ErrorsNameThePath) {
  const auto missing = ReadFile(directory_ / "missing");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kNotFound);
  EXPECT_THAT(missing.error().message,
              StartsWith((directory_ / "missing").string() + ": "));

  const auto directory = ReadFile(directory_);
  ASSERT_FALSE(directory);
  EXPECT_THAT(directory.error().message, HasSubstr("is a directory"));

  const auto cut = ReadFile(Write("cut.gz", Gzip("text").substr(0, 9)));
  ASSERT_FALSE(cut);
  EXPECT_THAT(cut.error().message,
              StartsWith((directory_ / "cut.gz").string() + ": gzip"));
}

TEST_F(FileTest, WritingReplacesTheFileAndLeavesNothingElse) {
  const fs::path path = Write("out", "old and longer");
  ASSERT_TRUE(WriteFile(path, "new"));
  EXPECT_EQ(*ReadFile(path), "new");
  EXPECT_THAT(Names(), ElementsAre("out"));
}

TEST_F(FileTest, AWrittenFileHasTheUsualPermissions) {
  const mode_t old_mask = ::umask(022);
  ASSERT_TRUE(WriteFile(directory_ / "out", "x"));
  ::umask(old_mask);
  EXPECT_EQ(fs::status(directory_ / "out").permissions(), fs::perms(0644));
}

TEST_F(FileTest, AFailedWriteLeavesNothingBehind) {
  EXPECT_FALSE(WriteFile(directory_ / "no" / "such" / "place", "x"));
  fs::create_directory(directory_ / "taken");
  const auto onto_directory = WriteFile(directory_ / "taken", "x");
  ASSERT_FALSE(onto_directory);
  EXPECT_THAT(onto_directory.error().message, HasSubstr("taken"));
  EXPECT_THAT(Names(), ElementsAre("taken"));
}

TEST_F(FileTest, WritingThroughALinkKeepsTheLink) {
  const fs::path target = Write("target", "old");
  fs::create_symlink(target, directory_ / "link");
  ASSERT_TRUE(WriteFile(directory_ / "link", "new"));
  EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
  EXPECT_EQ(*ReadFile(target), "new");
}

// Renaming over /dev/stdout or /dev/null would replace the device itself.
TEST_F(FileTest, DevicesAndPipesAreWrittenInPlace) {
  const fs::path pipe = directory_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  // Opened for both, so that neither side waits for the other.
  std::fstream reader(pipe);
  ASSERT_TRUE(WriteFile(pipe, "new\n"));
  ASSERT_TRUE(fs::is_fifo(pipe));
  std::string line;
  std::getline(reader, line);
  EXPECT_EQ(line, "new");
}

}  // namespace
}  // namespace stepcast

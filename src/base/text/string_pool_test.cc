// Tests of interning strings.
#include "base/text/string_pool.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace stepcast {
namespace {

TEST(StringPoolTest, EqualTextsShareAnIdInOrderOfFirstUse) {
  StringPool pool;
  const StringId a = pool.Intern("a");
  const StringId b = pool.Intern("b");
  EXPECT_EQ(pool.Intern(std::string("a")), a);
  EXPECT_EQ(a.value + 1, b.value);
  EXPECT_EQ(pool.view(b), "b");
  EXPECT_EQ(pool.size(), 3);  // With the empty string.
}

TEST(StringPoolTest, TheEmptyStringIsAlwaysThere) {
  StringPool pool;
  EXPECT_EQ(pool.Intern(""), StringPool::kEmpty);
  EXPECT_EQ(pool.view(StringPool::kEmpty), "");
}

TEST(StringPoolTest, FindDoesNotIntern) {
  StringPool pool;
  EXPECT_FALSE(pool.Find("x").valid());
  EXPECT_EQ(pool.size(), 1);
  const StringId x = pool.Intern("x");
  EXPECT_EQ(pool.Find("x"), x);
}

TEST(StringPoolTest, BytesAreKeptAsTheyAre) {
  StringPool pool;
  const std::string_view with_zero("a\0b", 3);
  EXPECT_EQ(pool.view(pool.Intern(with_zero)), with_zero);
  EXPECT_NE(pool.Intern("a"), pool.Intern(with_zero));
}

// Enough strings to grow the table and to fill several blocks, with one string
// larger than a block among them.
TEST(StringPoolTest, ViewsStayValidWhileThePoolGrowsAndMoves) {
  StringPool pool;
  std::vector<std::string> texts;
  texts.emplace_back(200'000, 'x');
  for (int i = 0; i < 20'000; ++i) {
    texts.push_back("kernel_" + std::to_string(i));
  }
  std::vector<std::string_view> views;
  views.reserve(texts.size());
  for (const std::string& text : texts) {
    views.push_back(pool.view(pool.Intern(text)));
  }
  const StringPool moved = std::move(pool);
  for (size_t i = 0; i < texts.size(); ++i) {
    ASSERT_EQ(views[i], texts[i]);
    ASSERT_EQ(moved.Find(texts[i]).value, i + 1);
  }
}

TEST(StringPoolTest, ACopyHasTheSameIdsAndItsOwnBytes) {
  StringPool copy;
  {
    StringPool pool;
    pool.Intern("first");
    pool.Intern("second");
    copy = pool;
    pool.Intern("later");
  }
  EXPECT_EQ(copy.size(), 3);
  EXPECT_EQ(copy.view(copy.Find("second")), "second");
  EXPECT_EQ(copy.Intern("third").value, 3);
}

TEST(HashBytesTest, EveryLengthAndEveryByteMatters) {
  std::string text;
  std::vector<uint64_t> seen;
  for (size_t length = 0; length < 70; ++length) {
    seen.push_back(HashBytes(text));
    for (size_t i = 0; i < text.size(); ++i) {
      std::string changed = text;
      changed[i] = 'b';
      EXPECT_NE(HashBytes(changed), seen.back()) << length << " at " << i;
    }
    text += 'a';
  }
  for (size_t i = 1; i < seen.size(); ++i) {
    EXPECT_NE(seen[i], seen[i - 1]);
  }
}

}  // namespace
}  // namespace stepcast

#include "base/text/join.h"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace stepcast {
namespace {

TEST(Join, OfTextsAndNumbers) {
  EXPECT_EQ(Join(std::vector<std::string>{"a", "", "c"}, ", "), "a, , c");
  EXPECT_EQ(Join(std::array<const char*, 1>{"a"}, ", "), "a");
  EXPECT_EQ(Join(std::vector<std::string_view>{}, ", "), "");
  EXPECT_EQ(Join(std::vector<int64_t>{-1, 20}, " "), "-1 20");
}

}  // namespace
}  // namespace stepcast

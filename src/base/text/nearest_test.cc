#include "base/text/nearest.h"

#include <gtest/gtest.h>

namespace stepcast {
namespace {

constexpr std::string_view kNames[] = {"doctor", "convert", "list"};

TEST(NearestTest, AFewWrongLettersAreForgiven) {
  EXPECT_EQ(Nearest("doctr", kNames), "doctor");
  EXPECT_EQ(Nearest("convertt", kNames), "convert");
  EXPECT_EQ(Nearest("ist", kNames), "list");
}

TEST(NearestTest, AnotherWordIsNearNone) {
  EXPECT_EQ(Nearest("replay", kNames), std::nullopt);
  EXPECT_EQ(Nearest("", kNames), std::nullopt);
  EXPECT_EQ(Nearest("li", kNames), std::nullopt);
  EXPECT_EQ(Nearest(std::string(100000, 'l'), kNames), std::nullopt);
}

TEST(NearestTest, TheMessageNamesTheNearestOrAll) {
  EXPECT_EQ(Unknown("command", "doctr", kNames),
            "unknown command 'doctr'; did you mean doctor?");
  EXPECT_EQ(Unknown("command", "replay", kNames),
            "unknown command 'replay'; expected doctor, convert or list");
}

}  // namespace
}  // namespace stepcast

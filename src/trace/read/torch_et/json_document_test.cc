#include "trace/read/torch_et/json_document.h"

#include <string_view>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::trace {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(JsonDocumentTest, FindsTheKeysOfTheTopLevelAlone) {
  EXPECT_THAT(TopLevelKeys(R"( {"schema": "1.0.1", "nodes" : [{"id": 1}],
                                "time": "a: b", "more": {"in": 2}} )"),
              ElementsAre("schema", "nodes", "time", "more"));
}

TEST(JsonDocumentTest, StopsAtTheEndOfTheObjectOrOfTheHead) {
  EXPECT_THAT(TopLevelKeys(R"({"a": 1} {"b": 2})"), ElementsAre("a"));
  EXPECT_THAT(TopLevelKeys(R"({"a": [1, {"b": )"), ElementsAre("a"));
  EXPECT_THAT(TopLevelKeys(R"({"a": 1, "cut)"), ElementsAre("a"));
  EXPECT_THAT(TopLevelKeys(R"({"a": 1, "cut")"), ElementsAre("a"));
}

TEST(JsonDocumentTest, QuotesAndBracketsInsideStringsDoNotCount) {
  EXPECT_THAT(TopLevelKeys(R"({"a": "\"}]{[", "b\"c": 1})"),
              ElementsAre("a", R"(b\"c)"));
}

TEST(JsonDocumentTest, TextThatIsNotAnObjectHasNoKeys) {
  EXPECT_THAT(TopLevelKeys(""), IsEmpty());
  EXPECT_THAT(TopLevelKeys("  "), IsEmpty());
  EXPECT_THAT(TopLevelKeys(R"([{"a": 1}])"), IsEmpty());
  EXPECT_THAT(TopLevelKeys("}}}{"), IsEmpty());
}

}  // namespace
}  // namespace stepcast::trace

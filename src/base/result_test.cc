// Tests of Result and its two macros.
#include "base/result.h"

#include <memory>
#include <string>
#include <utility>

#include <gtest/gtest.h>

namespace stepcast {
namespace {

Result<int> Half(int number) {
  if (number % 2 != 0) {
    return Fail(ErrorCode::kInvalidInput, "odd");
  }
  return number / 2;
}

Result<int> Quarter(int number) {
  ASSIGN_OR_RETURN(const int half, Half(number));
  ASSIGN_OR_RETURN(const int quarter, Half(half));
  return quarter;
}

Status CheckEven(int number) {
  RETURN_IF_ERROR(Half(number));
  return {};
}

Result<std::unique_ptr<int>> MakeBox(int number) {
  ASSIGN_OR_RETURN(auto box,
                   Result<std::unique_ptr<int>>(std::make_unique<int>(number)));
  return box;
}

TEST(ResultTest, AssignOrReturnUnwrapsOrPassesTheErrorOn) {
  EXPECT_EQ(Quarter(12).value(), 3);
  const auto failed = Quarter(6);  // 6 / 2 = 3 is odd.
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::kInvalidInput);
  EXPECT_EQ(failed.error().message, "odd");
}

TEST(ResultTest, AssignOrReturnMovesTheValue) {
  EXPECT_EQ(**MakeBox(7), 7);
}

TEST(ResultTest, ReturnIfErrorDropsTheValue) {
  EXPECT_TRUE(CheckEven(2));
  EXPECT_FALSE(CheckEven(3));
}

TEST(ResultTest, PrefixedKeepsTheCode) {
  const Error prefixed =
      Prefixed("a.json", Error{.code = ErrorCode::kIo, .message = "cut off"})
          .value();
  EXPECT_EQ(prefixed.code, ErrorCode::kIo);
  EXPECT_EQ(prefixed.message, "a.json: cut off");
}

}  // namespace
}  // namespace stepcast

#include "ir/text/shape_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::ir {
namespace {

using ::testing::HasSubstr;

std::string ErrorOfShape(std::string_view text) {
  const auto shape = ParseShape(text);
  return shape ? "no error" : shape.error().message;
}

TEST(ShapeTextTest, TheFamilyComesFirstAndDefaultsAreLeftOut) {
  EXPECT_EQ(
      ShapeText(Gemm{
          .batch = 1, .m = 2048, .n = 512, .k = 13, .dtype = DType::kFp32}),
      "gemm batch=1 m=2048 n=512 k=13 dtype=fp32");
  EXPECT_EQ(ShapeText(Opaque{}), "opaque");
  EXPECT_EQ(ShapeText(Convolution{}), "convolution");
}

TEST(ShapeTextTest, ListsHaveCommas) {
  const Collective collective{.kind = CollectiveKind::kAllToAll,
                              .bytes = Bytes{13568},
                              .group_size = 3,
                              .send_splits = {96, 224, 288},
                              .receive_splits = {7}};
  const std::string text = ShapeText(collective);
  EXPECT_EQ(text,
            "collective kind=all_to_all bytes=13568 group=3 send=96,224,288 "
            "receive=7");
  EXPECT_EQ(ParseShape(text).value(), KernelShape(collective));
}

TEST(ShapeTextTest, FieldsMayComeInAnyOrderAndBlanksDoNotMatter) {
  EXPECT_EQ(
      ParseShape("  copy   bytes=24 pinned=true kind=device_to_host ").value(),
      KernelShape(Copy{.kind = CopyKind::kDeviceToHost,
                       .bytes = Bytes{24},
                       .pinned = true}));
}

TEST(ShapeTextTest, ErrorsNameTheWord) {
  EXPECT_THAT(ErrorOfShape("gem m=1"),
              HasSubstr("'gem': unknown kind of shape"));
  EXPECT_THAT(ErrorOfShape("gemm mm=1"), HasSubstr("'mm=1': no field of gemm"));
  EXPECT_THAT(ErrorOfShape("gemm m"), HasSubstr("'m': no field of gemm"));
  EXPECT_THAT(ErrorOfShape("gemm m=1.5"),
              HasSubstr("'m=1.5': expected a whole number"));
  EXPECT_THAT(ErrorOfShape("gemm m="), HasSubstr("expected a whole number"));
  EXPECT_THAT(ErrorOfShape("gemm m=1 m=2"), HasSubstr("'m=2': given twice"));
  EXPECT_THAT(ErrorOfShape("gemm m=99999999999999999999"),
              HasSubstr("whole number"));
  EXPECT_THAT(ErrorOfShape("gemm dtype=float"),
              HasSubstr("expected unknown, fp64"));
  EXPECT_THAT(ErrorOfShape("copy pinned=yes"), HasSubstr("true or false"));
  EXPECT_THAT(ErrorOfShape("collective send=1,,2"), HasSubstr("commas"));
  EXPECT_THAT(ErrorOfShape("collective send="), HasSubstr("commas"));
  EXPECT_THAT(ErrorOfShape("opaque m=1"), HasSubstr("expected none"));
  EXPECT_THAT(ErrorOfShape(""), HasSubstr("no shape"));
}

TEST(ShapeTextTest, AHugeBrokenWordStaysReadableInTheError) {
  const std::string word(1'000'000, '\x01');
  EXPECT_LT(ErrorOfShape(word).size(), 600u);
  EXPECT_EQ(ErrorOfShape(word).find('\x01'), std::string::npos);
}

}  // namespace
}  // namespace stepcast::ir

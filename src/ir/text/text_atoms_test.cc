#include "ir/text/text_atoms.h"

#include <gtest/gtest.h>

namespace stepcast::ir {
namespace {

std::string Quoted(std::string_view bytes) {
  std::string out;
  AppendQuoted(out, bytes);
  return out;
}

std::string TimeText(int64_t start_ns, int64_t duration_ns) {
  std::string out;
  AppendTime(out,
             {.start = Duration{start_ns}, .duration = Duration{duration_ns}});
  return out;
}

std::string TensorText(const Tensor& tensor) {
  std::string out;
  AppendTensor(out, tensor);
  return out;
}

TEST(TextAtomsTest, EveryByteAndPairOfBytesRoundTrips) {
  for (int first = 0; first < 256; ++first) {
    for (int second = 0; second < 256; ++second) {
      const std::string bytes = {static_cast<char>(first),
                                 static_cast<char>(second)};
      const std::string text = Quoted(bytes);
      ASSERT_EQ(text.find('\n'), std::string::npos);
      ASSERT_EQ(Unquote(std::string_view(text).substr(1, text.size() - 2)),
                bytes)
          << first << " " << second;
    }
  }
}

TEST(TextAtomsTest, NamesKeepTheirLettersAndEscapeTheRest) {
  EXPECT_EQ(Quoted("aten::mul"), R"("aten::mul")");
  EXPECT_EQ(Quoted("grün"), R"("grün")");
  EXPECT_EQ(Quoted("a\"b\\c\n\x01\x7f"), R"("a\"b\\c\n\u0001\u007f")");
  EXPECT_EQ(Quoted("\xff"), R"("\xff")");
}

TEST(TextAtomsTest, AllOfJsonsEscapesAreRead) {
  EXPECT_EQ(Unquote(R"(\u00e9\u20ac\ud83d\ude00\/\b\f)"), "é€😀/\b\f");
}

TEST(TextAtomsTest, InvalidEscapesAreRefused) {
  for (const std::string_view text :
       {R"(\)", R"(\q)", R"(\u12)", R"(\u+123)", R"(\ud83d)", R"(\ud83dx)",
        R"(\ude00)", R"(\ud83d\u0041)", R"(\x)", R"(\xg0)"}) {
    EXPECT_EQ(Unquote(text), std::nullopt) << text;
  }
}

TEST(TextAtomsTest, TimesAreMicrosecondsWithoutTrailingZeros) {
  EXPECT_EQ(TimeText(0, 0), "@0+0");
  EXPECT_EQ(TimeText(12'340, 5'000), "@12.34+5");
  EXPECT_EQ(TimeText(-1, 1), "@-0.001+0.001");
  for (const int64_t ns : {-1'500, -1, 0, 7, 999, 1'000, 123'456'789}) {
    EXPECT_EQ(ParseTime(TimeText(ns, 3)).value(),
              (Measured{.start = Duration{ns}, .duration = Duration{3}}));
  }
}

TEST(TextAtomsTest, ATimeMayLackItsStart) {
  const Measured measured{.duration = Duration{1'500}};
  std::string text;
  AppendTime(text, measured);
  EXPECT_EQ(text, "@+1.5");
  EXPECT_EQ(ParseTime(text), measured);
}

TEST(TextAtomsTest, InvalidTimesAreRefused) {
  for (const std::string_view text :
       {"", "@", "@1", "1+2", "@1+", "@+", "@1.+2", "@.5+2", "@1.2345+1",
        "@1e3+1", "@--1+1", "@1+ 1", "@nan+1", "@9223372036854775807+1",
        "@+-1+2", "@1.-2+3"}) {
    EXPECT_EQ(ParseTime(text), std::nullopt) << text;
  }
}

TEST(TextAtomsTest, TensorsShowWhatIsKnown) {
  EXPECT_EQ(TensorText({}), "unknown[]");
  const Tensor tensor{.dims = {16, 13},
                      .dtype = DType::kFp32,
                      .device = Device::kGpu,
                      .storage = 5};
  EXPECT_EQ(TensorText(tensor), "fp32[16,13]@gpu#5");
  EXPECT_EQ(ParseTensor("fp32[16,13]@gpu#5"), tensor);
  EXPECT_EQ(ParseTensor("int64[]#0"),
            (Tensor{.dtype = DType::kInt64, .storage = 0}));
}

TEST(TextAtomsTest, InvalidTensorsAreRefused) {
  for (const std::string_view text :
       {"", "fp32", "fp32[", "fp32]", "fp32][", "float[1]", "fp32[,]",
        "fp32[1,]", "fp32[a]", "fp32[1]@tpu", "fp32[1]@", "fp32[1]#",
        "fp32[1]x", "fp32[1]#5@gpu"}) {
    EXPECT_EQ(ParseTensor(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace stepcast::ir

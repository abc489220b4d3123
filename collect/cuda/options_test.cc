#include "collect/cuda/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "collect/cuda/program.h"

namespace stepcast::collect {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ParsedOptions Parse(const std::vector<std::string>& words) {
  return ParseOptions(words, KernelBenchText());
}

TEST(OptionsTest, TakesValuesAfterABlankOrAnEqualsSign) {
  const ParsedOptions parsed =
      Parse({"--out", "x", "--minutes=2.5", "--only", "gemm,launch", "--only",
             "memcpy", "--gpu", "v100", "--seed", "7", "--device=1"});
  EXPECT_EQ(parsed.wrong, "");
  EXPECT_EQ(parsed.options.out, "x");
  EXPECT_EQ(parsed.options.minutes, 2.5);
  EXPECT_THAT(parsed.options.only, ElementsAre("gemm", "launch", "memcpy"));
  EXPECT_EQ(parsed.options.gpu, "v100");
  EXPECT_EQ(parsed.options.seed, 7);
  EXPECT_EQ(parsed.options.device, 1);
}

TEST(OptionsTest, ErrorsSayWhatWasExpected) {
  EXPECT_EQ(Parse({}).wrong, "no --out; expected a directory for the tables");
  EXPECT_EQ(Parse({"--out", "x", "--minutes", "0"}).wrong,
            "--minutes is '0'; expected a number above 0");
  EXPECT_THAT(Parse({"--out", "x", "--minutes", "nan"}).wrong,
              HasSubstr("'nan'; expected a number above 0"));
  EXPECT_EQ(Parse({"--out", "x", "--device", "-1"}).wrong,
            "--device is '-1'; expected a whole number, 0 or more");
  EXPECT_EQ(Parse({"--out", "x", "--seed", "1x"}).wrong,
            "--seed is '1x'; expected a whole number, 0 or more");
  EXPECT_THAT(Parse({"--out", "x", "--only", "gemm,conv"}).wrong,
              HasSubstr("--only is 'conv'; expected some of: gemm, bmm"));
  EXPECT_EQ(Parse({"--out"}).wrong,
            "nothing follows '--out'; expected a value");
  EXPECT_EQ(Parse({"--fast", "1"}).wrong,
            "unknown option '--fast'; expected those of --help");
  EXPECT_THAT(Parse({"--out", "x", "--gpu", "../y"}).wrong,
              HasSubstr("expected a name"));
}

TEST(OptionsTest, HelpNamesEveryOptionAndGroup) {
  EXPECT_TRUE(Parse({"--help"}).options.help);
  const std::string help = HelpText(NcclBenchText());
  for (const char* word : {"--out", "--minutes", "--only", "--gpu", "--seed",
                           "all_reduce, alltoall", "examples:"}) {
    EXPECT_THAT(help, HasSubstr(word));
  }
}

}  // namespace
}  // namespace stepcast::collect

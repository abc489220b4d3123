#include <string>

#include <gtest/gtest.h>

#include "base/files/embedded.h"
#include "cost/overheads/overhead_table.h"

namespace stepcast {

std::span<const EmbeddedFile> OverheadFileTexts();

namespace cost {
namespace {

constexpr std::string_view kText =
    "# Where it is from.\n"
    "\n"
    "name = \"host\"\n"
    "profiler_us_per_event = 0.5\n"
    "\n"
    "[t1]\n"
    "\"*\" = [10, 4.500, 1.000, 3.000, 4.000, 6.000, 0.25]\n"
    "\"aten::add\" = [2, 3.000, 0.000, 3.000, 3.000, 3.000, 0.00]\n"
    "\n"
    "[sync_tail]\n"
    "\"sync cudaStreamSynchronize\" = [1, 2.000, 0.000, 2.000, 2.000, 2.000, "
    "0.00]\n";

std::string With(std::string_view from, std::string_view to) {
  std::string text(kText);
  text.replace(text.find(from), from.size(), to);
  return text;
}

TEST(ParseOverheadLinesTest, ReadsNameProfilerPartsAndRows) {
  const auto data = ParseOverheadLines(kText);
  ASSERT_TRUE(data);
  EXPECT_EQ(data->name, "host");
  EXPECT_EQ(data->profiler_us_per_event, 0.5);
  const OverheadRows& rows = (*data)[OverheadPart::kBetweenOps];
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows.at("*").count, 10);
  EXPECT_EQ(rows.at("*").mean_us, 4.5);
  EXPECT_EQ(rows.at("*").p90_us, 6);
  EXPECT_EQ(rows.at("*").events, 0.25);
  EXPECT_EQ((*data)[OverheadPart::kSyncTail].size(), 1u);
}

// The reader of TOML has to look at these, be they good or bad.
TEST(ParseOverheadLinesTest, LeavesWhatWeDoNotWriteAlone) {
  for (const auto& [from, to] : {
           std::pair("name = \"host\"", "name = 'host'"),
           std::pair("name = \"host\"\n", ""),
           std::pair("name = \"host\"", "name = \"h\\u0041\""),
           std::pair("= 0.5", "= -0.5"),
           std::pair("= 0.5", "= 5e3"),
           std::pair("= 0.5", "= 2000"),
           std::pair("[t1]", "[t9]"),
           std::pair("[t1]", "[t1] # Between ops."),
           std::pair("[sync_tail]", "[t1]"),
           std::pair("[sync_tail]", "[t2]\n[t2]"),
           std::pair("\"aten::add\"", "\"*\""),
           std::pair("\"aten::add\"", "add"),
           std::pair("[2, 3.000", "[2, 03.000"),
           std::pair("[2, 3.000", "[2, -3.000"),
           std::pair("[2, 3.000", "[2, 3."),
           std::pair("[2, 3.000", "[2,3.000"),
           std::pair("[2, 3.000", "[2, inf"),
           std::pair("3.000, 4.000, 6.000", "5.000, 4.000, 6.000"),
           std::pair("6.000, 0.25]", "6.000]"),
           std::pair("0.25]", "0.25, 1.0]"),
           std::pair("0.25]", "0.25] "),
           std::pair("# Where", "# W\xc3\xb6"),
       }) {
    EXPECT_FALSE(ParseOverheadLines(With(from, to))) << to;
  }
}

TEST(ParseOverheadLinesTest, BuiltInTablesAreAsTheReaderOfTomlSeesThem) {
  EXPECT_GT(OverheadFileTexts().size(), 10u);
  for (const EmbeddedFile& file : OverheadFileTexts()) {
    auto lines = ParseOverheadLines(file.text);
    ASSERT_TRUE(lines) << file.name;
    const std::string not_plain = std::string(file.text) + "# \xc3\xb6\n";
    ASSERT_FALSE(ParseOverheadLines(not_plain));
    const auto toml = ParseOverheads(not_plain, file.name);
    ASSERT_TRUE(toml) << toml.error().message;
    lines->provenance = toml->provenance;
    EXPECT_EQ(OverheadText(*lines), OverheadText(*toml)) << file.name;
  }
}

}  // namespace
}  // namespace cost
}  // namespace stepcast

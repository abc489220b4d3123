#include "view/write.h"

#include <algorithm>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::view {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Doc SampleDoc() {
  Doc doc{.title = "small on v100",
          .verdict = "bound by the host",
          .version = "1.0",
          .asked = {},
          .blocks = {},
          .csv = {}};
  doc.blocks.emplace_back(
      Facts{{{.key = "step_time_us", .label = "step time"},
             FromMicroseconds(6407.25),
             "p10 5.295"},
            {{.key = "interval_us.p10"}, FromMicroseconds(5295)},
            {{.key = "interval_us.p90"}, FromMicroseconds(7377)},
            {{.key = "fits"}, true}});
  doc.blocks.emplace_back(Facts{
      {{.key = "rate", .label = "throughput", .unit = "samples/s"}, 312345.6}});
  Table table{.key = "ranks", .title = "ranks", .limit = 2};
  table.columns = {{.key = "name", .label = "kernel", .width = 20},
                   {.key = "alike"},
                   {.key = "a.us", .label = "step"},
                   {.key = "a.skew", .label = "skew", .unit = "us"},
                   {.label = "of all"},
                   {.key = "gone_us", .label = "gone"}};
  for (const double us : {1500.0, 500.0, 250.0}) {
    table.rows.push_back({"volta_sgemm_128x64_nn", int64_t{1},
                          FromMicroseconds(us), FromMicroseconds(us / 100),
                          Share{us / 3000}, Value()});
  }
  doc.blocks.emplace_back(table);
  doc.blocks.emplace_back(Notes{{"an estimate"}});
  doc.csv = table;
  return doc;
}

TEST(WriteTextTest, HasTheVerdictSecondAndCutsTablesAtTheirLimit) {
  EXPECT_EQ(WriteText(SampleDoc()),
            "small on v100\n"
            "bound by the host\n"
            "\n"
            "step time    6.407 ms   p10 5.295\n"
            "throughput   312,346 samples/s\n"
            "\n"
            "ranks\n"
            "  kernel                step ms  skew us  of all\n"
            "  volta_sge...28x64_nn    1.500     15.0  50.0 %\n"
            "  volta_sge...28x64_nn    0.500      5.0  16.7 %\n"
            "  ... 1 more\n"
            "\n"
            "note: an estimate\n");
}

// The sample with its rows made as they are asked for.
Doc DocOnDemand() {
  Doc doc = SampleDoc();
  for (Table* table : {&std::get<Table>(doc.blocks[2]), &doc.csv}) {
    const auto rows = std::exchange(table->rows, {});
    table->source = {.count = rows.size(),
                     .make = [rows](size_t row) { return rows[row]; }};
  }
  return doc;
}

TEST(WriteTest, RowsMadeOnDemandAreWrittenLikeOthers) {
  EXPECT_EQ(WriteText(DocOnDemand()), WriteText(SampleDoc()));
  EXPECT_EQ(WriteJson(DocOnDemand()), WriteJson(SampleDoc()));
  EXPECT_EQ(WriteHtml(DocOnDemand()), WriteHtml(SampleDoc()));
  EXPECT_EQ(WriteMarkdown(DocOnDemand()), WriteMarkdown(SampleDoc()));
  EXPECT_EQ(WriteCsv(DocOnDemand()), WriteCsv(SampleDoc()));
}

TEST(WriteTest, LargeReportsComeInChunks) {
  Doc doc;
  doc.csv.columns = {{.key = "a"}};
  doc.csv.source = {.count = 50, .make = [](size_t /*row*/) {
                      return std::vector<Value>{std::string(100'000, 'x')};
                    }};
  size_t chunks = 0;
  size_t largest = 0;
  WriteCsv(doc, [&](std::string_view chunk) {
    ++chunks;
    largest = std::max(largest, chunk.size());
  });
  EXPECT_GT(chunks, 1U);
  EXPECT_LT(largest, 2U << 20);
}

TEST(WriteTextTest, TheLargestRowsAreShownInTheirOrder) {
  Doc doc = DocOnDemand();
  auto& table = std::get<Table>(doc.blocks[2]);
  const auto make = table.source.make;
  table.source.make = [make](size_t row) { return make(2 - row); };
  table.keep_by = 2;
  EXPECT_THAT(WriteText(doc), HasSubstr("0.500      5.0  16.7 %\n"
                                        "  volta_sge...28x64_nn    1.500"));
}

TEST(WriteTextTest, ThreeDigitsNeverRoundToAnExponent) {
  Doc doc;
  doc.blocks.emplace_back(Facts{{{.label = "power", .unit = "W"}, 999.7}});
  EXPECT_THAT(WriteText(doc), HasSubstr("power   1,000 W\n"));
}

TEST(WriteTextTest, NarrowTerminalsCutTheWidestWords) {
  const std::string text = WriteText(SampleDoc(), {.width = 40});
  EXPECT_THAT(text, HasSubstr("  volta...4_nn  "));
  EXPECT_THAT(text, HasSubstr("1.500     15.0  50.0 %\n"));
}

TEST(WriteTextTest, TerminalsGetColoursAndBars) {
  EXPECT_THAT(WriteText(SampleDoc(), {.rich = true}),
              HasSubstr("50.0 %  \x1b[34m██████\x1b[0m\n"));
  EXPECT_THAT(WriteText(SampleDoc()), Not(HasSubstr("\x1b")));
}

TEST(WriteJsonTest, DotsLeadIntoObjectsAndNothingIsLeftOut) {
  Doc doc = SampleDoc();
  std::get<Table>(doc.blocks[2]).rows.resize(1);
  EXPECT_EQ(WriteJson(doc), R"({
  "version": "1.0",
  "verdict": "bound by the host",
  "step_time_us": 6407.25,
  "interval_us": {
    "p10": 5295,
    "p90": 7377
  },
  "fits": true,
  "rate": 312345.6,
  "ranks": [
    {
      "name": "volta_sgemm_128x64_nn",
      "alike": 1,
      "a": {
        "us": 1500,
        "skew": 15
      }
    }
  ],
  "notes": [
    "an estimate"
  ]
}
)");
}

TEST(WriteJsonTest, AReportInAnotherIsAnObjectOfTheSameVersion) {
  Doc doc{.version = "1.0"};
  doc.blocks.emplace_back(
      Nested{.key = "before", .doc = std::make_shared<const Doc>()});
  EXPECT_EQ(WriteJson(doc),
            "{\n  \"version\": \"1.0\",\n  \"before\": {\n    \"version\": "
            "\"1.0\"\n  }\n}\n");
}

TEST(WriteHtmlTest, HeadsNameTheKeysOfJson) {
  Doc doc = SampleDoc();
  doc.asked.emplace().scenario.workload = {"</script>"};
  const std::string html = WriteHtml(doc);
  EXPECT_THAT(html, HasSubstr("<table data-key=\"ranks\">"));
  EXPECT_THAT(html, HasSubstr("<th class=\"number\" data-key=\"a.us\">step ms"
                              "</th>"));
  EXPECT_THAT(html, HasSubstr("<td class=\"number\">0.250</td>"));
  EXPECT_THAT(html, HasSubstr("<h2>Ranks</h2>"));
  EXPECT_THAT(html, HasSubstr("\"scenario\":{\"workload\":["));
  EXPECT_THAT(html, Not(HasSubstr("[\"</script>")));
}

TEST(WriteHtmlTest, BlocksOfOneTitleShareItsHeading) {
  Doc doc = SampleDoc();
  const Table table = std::get<Table>(doc.blocks[2]);
  doc.blocks.insert(
      doc.blocks.begin() + 2,
      Picture{.title = "ranks", .about = "Why.", .drawing = html::Bars{}});
  const std::string html = WriteHtml(doc);
  EXPECT_EQ(html.find("<h2>Ranks</h2>"), html.rfind("<h2>Ranks</h2>"));
}

TEST(WriteMarkdownTest, TablesHaveRulesAndNamesAreEscaped) {
  const std::string text = WriteMarkdown(SampleDoc());
  EXPECT_THAT(text, HasSubstr("**Bound by the host**\n"));
  EXPECT_THAT(text, HasSubstr("- step time: 6.407 ms (p10 5.295)\n"));
  EXPECT_THAT(text, HasSubstr("| kernel | step ms | skew us | of all |\n"
                              "| :-- | --: | --: | --: |\n"
                              "| volta\\_sge...28x64\\_nn | 1.500 |"));
}

TEST(WriteCsvTest, HasEveryKeyAndTheValuesOfJson) {
  EXPECT_EQ(WriteCsv(SampleDoc()),
            "name,alike,a.us,a.skew,gone_us\n"
            "volta_sgemm_128x64_nn,1,1500,15,\n"
            "volta_sgemm_128x64_nn,1,500,5,\n"
            "volta_sgemm_128x64_nn,1,250,2.5,\n");
}

TEST(WriteJunitTest, EveryCheckIsATest) {
  Doc doc = SampleDoc();
  EXPECT_THAT(WriteJunit(doc), HasSubstr("tests=\"1\" failures=\"0\""));
  doc.cases = {{.name = "step>3%", .failure = "step is 5 %"},
               {.name = "host>1%"}};
  EXPECT_EQ(WriteJunit(doc),
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<testsuites>\n"
            "  <testsuite name=\"stepcast\" tests=\"2\" failures=\"1\">\n"
            "    <testcase classname=\"small on v100\" name=\"step&gt;3%\">\n"
            "      <failure message=\"step is 5 %\"/>\n"
            "    </testcase>\n"
            "    <testcase classname=\"small on v100\" name=\"host&gt;1%\"/>\n"
            "  </testsuite>\n"
            "</testsuites>\n");
}

}  // namespace
}  // namespace stepcast::view

#include "scenario/scenario_text.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "scenario/settings.h"

namespace stepcast::scenario {
namespace {

using ::testing::HasSubstr;

std::string ReportOf(const Question& question) {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String("1");
  WriteQuestion(json, question);
  json.Key("step_time_us").Int(5);
  json.EndObject();
  return json.Take();
}

std::string ErrorOfReport(std::string_view report) {
  const auto question = ReadQuestion(report, "r.json");
  return question ? "none" : question.error().message;
}

// Some settings, with letters that JSON has to escape.
Scenario RandomScenario(uint64_t seed) {
  Rng rng(seed);
  Scenario scenario;
  const std::string letters = "a1-_. \"\\\n\t/";
  const auto word = [&] {
    std::string text = "x";
    for (uint64_t i = rng.Next() % 8; i > 0; --i) {
      text += letters[rng.Next() % letters.size()];
    }
    return text;
  };
  for (const Setting& setting : Settings()) {
    if (rng.Next() % 2 == 0) {
      EXPECT_TRUE(SetSetting(setting.IsFlag()
                                 ? std::string(setting.name)
                                 : std::string(setting.name) + "=" + word(),
                             "a test", scenario));
    }
  }
  scenario.workload = {word(), word()};
  return scenario;
}

TEST(ScenarioTextTest, WhatIsWrittenIsReadBack) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const Scenario scenario = RandomScenario(seed);
    Question question{.verb = "whatif", .scenario = scenario, .arguments = {}};
    if (seed % 2 == 0) {
      question.arguments = {{"change", {"a\"=1", ""}}, {"suggest", {"true"}}};
    }
    const auto again = ReadQuestion(ReportOf(question), "r.json");
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_TRUE(again->has_value());
    EXPECT_EQ(**again, question) << ReportOf(question);
    const auto file = ReadScenarioToml(ScenarioToml(scenario), "s.toml");
    ASSERT_TRUE(file) << file.error().message;
    ASSERT_TRUE(file->has_value());
    EXPECT_EQ(**file, scenario) << ScenarioToml(scenario);
  }
}

TEST(ScenarioTextTest, AReportWithoutOneHasNone) {
  const auto question = ReadQuestion(R"({"version": "1"})", "r.json");
  ASSERT_TRUE(question);
  EXPECT_FALSE(question->has_value());
}

TEST(ScenarioTextTest, MistakesAreReported) {
  EXPECT_THAT(ErrorOfReport(R"({"scenario": {"bacth": "4"}})"),
              HasSubstr("unknown setting 'bacth'"));
  EXPECT_THAT(ErrorOfReport(R"({"scenario": {"pageable": "4"}})"),
              HasSubstr("another type of value for 'pageable'"));
  EXPECT_THAT(ErrorOfReport(R"({"scenario": {"workload": "m"}})"),
              HasSubstr("another type of value for 'workload'"));
  EXPECT_THAT(ErrorOfReport(R"({"scenario": 4})"), HasSubstr("not an object"));
  EXPECT_THAT(ErrorOfReport(R"({"scenario": {}, "arguments": {"change": 4}})"),
              HasSubstr("not lists of words"));
}

TEST(ScenarioTextTest, AFileHasNumbersAndNamesAsPeopleWriteThem) {
  const auto scenario = ReadScenarioToml(
      "[scenario]\nworkload = 'dlrm_default'\nbatch = 512\n"
      "rows-factor = 0.5\npageable = true\n",
      "s.toml");
  ASSERT_TRUE(scenario && scenario->has_value());
  EXPECT_EQ(**scenario, (Scenario{.workload = {"dlrm_default"},
                                  .rows_factor = "0.5",
                                  .batch = "512",
                                  .pageable = true}));
  EXPECT_FALSE(ReadScenarioToml("name = 'a model'\n", "m.toml")->has_value());
  const auto mistake =
      ReadScenarioToml("[scenario]\nbatch = 1\nbacth = 4\n", "s.toml");
  ASSERT_FALSE(mistake);
  EXPECT_THAT(mistake.error().message, HasSubstr("s.toml:3"));
}

TEST(ScenarioTextTest, ChangesGoOnTop) {
  Scenario scenario{.batch = "1", .gpu = "a"};
  PutOnTop({.batch = "2", .pageable = true}, scenario);
  EXPECT_EQ(scenario, (Scenario{.batch = "2", .pageable = true, .gpu = "a"}));
}

}  // namespace
}  // namespace stepcast::scenario

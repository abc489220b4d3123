#include "scenario/question.h"

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
  json.Key("scenario");
  WriteQuestion(json, question);
  json.EndObject();
  return json.Take();
}

std::string ErrorOfReport(std::string_view report) {
  const auto question = ReadQuestion(report, "r.json");
  return question ? "none" : question.error().message;
}

// Some settings, with letters that JSON has to escape.
Question RandomQuestion(uint64_t seed) {
  Rng rng(seed);
  Question question;
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
                             "a test", question.scenario));
    }
  }
  question.workload = {word(), word()};
  question.rank = rng.Next() % 2 == 0 ? "3" : "";
  question.algorithm = {word()};
  return question;
}

TEST(QuestionTest, WhatIsWrittenIsReadBack) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const Question question = RandomQuestion(seed);
    const auto again = ReadQuestion(ReportOf(question), "r.json");
    ASSERT_TRUE(again) << again.error().message;
    ASSERT_TRUE(again->has_value());
    EXPECT_EQ(**again, question) << ReportOf(question);
  }
}

TEST(QuestionTest, AReportWithoutOneHasNone) {
  const auto question = ReadQuestion(R"({"version": "1"})", "r.json");
  ASSERT_TRUE(question);
  EXPECT_FALSE(question->has_value());
}

TEST(QuestionTest, MistakesAreTold) {
  EXPECT_THAT(ErrorOfReport(R"({"scenario": {"bacth": "4"}})"),
              HasSubstr("'bacth', which is no setting"));
  EXPECT_THAT(ErrorOfReport(R"({"scenario": {"pageable": "4"}})"),
              HasSubstr("another type of value for 'pageable'"));
  EXPECT_THAT(ErrorOfReport(R"({"scenario": {"workload": "m"}})"),
              HasSubstr("another type of value for 'workload'"));
  EXPECT_THAT(ErrorOfReport(R"({"scenario": 4})"), HasSubstr("no object"));
}

TEST(QuestionTest, ChangesGoOnTop) {
  Scenario scenario{.gpu = "a", .batch = "1"};
  PutOnTop({.batch = "2", .pageable = true}, scenario);
  EXPECT_EQ(scenario, (Scenario{.gpu = "a", .batch = "2", .pageable = true}));
}

}  // namespace
}  // namespace stepcast::scenario

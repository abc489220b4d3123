#include "scenario/settings.h"

#include <set>
#include <string>
#include <string_view>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepcast::scenario {
namespace {

using ::testing::HasSubstr;

// The text that sets a row to its example.
std::string ExampleOf(const Setting& setting) {
  return setting.IsFlag()
             ? std::string(setting.name)
             : std::string(setting.name) + "=" + std::string(setting.example);
}

std::string ErrorOf(const Status& status) {
  return status ? "" : status.error().message;
}

TEST(SettingsTest, EveryRowIsItsOwnMemberOfAScenario) {
  std::set<std::string_view> names;
  std::vector<Scenario> seen = {Scenario{}};
  for (const Setting& setting : Settings()) {
    SCOPED_TRACE(setting.name);
    EXPECT_TRUE(names.insert(setting.name).second);
    Scenario scenario;
    EXPECT_FALSE(setting.IsSet(scenario));
    ASSERT_TRUE(SetSetting(ExampleOf(setting), "a test", scenario));
    EXPECT_TRUE(setting.IsSet(scenario));
    for (const Scenario& other : seen) {
      EXPECT_FALSE(scenario == other);
    }
    seen.push_back(scenario);
  }
}

TEST(SettingsTest, EveryRowSaysWhatItIsAndWhereItAppliesAndItsDefault) {
  for (const Setting& setting : Settings()) {
    SCOPED_TRACE(setting.name);
    EXPECT_FALSE(setting.help.empty());
    EXPECT_FALSE(setting.standard.empty());
    EXPECT_TRUE(setting.subjects.model || setting.subjects.server ||
                setting.subjects.fleet || setting.subjects.trace);
    // Advice for recorded steps belongs to what they do not have.
    EXPECT_TRUE(setting.instead.empty() || !setting.subjects.trace);
  }
}

TEST(SettingsTest, ARowIsFoundWithEitherDash) {
  ASSERT_NE(FindSetting("cuda-graphs"), nullptr);
  EXPECT_EQ(FindSetting("cuda-graphs"), FindSetting("cuda_graphs"));
  EXPECT_EQ(FindSetting("cudagraphs"), nullptr);
}

TEST(SettingsTest, AnUnknownOneNamesTheNearest) {
  Scenario scenario;
  EXPECT_THAT(ErrorOf(SetSetting("bacth=4", "m@bacth=4", scenario)),
              HasSubstr("'bacth'"));
  EXPECT_THAT(ErrorOf(SetSetting("bacth=4", "m@bacth=4", scenario)),
              HasSubstr("batch"));
  EXPECT_THAT(ErrorOf(SetSetting("batch", "m@batch", scenario)),
              HasSubstr("no value in 'm@batch'"));
  EXPECT_THAT(ErrorOf(SetSetting("pageable=1", "m@pageable=1", scenario)),
              HasSubstr("expected true or false"));
}

TEST(SettingsTest, AListTakesTheNewestFirst) {
  Scenario scenario;
  ASSERT_TRUE(SetSetting("profile=a", "", scenario));
  ASSERT_TRUE(SetSetting("profile=b", "", scenario));
  EXPECT_THAT(scenario.profile, ::testing::ElementsAre("b", "a"));
}

TEST(SettingsTest, WhatMeansNothingThereIsRefusedWithTheWayToDoIt) {
  Scenario scenario;
  ASSERT_TRUE(SetSetting("batch=512", "", scenario));
  EXPECT_EQ(ErrorOf(CheckSubject(scenario, Subject::kTrace)),
            "batch means nothing for a recorded step; its shapes are those of "
            "its batch; predict its model with another");
  EXPECT_TRUE(CheckSubject(scenario, Subject::kModel));
}

TEST(SettingsTest, EveryRowIsRefusedJustWhereItDoesNotApply) {
  for (const Setting& setting : Settings()) {
    Scenario scenario;
    ASSERT_TRUE(SetSetting(ExampleOf(setting), "a test", scenario));
    for (const Subject subject : {Subject::kModel, Subject::kServer,
                                  Subject::kFleet, Subject::kTrace}) {
      EXPECT_EQ(CheckSubject(scenario, subject).has_value(),
                setting.subjects.Has(subject))
          << setting.name << " for " << Describe(subject);
    }
  }
}

TEST(SettingsTest, PathsOfAFileStartWhereItIs) {
  const auto seen = [](std::string_view name, std::string_view text) {
    return SeenFrom("mine/study.toml", *FindSetting(name), text);
  };
  EXPECT_EQ(seen("gpu", "gpu.toml"), "mine/gpu.toml");
  EXPECT_EQ(seen("gpu", "gpu.toml@dram_gb=90"), "mine/gpu.toml@dram_gb=90");
  EXPECT_EQ(seen("gpu", "/gpu.toml"), "/gpu.toml");
  EXPECT_EQ(seen("plan", "plan.json"), "mine/plan.json");
  // Names of what is built in have no ending, whatever else is in them.
  EXPECT_EQ(seen("platform", "dgx-1-v100-nccl-2.7"), "dgx-1-v100-nccl-2.7");
  EXPECT_EQ(seen("workload", "dlrm_mlperf"), "dlrm_mlperf");
  EXPECT_EQ(seen("batch", "512"), "512");
  EXPECT_EQ(SeenFrom("study.toml", *FindSetting("gpu"), "gpu.toml"),
            "gpu.toml");
}

TEST(SettingsTest, SettingsSayWhatAModelRunsOn) {
  Scenario scenario;
  EXPECT_EQ(SubjectOfModel(scenario), Subject::kModel);
  scenario.server = "2s-skylake";
  EXPECT_EQ(SubjectOfModel(scenario), Subject::kServer);
  scenario.sync_every = "20";
  EXPECT_EQ(SubjectOfModel(scenario), Subject::kFleet);
}

}  // namespace
}  // namespace stepcast::scenario

#include "api/ask.h"

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "view/write.h"

namespace stepcast::api {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;

scenario::Question QuestionOf(std::string verb, std::string workload) {
  scenario::Question question{
      .verb = std::move(verb), .scenario = {}, .arguments = {}};
  if (!workload.empty()) {
    question.scenario.workload = {std::move(workload)};
  }
  return question;
}

std::string ErrorOf(const scenario::Question& question,
                    const Options& options = {}) {
  const auto answer = Ask(question, options);
  return answer ? "none" : answer.error().message;
}

TEST(AskTest, AnAnswerCarriesItsQuestionAndValuesForEveryQuantity) {
  for (const std::string verb : {"predict", "whatif", "plan"}) {
    scenario::Question question = QuestionOf(verb, "dlrm_default");
    if (verb == "whatif") {
      question.arguments = {{"change", {"batch=512"}}};
    }
    if (verb == "plan") {
      question.scenario.gpus = "2";
      question.arguments = {{"sharder", {"size"}}};
    }
    const auto answer = Ask(question);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->doc.asked, question);
    EXPECT_EQ(answer->doc.version, Version());
    EXPECT_THAT(answer->values, SizeIs(FindVerb(verb)->quantities.size()));
    for (const File& file : FindVerb(verb)->files) {
      ASSERT_TRUE(answer->files.contains(file.name)) << file.name;
      EXPECT_FALSE(answer->files.find(file.name)->second().empty());
    }
  }
}

TEST(AskTest, AnAnswerOutlivesWhatMadeIt) {
  const auto answer = Ask(QuestionOf("predict", "dlrm_default"));
  ASSERT_TRUE(answer);
  EXPECT_THAT(view::WriteHtml(answer->doc), HasSubstr("timeline"));
}

TEST(AskTest, SeveralThreadsGetTheAnswersOfOne) {
  std::vector<scenario::Question> questions = {
      QuestionOf("predict", "dlrm_default"), QuestionOf("predict", "rm1"),
      QuestionOf("whatif", "dlrm_default"), QuestionOf("compare", "rm1")};
  questions[1].scenario.platform = "dgx-a100";
  questions[1].scenario.gpus = "4";
  questions[2].arguments = {{"change", {"precision=amp-fp16"}}};
  questions[3].scenario.workload = {"rm1@gpu=t4", "rm1@gpu=v100-sxm-16gb"};
  std::vector<std::string> alone;
  for (const scenario::Question& question : questions) {
    const auto answer = Ask(question);
    ASSERT_TRUE(answer) << answer.error().message;
    alone.push_back(view::WriteJson(answer->doc));
  }
  std::vector<std::string> together(2 * questions.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < together.size(); ++i) {
    threads.emplace_back([&, i] {
      const auto answer = Ask(questions[i % questions.size()]);
      together[i] = answer ? view::WriteJson(answer->doc) : "";
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (size_t i = 0; i < together.size(); ++i) {
    EXPECT_EQ(together[i], alone[i % alone.size()]);
  }
}

TEST(AskTest, ASearchThatIsStoppedAnswersWithItsBest) {
  scenario::Question question = QuestionOf("plan", "dlrm_mlperf");
  question.scenario.gpus = "8";
  std::vector<std::string> reported;
  std::atomic<int> asked = 0;
  const auto answer =
      Ask(question,
          {.on_progress =
               [&](std::string_view what) { reported.emplace_back(what); },
           .cancelled = [&] { return ++asked > 1; }});
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_GT(answer->values.front(), 0);
  EXPECT_FALSE(reported.empty());
}

TEST(AskTest, AnythingElseThatIsStoppedFails) {
  EXPECT_THAT(ErrorOf(QuestionOf("predict", "dlrm_default"),
                      {.cancelled = [] { return true; }}),
              HasSubstr("stopped"));
}

TEST(AskTest, WhatAVerbDoesNotTakeIsRefused) {
  EXPECT_THAT(ErrorOf(QuestionOf("predcit", "")),
              HasSubstr("unknown command 'predcit'"));
  scenario::Question question = QuestionOf("whatif", "dlrm_default");
  question.arguments = {{"chnage", {"batch=512"}}};
  EXPECT_THAT(ErrorOf(question), HasSubstr("'chnage'"));
  question = QuestionOf("predict", "dlrm_default");
  question.arguments = {{"change", {"batch=512"}}};
  EXPECT_THAT(ErrorOf(question), HasSubstr("takes no argument 'change'"));
  question = QuestionOf("doctor", "trace.json");
  question.scenario.batch = "512";
  EXPECT_THAT(ErrorOf(question), HasSubstr("batch means nothing for doctor"));
}

TEST(AskTest, EveryVerbTakesItsWorkload) {
  for (const Verb& verb : Verbs()) {
    std::vector<std::string_view> taken;
    for (const scenario::Setting& setting : scenario::Settings()) {
      if (verb.takes(setting)) {
        taken.push_back(setting.name);
      }
    }
    EXPECT_THAT(taken, Contains("workload")) << verb.name;
    // An argument that a setting of the verb hides could not be given.
    for (const Argument& argument : verb.arguments) {
      EXPECT_THAT(taken, testing::Not(Contains(argument.name))) << verb.name;
    }
  }
}

}  // namespace
}  // namespace stepcast::api

#include "whatif/suggest.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/frameworks/implementations.h"
#include "model/model_testing.h"
#include "whatif/places.h"
#include "whatif/tries.h"
#include "whatif/whatif_testing.h"

namespace stepcast::whatif {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Two waits: of item 200 us, of a copy 50.
constexpr std::string_view kWaits = R"(stepcast-graph 1
rank 0 "Tesla V100-SXM2-16GB" @0+500
  thread main
    annotation "## forward ##" @0+490
      op "aten::item" @5+235
        call launch "launch" @10+4
          s7: elementwise elements=1048576 read=4194304 written=4194304 dtype=fp32 "relu" @16+204 #w
        call stream_sync "sync" @20+210 #c
      op "aten::copy_" site "train.py(12): step" @260+100
        call launch "launch" @270+4
          s7: elementwise elements=1048576 read=4194304 written=4194304 dtype=fp32 "relu" @276+50 #v
        call stream_sync "sync" @280+56 #d
  wait #w -> #c
  wait #v -> #d
)";

// What a change would come to that makes nothing but this difference.
Changed ChangedBy(const Case& subject, Duration delta) {
  Changed changed;
  changed.after = subject;
  changed.delta = {
      .step = delta, .p10 = delta, .p50 = delta, .p90 = delta, .shift = {}};
  return changed;
}

std::vector<std::string> TriesOf(const Case& subject, bool hypothetical) {
  std::vector<std::string> texts;
  for (const Try& item : ChangesToTry(subject, hypothetical)) {
    texts.push_back(item.change);
  }
  return texts;
}

TEST(SuggestTest, EveryOpThatWaitsIsTriedAloneAndTheLongestWaitComesFirst) {
  const Case subject = TraceOf(kWaits);
  const std::vector<Place> places = PlacesThatWait(subject);
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].name, "aten::item");
  EXPECT_EQ(places[0].path, "aten::item in ## forward ##, sync");
  EXPECT_EQ(places[1].name, "aten::copy_");
  EXPECT_THAT(places[1].path, HasSubstr(" at train.py(12): step, "));
  EXPECT_GT(places[0].time, places[1].time);
  const std::vector<std::string> tries = TriesOf(subject, false);
  EXPECT_THAT(tries, Contains("remove-sync=aten::item"));
  EXPECT_THAT(tries, Contains("remove-sync=aten::copy_"));
  EXPECT_THAT(tries, Contains("remove-sync"));
}

TEST(SuggestTest, WhatNobodyCanDoIsTriedWhereItIsAskedFor) {
  const Case subject = TraceOf(kWaits);
  EXPECT_THAT(TriesOf(subject, false), Not(Contains(StartsWith("scale-"))));
  EXPECT_THAT(TriesOf(subject, true), Contains("scale-overhead=0.5"));
  EXPECT_THAT(TriesOf(subject, true), Contains("scale-op=elementwise=0.5"));
}

TEST(SuggestTest, OnlyNewerGpusOfTheSameMakerAreTried) {
  const auto gpus = [](std::string_view gpu) {
    std::vector<std::string> found;
    for (const std::string& text : TriesOf(TraceOf(kWaits, gpu), false)) {
      if (text.starts_with("gpu=")) {
        found.push_back(text);
      }
    }
    return found;
  };
  EXPECT_THAT(gpus("v100-sxm-16gb"),
              ::testing::ElementsAre("gpu=a100-sxm-80gb", "gpu=h100-sxm-80gb",
                                     "gpu=b200-sxm-180gb"));
  EXPECT_THAT(gpus("h100-sxm-80gb"),
              ::testing::ElementsAre("gpu=b200-sxm-180gb"));
  EXPECT_THAT(gpus("b200-sxm-180gb"), ::testing::IsEmpty());
  EXPECT_THAT(gpus("mi300x"), ::testing::ElementsAre("gpu=mi355x"));
}

TEST(SuggestTest, AnActionSaysWhatToDoAndWhere) {
  const Case subject = TraceOf(kWaits);
  const Changed changed = After(subject, {"remove-sync=aten::item"});
  const Action action =
      ActionOf(subject, ChangesOf({"remove-sync=aten::item"}).front(), changed);
  EXPECT_THAT(action.text, HasSubstr("`.item()`"));
  EXPECT_THAT(action.where, HasSubstr("aten::item in ## forward ##"));
  EXPECT_EQ(action.effort, Effort::kLow);
}

TEST(SuggestTest, EveryChangeThatIsTriedHasAnAction) {
  const Case subject = TraceOf(kWaits);
  for (const ChangeKind& kind : Changes()) {
    if (!kind.tries.empty()) {
      const Change change{
          .kind = &kind, .text = std::string(kind.name), .value = "x"};
      const Action action = ActionOf(subject, change, ChangedBy(subject, {}));
      EXPECT_THAT(action.text, Not(HasSubstr("--change"))) << kind.name;
      EXPECT_EQ(action.effort == Effort::kNone, kind.hypothetical) << kind.name;
    }
  }
}

// By a tenth of a step, which ranks differ by anyway, and by a half.
TEST(SuggestTest, AStragglerAmongTwoRanksOrWithinChanceIsNotSure) {
  constexpr std::string_view kNothing;
  constexpr std::string_view kLaunch = R"(      call launch "launch" @10+4
        s7: fill bytes=1024 "zero" @22+20
)";
  const auto sure = [](int ranks, int64_t gain, std::string_view launched) {
    std::string text = "stepcast-graph 1\n";
    for (int i = 0; i < ranks; ++i) {
      text += fmt::format(
          "rank {} \"Tesla V100-SXM2-16GB\" @0+100\n  thread main\n    op "
          "\"a\" @0+100\n{}",
          i, launched);
    }
    const Case subject = TraceOf(text);
    return ConfidenceOf(subject, ChangesOf({"remove-straggler"}).front(),
                        ChangedBy(subject, -subject.result.step * gain / 100));
  };
  EXPECT_EQ(sure(2, 50, kLaunch), Confidence::kLow);
  EXPECT_EQ(sure(4, 10, kNothing), Confidence::kLow);
  EXPECT_EQ(sure(4, 10, kLaunch), Confidence::kMedium);
  EXPECT_EQ(sure(4, 50, kLaunch), Confidence::kHigh);
}

TEST(SuggestTest, AGainWithinWhatStepsDifferByIsNotHigh) {
  Case subject = TraceOf(kWaits);
  const Changed changed = After(subject, {"scale-op=relu=0.9"});
  const Change change = ChangesOf({"scale-op=relu=0.9"}).front();
  EXPECT_EQ(ConfidenceOf(subject, change, changed), Confidence::kHigh);
  subject.result.interval.p10 = subject.result.step / 2;
  EXPECT_EQ(ConfidenceOf(subject, change, changed), Confidence::kMedium);
}

// A model in TorchRec on four GPUs; one of its tables has most of the lookups.
Case ModelCase(scenario::Resolver& resolver) {
  scenario::Job job;
  job.options.samples = 0;
  job.request.model = model::MadeModel(
      512, {512, 64}, {512, 1},
      {{.count = 6, .rows = 1'000'000, .dim = 64, .pooling = 5},
       {.count = 1, .rows = 1'000'000, .dim = 64, .pooling = 400}});
  job.request.settings.impl = *model::FindImplementation("torchrec");
  job.names.machine.gpu = "v100-sxm-16gb";
  job.names.machine.gpus = 4;
  const Status bound = resolver.Bind(job);
  CHECK(bound.has_value()) << bound.error().message;
  auto made = CaseOfModel(std::move(job), resolver);
  CHECK(made.has_value()) << made.error().message;
  return *std::move(made);
}

const Suggestion* Find(const Suggestions& found, std::string_view kind) {
  const auto item =
      std::ranges::find_if(found.gains, [&](const Suggestion& suggestion) {
        return suggestion.change.kind->name == kind;
      });
  return item == found.gains.end() ? nullptr : &*item;
}

TEST(SuggestTest, TheLargestBatchThatFitsGainsByTheSample) {
  scenario::Resolver resolver;
  const Case before = ModelCase(resolver);
  const Suggestions found = Suggest(before, resolver);
  const Suggestion* const batch = Find(found, "batch");
  ASSERT_NE(batch, nullptr);
  EXPECT_TRUE(batch->per_sample);
  const engine::ModelPrediction& after = *batch->changed.after.model;
  EXPECT_TRUE(after.fits());
  const int64_t times = after.batch / before.model->batch;
  EXPECT_EQ(batch->changed.delta.step,
            after.result.step / times - before.result.step);
  const std::string text = fmt::format("batch={}", after.batch * 2);
  const Changed twice = After(before, {text});
  EXPECT_FALSE(twice.after.model->fits());
}

// Of 430 ids per sample 400 are of one table: without a plan, what the ranks
// have of the others is not levelled with that.
TEST(SuggestTest, ABetterShardingOfTheTablesIsSuggested) {
  scenario::Resolver resolver;
  const Case before = ModelCase(resolver);
  const Suggestions found = Suggest(before, resolver);
  const Suggestion* const plan = Find(found, "plan");
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->change.text, "reshard=plan.json");
  EXPECT_LT(plan->changed.delta.step * 100, -before.result.step);
  EXPECT_THAT(plan->action.where, HasSubstr("TorchRec's planner"));
}

}  // namespace
}  // namespace stepcast::whatif

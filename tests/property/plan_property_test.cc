// Laws of plans: the search against all plans there are, and against what
// others do.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "base/tries_testing.h"
#include "model/frameworks/implementations.h"
#include "plan/find_plan.h"
#include "plan/make_problem.h"
#include "scenario/resolve.h"
#include "tests/testing/random_problem.h"

namespace stepcast::plan {
namespace {

// Problems of the search, and how many of them have to come out within one
// percent of the best plan there is.
constexpr uint64_t kProblems = Tries(uint64_t{200});
constexpr double kWithin = 1.01;
constexpr uint64_t kMostMissed = kProblems / 20;

// In place of the simulator: all plans take the same time, so cost decides.
Simulate ByCost() {
  return [](const Plan&) { return Simulated{.step = Duration(1)}; };
}

FindOptions SearchWith(uint64_t seed) {
  FindOptions options;
  options.search.seed = seed;
  options.search.evaluations = 20'000;
  options.most_simulated = 1;
  return options;
}

TEST(PlanProperty, IsAsGoodAsTheBestOfAllPlansAndAsEveryBaseline) {
  uint64_t missed = 0;
  for (uint64_t seed = 1; seed <= kProblems; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = testing::RandomProblem(seed, 4, 4);
    const Cost best = testing::BestOfAll(problem);
    const auto found = FindPlans(problem, ByCost(), SearchWith(seed));
    ASSERT_TRUE(found) << found.error().message;
    const Candidate* local = nullptr;
    for (const Candidate& candidate : found->candidates) {
      local = candidate.sharder == "local" ? &candidate : local;
    }
    ASSERT_NE(local, nullptr);
    // Nothing is better than the best.
    EXPECT_FALSE(IsBetter(local->cost, best));
    missed += local->cost.over_bytes > best.over_bytes + 1 ||
                      local->cost.us > kWithin * best.us
                  ? 1
                  : 0;
    for (const Candidate& other : found->candidates) {
      EXPECT_FALSE(IsBetter(other.cost, local->cost)) << other.sharder;
    }
  }
  fmt::print("within 1 % of the best plan: {} of {}\n", kProblems - missed,
             kProblems);
  EXPECT_LE(missed, kMostMissed);
}

TEST(PlanProperty, MovesComeToTheSameAsPlansAnew) {
  for (uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = testing::RandomProblem(seed, 8, 4);
    Rng rng(seed);
    Choices choices = ShardNaively(problem, {}).choices;
    Ledger ledger(problem, choices);
    for (int i = 0; i < 200; ++i) {
      const auto table = static_cast<size_t>(rng.Below(choices.size()));
      const Table& item = problem.tables[table];
      Choice next{.option =
                      static_cast<uint16_t>(rng.Below(item.options.size()))};
      const Option& option = item.options[next.option];
      const int places = option.sharding == Sharding::kTableRowWise
                             ? problem.ranks.nodes
                             : problem.ranks.count;
      for (int part = 0; part < PlacesOf(option); ++part) {
        next.places.push_back(
            static_cast<int>(rng.Below(static_cast<uint64_t>(places))));
      }
      ledger.Remove(table, choices[table]);
      ledger.Add(table, next);
      choices[table] = std::move(next);
    }
    const Cost moved = ledger.Evaluate();
    const Cost anew = Ledger(problem, choices).Evaluate();
    EXPECT_NEAR(moved.us, anew.us, 1e-6 * anew.us);
    EXPECT_NEAR(moved.over_bytes, anew.over_bytes, 1e-3 + 1e-9 * 1e12);
  }
}

TEST(PlanProperty, DoesNotDependOnThreads) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    const Problem problem = testing::RandomProblem(seed, 12, 4);
    FindOptions one = SearchWith(seed);
    FindOptions many = one;
    many.threads = 4;
    const auto alone = FindPlans(problem, ByCost(), one);
    const auto together = FindPlans(problem, ByCost(), many);
    ASSERT_TRUE(alone && together);
    for (size_t i = 0; i < alone->candidates.size(); ++i) {
      EXPECT_EQ(alone->candidates[i].choices, together->candidates[i].choices);
    }
  }
}

model::Model RandomModel(uint64_t seed) {
  Rng rng(seed);
  model::Model model;
  model.name = "random";
  model.batch = 512 << rng.Below(5);
  model.dense_features = 13;
  model.bottom_mlp = {64, 64};
  model.top_mlp = {64, 1};
  model.interaction.kind = model::InteractionKind::kCat;
  const int64_t tables = rng.Between(3, 8);
  for (int64_t i = 0; i < tables; ++i) {
    model.tables.push_back(
        {.rows = rng.Between(3, 2'000'000),
         .dim = int64_t{32} << rng.Below(3),
         .pooling = static_cast<double>(rng.Between(1, 60))});
  }
  return model;
}

// With the real prices and the real simulator.
TEST(PlanProperty, SimulatesNoSlowerThanTheBestBaseline) {
  scenario::Resolver resolver;
  for (uint64_t seed = 1; seed <= Tries(uint64_t{10}); ++seed) {
    SCOPED_TRACE(seed);
    scenario::Job job;
    engine::Request& request = job.request;
    request.model = RandomModel(seed);
    request.settings.impl = *model::FindImplementation("torchrec");
    request.settings.batch = request.model.batch;
    job.names.machine = {.platform = "dgx-a100", .gpus = 4};
    ASSERT_TRUE(resolver.Bind(job));
    ASSERT_TRUE(resolver.Load(request.machine));
    const auto problem =
        MakeProblem({.model = &request.model,
                     .settings = request.settings,
                     .kernels = request.machine.kernels,
                     .collectives = request.machine.collectives,
                     .overheads = request.overheads.value.get(),
                     .ranks = {.count = 4},
                     .device_bytes = 80e9},
                    {});
    ASSERT_TRUE(problem) << problem.error().message;
    FindOptions options;
    options.search.evaluations = 50'000;
    const auto found =
        FindPlans(*problem, MakeSimulator(request, 80e9), options);
    ASSERT_TRUE(found) << found.error().message;
    const Candidate& best = found->candidates[found->best];
    for (const Candidate& other : found->candidates) {
      // As far as steps can be distinguished, see BestOf.
      EXPECT_LE(ToMicroseconds(best.simulated->step),
                1.001 * ToMicroseconds(other.simulated->step))
          << other.sharder;
    }
  }
}

}  // namespace
}  // namespace stepcast::plan

// Laws of changes, over random measured steps.
#include <functional>
#include <initializer_list>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "base/tries_testing.h"
#include "sim/critical_path.h"
#include "tests/testing/random_step.h"
#include "whatif/apply.h"
#include "whatif/case.h"
#include "whatif/change.h"
#include "whatif/whatif_testing.h"

namespace stepcast::whatif {
namespace {

constexpr uint64_t kSeeds = Tries(uint64_t{100});

class WhatifPropertyTest : public ::testing::Test {
 protected:
  // Calls check(seed, case) for random steps.
  void ForEachStep(const std::function<void(uint64_t, const Case&)>& check) {
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const std::string text = testing::RandomStepText(seed);
      SCOPED_TRACE(text);
      check(seed, TraceOf(text));
    }
  }

  Result<Changed> After(const Case& before,
                        std::initializer_list<std::string> texts) {
    std::vector<Change> changes;
    for (const std::string& text : texts) {
      auto change = ParseChange(text);
      EXPECT_TRUE(change) << change.error().message;
      changes.push_back(*std::move(change));
    }
    return Apply(before, changes, resolver_);
  }

  // Whichever of two changes comes first.
  void ExpectCommute(const Case& before, const std::string& first,
                     const std::string& second) {
    const auto one = After(before, {first, second});
    const auto other = After(before, {second, first});
    ASSERT_EQ(one.has_value(), other.has_value());
    if (one) {
      ExpectSame(one->after, other->after, fmt::format("{} {}", first, second));
    }
  }

  void ExpectSame(const Case& a, const Case& b, std::string_view what) {
    EXPECT_EQ(a.result.schedule, b.result.schedule) << what;
    EXPECT_EQ(a.result.step, b.result.step) << what;
  }

  void ExpectNoInterval(const Changed& changed, std::string_view what) {
    EXPECT_EQ(changed.delta.step, Duration{}) << what;
    EXPECT_EQ(changed.delta.p10, Duration{}) << what;
    EXPECT_EQ(changed.delta.p90, Duration{}) << what;
  }

  scenario::Resolver resolver_;
};

// The name of a random work of the step; empty if it has none.
std::string SomeActivity(uint64_t seed, const Case& subject) {
  const auto& activities = subject.result.graph->data().activities;
  Rng rng(seed);
  return activities.empty() ? ""
                            : std::string(subject.result.graph->text(
                                  rng.Pick(activities.items()).name));
}

// Whether a change would read more than a name in it.
bool IsPattern(std::string_view name) {
  return name.find_first_of("*= \t") != std::string_view::npos;
}

TEST_F(WhatifPropertyTest, WhatDoesNothingChangesNothing) {
  ForEachStep([this](uint64_t /*seed*/, const Case& before) {
    for (const std::string text :
         {"scale-op=*=1", "scale-overhead=1", "scale-overhead=launch=1",
          "scale-overhead=gap=1", "gpu=v100-sxm-16gb"}) {
      const auto changed = After(before, {text});
      if (!changed) {
        continue;  // A step without ops and activities.
      }
      EXPECT_EQ(changed->delta.step, Duration{}) << text;
      EXPECT_EQ(changed->delta.p10, Duration{}) << text;
      EXPECT_EQ(changed->delta.p90, Duration{}) << text;
      ExpectSame(changed->after, before, text);
    }
  });
}

TEST_F(WhatifPropertyTest, AChangeAndItsInverseGiveBackTheStep) {
  ForEachStep([this](uint64_t seed, const Case& before) {
    Rng rng(seed);
    const double factor = static_cast<double>(rng.Between(2, 50)) / 7;
    for (const std::string name : {"scale-op=*", "scale-overhead"}) {
      const auto changed =
          After(before, {fmt::format("{}={}", name, factor),
                         fmt::format("{}={}", name, 1 / factor)});
      if (changed) {
        ExpectSame(changed->after, before, name);
      }
    }
    const auto there =
        After(before, {"gpu=a100-sxm-80gb", "gpu=v100-sxm-16gb"});
    ASSERT_TRUE(there) << there.error().message;
    ExpectSame(there->after, before, "gpu");
    ExpectNoInterval(*there, "gpu");
    const auto back = After(before, {"precision=amp-fp16", "precision=fp32"});
    if (back) {
      ExpectSame(back->after, before, "precision");
      ExpectNoInterval(*back, "precision");
    }
  });
}

// Changes whose times are ratios of prices.
constexpr std::string_view kPriced[] = {
    "gpu=a100-sxm-80gb", "precision=amp-fp16",    "precision=tf32",
    "fp16-comm",         "overlap-comm=bucket=1", "pin-copies",
    "fuse-elementwise",  "fuse-embeddings"};

TEST_F(WhatifPropertyTest, APricedChangeTwiceIsTheChangeOnce) {
  size_t tried = 0;
  ForEachStep([&](uint64_t /*seed*/, const Case& before) {
    for (const std::string_view text : kPriced) {
      const std::string change(text);
      const auto once = After(before, {change});
      const auto twice = After(before, {change, change});
      ASSERT_EQ(once.has_value(), twice.has_value()) << change;
      if (once) {
        ++tried;
        ExpectSame(once->after, twice->after, change);
        EXPECT_EQ(once->delta.p10, twice->delta.p10) << change;
        EXPECT_EQ(once->delta.p90, twice->delta.p90) << change;
      }
    }
  });
  EXPECT_GE(tried, Tries(100u));
}

TEST_F(WhatifPropertyTest, PricedChangesComeInAnyOrder) {
  ForEachStep([this](uint64_t seed, const Case& before) {
    Rng rng(seed);
    const std::string first(kPriced[rng.Between(0, std::size(kPriced) - 1)]);
    const std::string second(kPriced[rng.Between(0, std::size(kPriced) - 1)]);
    // Of two types the last counts.
    if (!first.starts_with("precision") || !second.starts_with("precision")) {
      ExpectCommute(before, first, second);
    }
    ExpectCommute(before, "gpu=a100-sxm-80gb", first);
  });
}

TEST_F(WhatifPropertyTest, ChangesOnDisjointPartsCommute) {
  ForEachStep([this](uint64_t seed, const Case& before) {
    const std::string activity = SomeActivity(seed, before);
    if (activity.empty() || IsPattern(activity)) {
      return;
    }
    // Kernels, segments of the host, launches, gaps.
    const std::vector<std::string> texts = {
        fmt::format("scale-op={}=0.3", activity), "scale-overhead=t1=3",
        "scale-overhead=launch=0.5", "scale-overhead=gap=4"};
    for (const std::string& first : texts) {
      for (const std::string& second : texts) {
        ExpectCommute(before, first, second);
      }
    }
  });
}

TEST_F(WhatifPropertyTest, LessToDoNeverTakesLonger) {
  ForEachStep([this](uint64_t seed, const Case& before) {
    std::vector<std::string> texts = {"scale-op=*=0.5", "scale-overhead=0.5",
                                      "remove-sync", "drop-op=aten::*"};
    const std::string activity = SomeActivity(seed, before);
    if (!activity.empty()) {
      texts.push_back("drop-op=" + activity);
    }
    for (const std::string& text : texts) {
      const auto changed = After(before, {text});
      if (!changed) {
        continue;
      }
      const auto& earlier = changed->after.result.schedule.placements;
      for (const sim::TaskId task : earlier.ids()) {
        ASSERT_LE(earlier[task].end,
                  before.result.schedule.placements[task].end)
            << text << " of " << seed;
      }
    }
  });
}

// The last task of every lane in the last repeats, between which a step is
// measured.
std::set<sim::TaskId> LastTasks(const timeline::Lowered& lowered) {
  const auto last = static_cast<uint32_t>(lowered.rank_ends.size()) - 1;
  std::map<std::pair<uint32_t, uint32_t>, sim::TaskId> tasks;
  for (const sim::TaskId task : lowered.origins.ids()) {
    const uint32_t repeat = lowered.origins[task].repeat;
    if (repeat + lowered.steady_repeats >= last) {
      tasks[{lowered.tasks.tasks()[task].lane.value, repeat}] = task;
    }
  }
  std::set<sim::TaskId> ends;
  for (const auto& [lane, task] : tasks) {
    ends.insert(task);
  }
  return ends;
}

// Names of activities on the paths to the ends of lanes.
std::set<std::string_view> NamesOnPaths(const Case& subject) {
  const timeline::Lowered& lowered = subject.result.lowered;
  const ir::GraphData& data = subject.result.graph->data();
  std::set<std::string_view> names;
  for (const sim::TaskId end : LastTasks(lowered)) {
    for (const sim::PathStep& step :
         sim::PathTo(lowered.tasks, subject.result.schedule, end)) {
      const timeline::TaskOrigin& origin = lowered.origins[step.task];
      if (origin.kind == timeline::TaskOrigin::Kind::kActivity) {
        names.insert(
            subject.result.graph->text(data.activities[origin.activity].name));
      }
    }
  }
  return names;
}

// Whether an activity of one of these names has another time.
bool Touches(const std::set<std::string_view>& names, const Case& before,
             const Case& after) {
  const ir::GraphData& data = before.result.graph->data();
  for (const ir::ActivityId id : data.activities.ids()) {
    if (after.times.activities[id].duration !=
            before.times.activities[id].duration &&
        names.contains(before.result.graph->text(data.activities[id].name))) {
      return true;
    }
  }
  return false;
}

// A name none of whose activities is critical: every task that is on a path to
// the end of a lane stays where it is.
TEST_F(WhatifPropertyTest, WhatIsOffThePathOfEveryLaneSavesNothing) {
  size_t tried = 0;
  ForEachStep([&](uint64_t seed, const Case& before) {
    const std::set<std::string_view> on_path = NamesOnPaths(before);
    for (const ir::Activity& activity :
         before.result.graph->data().activities) {
      const std::string name(before.result.graph->text(activity.name));
      if (name.empty() || on_path.contains(name) || IsPattern(name)) {
        continue;
      }
      // Ops may be called like activities; their host time may be on the path.
      const auto changed = After(before, {fmt::format("scale-op={}=0", name)});
      ASSERT_TRUE(changed) << changed.error().message;
      if (!Touches(on_path, before, changed->after)) {
        ++tried;
        EXPECT_EQ(changed->delta.step, Duration{}) << name << " of " << seed;
      }
      return;
    }
  });
  EXPECT_GE(tried, Tries(10u));
}

}  // namespace
}  // namespace stepcast::whatif

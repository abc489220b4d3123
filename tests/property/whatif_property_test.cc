// Laws of changes, over random measured steps.
#include <algorithm>
#include <functional>
#include <initializer_list>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/rng.h"
#include "engine/predictor.h"
#include "ir/graph_text.h"
#include "sim/critical_path.h"
#include "whatif/apply.h"
#include "whatif/case.h"
#include "whatif/change.h"

namespace stepcast::whatif {
namespace {

constexpr uint64_t kSeeds = 100;

// A step of several ranks as a profiler would see it, in graph text: ops that
// launch kernels on two streams, syncs, and collectives that all ranks meet in.
class RandomStep {
 public:
  explicit RandomStep(uint64_t seed) : rng_(seed) {}

  std::string Text();

 private:
  struct Rank {
    int64_t now = 0;           // Of its host, in microseconds.
    int64_t free[2] = {0, 0};  // Its streams.
    int64_t last = -1;         // The last work of the first stream.
    std::string lines{};
    std::string waits{};
  };

  void AddOp(size_t rank);
  void AddSync(size_t rank);
  void AddCollective();

  Rng rng_;
  std::vector<Rank> ranks_;
  std::string collectives_;
  int64_t works_ = 0;
};

void RandomStep::AddOp(size_t rank) {
  static const std::vector<std::string> kNames = {"linear", "relu", "cat",
                                                  "view"};
  Rank& host = ranks_[rank];
  host.now += rng_.Between(1, 20);
  const int64_t start = host.now;
  const std::string& name = rng_.Pick(kNames);
  std::string calls;
  for (uint64_t i = rng_.Below(3); i > 0; --i) {
    host.now += rng_.Between(1, 10);
    const auto stream = static_cast<size_t>(rng_.Below(2));
    const int64_t work =
        std::max(host.now + rng_.Between(4, 9), host.free[stream] + 1);
    const int64_t length = rng_.Between(1, 60);
    calls += fmt::format(
        "      call launch \"launch\" @{}+3\n"
        "        s{}: elementwise elements={} read=4096 written=4096 "
        "dtype=fp32 \"{}_kernel\" @{}+{} #w{}\n",
        host.now, stream == 0 ? 7 : 9, 1024 + works_, name, work, length,
        works_);
    host.free[stream] = work + length;
    host.last = stream == 0 ? works_ : host.last;
    ++works_;
    host.now += 3;
  }
  host.now += rng_.Between(1, 10);
  host.lines += fmt::format("    op \"aten::{}\" @{}+{}\n{}", name, start,
                            host.now - start, calls);
}

void RandomStep::AddSync(size_t rank) {
  Rank& host = ranks_[rank];
  if (host.last < 0) {
    return;
  }
  host.now += rng_.Between(1, 5);
  const int64_t end = std::max(host.now, host.free[0]) + 6;
  host.lines += fmt::format("    call stream_sync \"sync\" @{}+{} #c{}\n",
                            host.now, end - host.now, works_);
  host.waits += fmt::format("  wait #w{} -> #c{}\n", host.last, works_);
  ++works_;
  host.now = end;
}

void RandomStep::AddCollective() {
  std::vector<int64_t> starts;
  for (Rank& host : ranks_) {
    host.now += rng_.Between(1, 50);
    starts.push_back(std::max(host.now + 5, host.free[0] + 1));
  }
  const int64_t end = *std::ranges::max_element(starts) + rng_.Between(5, 50);
  collectives_ += "collective all_reduce";
  for (size_t i = 0; i < ranks_.size(); ++i) {
    Rank& host = ranks_[i];
    host.lines += fmt::format(
        "    op \"all_reduce\" @{}+8\n"
        "      call launch \"launch\" @{}+4\n"
        "        s7: collective kind=all_reduce bytes=4096 group={} "
        "dtype=fp32 \"nccl\" @{}+{} #w{}\n",
        host.now, host.now + 1, ranks_.size(), starts[i], end - starts[i],
        works_);
    collectives_ += fmt::format(" #w{}", works_);
    host.last = works_++;
    host.free[0] = end;
    host.now += 8;
  }
  collectives_ += "\n";
}

std::string RandomStep::Text() {
  ranks_.resize(static_cast<size_t>(rng_.Between(1, 3)));
  for (int64_t round = rng_.Between(1, 4); round > 0; --round) {
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      for (int64_t ops = rng_.Between(1, 8); ops > 0; --ops) {
        AddOp(rank);
        if (rng_.OneIn(4)) {
          AddSync(rank);
        }
      }
    }
    if (ranks_.size() > 1) {
      AddCollective();
    }
  }
  std::string text = "stepcast-graph 1\n";
  for (size_t rank = 0; rank < ranks_.size(); ++rank) {
    AddSync(rank);
    text += fmt::format(
        "rank {} \"Tesla V100-SXM2-16GB\" @{}+{}\n  thread main\n{}{}", rank,
        rank == 0 ? 0 : rng_.Between(0, 30),
        ranks_[rank].now + rng_.Between(0, 30), ranks_[rank].lines,
        ranks_[rank].waits);
  }
  return text + collectives_;
}

class WhatifPropertyTest : public ::testing::Test {
 protected:
  // Calls check(seed, case) for random steps.
  void ForEachStep(const std::function<void(uint64_t, const Case&)>& check) {
    for (uint64_t seed = 1; seed <= kSeeds; ++seed) {
      const std::string text = RandomStep(seed).Text();
      auto graph = ir::ParseGraph(text);
      ASSERT_TRUE(graph) << graph.error().message << "\n" << text;
      const auto made =
          CaseOfTrace(std::make_shared<const ir::Graph>(*std::move(graph)),
                      {.gpu = "v100-sxm-16gb"}, {});
      ASSERT_TRUE(made) << made.error().message << "\n" << text;
      check(seed, *made);
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
    return Apply(before, changes, predictor_);
  }

  void ExpectSame(const Case& a, const Case& b, std::string_view what) {
    EXPECT_EQ(a.prediction.schedule, b.prediction.schedule) << what;
    EXPECT_EQ(a.prediction.step, b.prediction.step) << what;
  }

  engine::Predictor predictor_;
};

// The name of a random work of the step; empty if it has none.
std::string SomeWork(uint64_t seed, const Case& subject) {
  const auto& works = subject.graph->data().works;
  Rng rng(seed);
  return works.empty()
             ? ""
             : std::string(subject.graph->text(rng.Pick(works.items()).name));
}

TEST_F(WhatifPropertyTest, WhatDoesNothingChangesNothing) {
  ForEachStep([this](uint64_t /*seed*/, const Case& before) {
    for (const std::string text :
         {"scale-op=*=1", "scale-overhead=1", "scale-overhead=launch=1",
          "scale-overhead=gap=1", "gpu=v100-sxm-16gb"}) {
      const auto changed = After(before, {text});
      if (!changed) {
        continue;  // A step without ops and works.
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
  });
}

TEST_F(WhatifPropertyTest, ChangesOnDisjointPartsCommute) {
  ForEachStep([this](uint64_t seed, const Case& before) {
    const std::string work = SomeWork(seed, before);
    if (work.empty() || work.find_first_of("*= \t") != std::string::npos) {
      return;
    }
    // Kernels, pieces of the host, launches, gaps.
    const std::vector<std::string> texts = {
        fmt::format("scale-op={}=0.3", work), "scale-overhead=t1=3",
        "scale-overhead=launch=0.5", "scale-overhead=gap=4"};
    for (const std::string& first : texts) {
      for (const std::string& second : texts) {
        const auto one = After(before, {first, second});
        const auto other = After(before, {second, first});
        ASSERT_EQ(one.has_value(), other.has_value());
        if (one) {
          ExpectSame(one->after, other->after, first + " " + second);
        }
      }
    }
  });
}

TEST_F(WhatifPropertyTest, LessToDoNeverTakesLonger) {
  ForEachStep([this](uint64_t seed, const Case& before) {
    std::vector<std::string> texts = {"scale-op=*=0.5", "scale-overhead=0.5",
                                      "remove-sync", "drop-op=aten::*"};
    const std::string work = SomeWork(seed, before);
    if (!work.empty()) {
      texts.push_back("drop-op=" + work);
    }
    for (const std::string& text : texts) {
      const auto changed = After(before, {text});
      if (!changed) {
        continue;
      }
      const auto& earlier = changed->after.prediction.schedule.placements;
      for (const sim::TaskId task : earlier.ids()) {
        ASSERT_LE(earlier[task].end,
                  before.prediction.schedule.placements[task].end)
            << text << " of " << seed;
      }
    }
  });
}

// A name none of whose works decided anything: every task that is on a path to
// the end of a rank stays where it is.
TEST_F(WhatifPropertyTest, WhatIsOffThePathOfEveryRankSavesNothing) {
  size_t tried = 0;
  ForEachStep([&](uint64_t seed, const Case& before) {
    const lower::Lowered& lowered = before.prediction.lowered;
    const ir::GraphData& data = before.graph->data();
    std::set<std::string_view> on_path;
    for (const sim::TaskId end : lowered.rank_ends.back()) {
      for (const sim::PathStep& step :
           sim::PathTo(lowered.tasks, before.prediction.schedule, end)) {
        const lower::TaskOrigin& origin = lowered.origins[step.task];
        if (origin.kind == lower::TaskOrigin::Kind::kWork) {
          on_path.insert(before.graph->text(data.works[origin.work].name));
        }
      }
    }
    for (const ir::Work& work : data.works) {
      const std::string name(before.graph->text(work.name));
      if (name.empty() || on_path.contains(name) ||
          name.find_first_of("*= \t") != std::string::npos) {
        continue;
      }
      // Ops may be called like works; their host time may be on the path.
      const auto changed = After(before, {fmt::format("scale-op={}=0", name)});
      ASSERT_TRUE(changed) << changed.error().message;
      bool touches_path = false;
      for (const ir::WorkId id : data.works.ids()) {
        touches_path =
            touches_path ||
            (changed->after.times.works[id].duration !=
                 before.times.works[id].duration &&
             on_path.contains(before.graph->text(data.works[id].name)));
      }
      if (!touches_path) {
        ++tried;
        EXPECT_EQ(changed->delta.step, Duration{}) << name << " of " << seed;
      }
      return;
    }
  });
  EXPECT_GE(tried, 10u);
}

}  // namespace
}  // namespace stepcast::whatif

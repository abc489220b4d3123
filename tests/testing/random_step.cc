#include "tests/testing/random_step.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/rng.h"

namespace stepcast::testing {
namespace {

class RandomStep {
 public:
  explicit RandomStep(uint64_t seed) : rng_(seed) {}

  std::string Text();

 private:
  struct Rank {
    int64_t now = 0;           // Of its host, in microseconds.
    int64_t free[2] = {0, 0};  // Its streams.
    int64_t last = -1;         // The last activity of the first stream.
    std::string lines{};
    std::string waits{};
  };

  void AddOps(size_t rank);
  void AddOp(size_t rank);
  void AddSync(size_t rank);
  void AddCollective();

  Rng rng_;
  std::vector<Rank> ranks_;
  std::string collectives_;
  int64_t activities_ = 0;
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
    const int64_t activity =
        std::max(host.now + rng_.Between(4, 9), host.free[stream] + 1);
    const int64_t length = rng_.Between(1, 60);
    calls += fmt::format(
        "      call launch \"launch\" @{}+3\n"
        "        s{}: elementwise elements={} read=4096 written=4096 "
        "dtype=fp32 \"{}_kernel\" @{}+{} #w{}\n",
        host.now, stream == 0 ? 7 : 9, 1024 + activities_, name, activity,
        length, activities_);
    host.free[stream] = activity + length;
    host.last = stream == 0 ? activities_ : host.last;
    ++activities_;
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
                            host.now, end - host.now, activities_);
  host.waits += fmt::format("  wait #w{} -> #c{}\n", host.last, activities_);
  ++activities_;
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
        activities_);
    collectives_ += fmt::format(" #w{}", activities_);
    host.last = activities_++;
    host.free[0] = end;
    host.now += 8;
  }
  collectives_ += "\n";
}

void RandomStep::AddOps(size_t rank) {
  for (int64_t ops = rng_.Between(1, 8); ops > 0; --ops) {
    AddOp(rank);
    if (rng_.OneIn(4)) {
      AddSync(rank);
    }
  }
}

std::string RandomStep::Text() {
  ranks_.resize(static_cast<size_t>(rng_.Between(1, 3)));
  for (int64_t round = rng_.Between(1, 4); round > 0; --round) {
    for (size_t rank = 0; rank < ranks_.size(); ++rank) {
      AddOps(rank);
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

}  // namespace

std::string RandomStepText(uint64_t seed) {
  return RandomStep(seed).Text();
}

}  // namespace stepcast::testing

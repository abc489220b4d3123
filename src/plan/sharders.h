// The ways to make a plan: what the papers and TorchRec do, and ours.
#ifndef STEPCAST_PLAN_SHARDERS_H_
#define STEPCAST_PLAN_SHARDERS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "plan/ledger.h"
#include "plan/problem.h"

namespace stepcast::plan {

/// How long to look, and where to begin.
struct SearchOptions {
  uint64_t seed = 1;
  /// Evaluations of a plan's cost that a search may make.
  int64_t evaluations = 1'000'000;
  /// Asked occasionally; true ends the search with what it has.
  std::function<bool()> stop = [] { return false; };
};

struct Found {
  Choices choices{};
  Cost cost{};
  int64_t evaluations = 0;
};

struct Sharder {
  std::string_view name;
  std::string_view help;
  bool ours = false;  // Goes by our cost.
  Found (*run)(const Problem& problem, const SearchOptions& options) = nullptr;
};

/// In the order they are shown: baselines first.
std::span<const Sharder> Sharders();

/// Table i to rank i mod n.
Found ShardNaively(const Problem& problem, const SearchOptions& options);
/// Neighbours together, as many on each rank.
Found ShardInChunks(const Problem& problem, const SearchOptions& options);
Found ShardRandomly(const Problem& problem, const SearchOptions& options);
/// The heaviest table first, each to the rank with least so far.
Found ShardBySize(const Problem& problem, const SearchOptions& options);
Found ShardByLookups(const Problem& problem, const SearchOptions& options);
Found ShardBySizeAndLookups(const Problem& problem,
                            const SearchOptions& options);
/// TorchRec's proposals and partitioner by its own estimate.
Found ShardLikeTorchrec(const Problem& problem, const SearchOptions& options);

/// The heaviest table first, each to where the step grows least.
Found ShardGreedily(const Problem& problem, const SearchOptions& options);
/// The same, but several plans are followed at a time.
Found ShardByBeam(const Problem& problem, const SearchOptions& options);
/// From the best of the greedy ones: moves, swaps and other ways to shard
/// tables, then again from perturbed plans.
Found ShardByLocalSearch(const Problem& problem, const SearchOptions& options);

/// Local search from a given plan.
Found Improve(const Problem& problem, const Choices& start,
              const SearchOptions& options);

}  // namespace stepcast::plan

#endif  // STEPCAST_PLAN_SHARDERS_H_

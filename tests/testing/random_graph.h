// Random graphs that keep every rule, for property tests.
#ifndef STEPCAST_TESTS_TESTING_RANDOM_GRAPH_H_
#define STEPCAST_TESTS_TESTING_RANDOM_GRAPH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/rng.h"
#include "ir/graph.h"

namespace stepcast::testing {

/// The parts of a graph before a builder sees them. Ids are places in these
/// vectors.
struct GraphParts {
  template <typename T>
  struct Named {
    T item{};
    std::string name{};
  };
  struct OpPart {
    ir::Op item{};
    std::string name{};
    std::string modules{};
    std::string site{};
    std::vector<ir::Tensor> inputs{};
    std::vector<ir::Tensor> outputs{};
  };
  struct ActivityPart {
    ir::Activity item{};
    std::string name{};
    ir::KernelShape shape{};
  };

  std::string source{};
  std::vector<Named<ir::Rank>> ranks{};
  std::vector<Named<ir::Thread>> threads{};
  std::vector<ir::Stream> streams{};
  std::vector<OpPart> ops{};
  std::vector<Named<ir::Call>> calls{};
  std::vector<ActivityPart> activities{};
  std::vector<ir::MatchedCollective> collectives{};
  std::vector<ir::StreamWait> stream_waits{};
  std::vector<ir::HostWait> host_waits{};
};

/// Which ops, calls and activities have times.
enum class Times {
  kNone,
  kSome,  // About half, some without a start, and many equal.
  kAll,   // All, no two equal: nothing depends on the order of adding.
};

struct RandomGraphOptions {
  Times times = Times::kSome;
  int max_ranks = 3;
  int max_ops = 12;         // Per thread.
  int max_calls = 16;       // Per thread.
  int max_activities = 24;  // Per rank, not counting matched collectives.
};

GraphParts RandomParts(Rng& rng, const RandomGraphOptions& options);

/// Any shape, with numbers small and large.
ir::KernelShape RandomShape(Rng& rng);

/// Adds the parts to a builder in the order they have, or, if `shuffle` is
/// given, in a random one.
Result<ir::Graph> BuildGraph(const GraphParts& parts, Rng* shuffle = nullptr);

/// RandomParts, built; aborts if that fails.
ir::Graph RandomGraph(uint64_t seed, const RandomGraphOptions& options);

}  // namespace stepcast::testing

#endif  // STEPCAST_TESTS_TESTING_RANDOM_GRAPH_H_

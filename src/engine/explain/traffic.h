// What a step moves between ranks, how well that is hidden, who came last, and
// how far the host was ahead of the device.
#ifndef STEPCAST_ENGINE_EXPLAIN_TRAFFIC_H_
#define STEPCAST_ENGINE_EXPLAIN_TRAFFIC_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.h"
#include "engine/explain/step_result.h"
#include "ir/graph.h"

namespace stepcast::engine {

/// A collective as nccl-tests counts it.
struct CollectiveRate {
  ir::CollectiveId id{};  // Invalid for one that is matched with no other rank.
  ir::CollectiveKind kind = ir::CollectiveKind::kUnknown;
  int64_t rank = 0;   // The first one's.
  int64_t ranks = 0;  // Taking part.
  /// The buffer: of all-gather and reduce-scatter all ranks' parts, of an
  /// all-to-all what the busiest rank sends or receives. 0: not known.
  double bytes = 0;
  Duration start{};
  Duration own{};      // Once all have come, as far as they are recorded.
  bool waits = false;  // `own` has waiting for ranks that are not recorded.

  bool known() const { return bytes > 0 && own > Duration{}; }
  /// Bytes of the buffer a second, in GB.
  double algorithm_gbs() const;
  /// What each link carries then, whatever the kind and the ranks.
  double bus_gbs() const;
};

/// Collectives of one kind, group and size.
struct CollectiveSizes {
  ir::CollectiveKind kind = ir::CollectiveKind::kUnknown;
  int64_t ranks = 0;
  double bytes = 0;
  int64_t count = 0;
  bool waits = false;  // Any of them.
  Duration own{};      // Sum.
  Duration shortest{};
  double algorithm_gbs = 0;  // Over all of them.
  double bus_gbs = 0;
  double best_bus_gbs = 0;  // Of the shortest.
};

/// How a rank did among the others.
struct RankTraffic {
  int64_t rank = 0;
  Duration collectives{};  // Some collective ran and did not wait.
  Duration hidden{};       // A kernel ran meanwhile.
  int64_t matched = 0;     // Collectives with other recorded ranks,
  int64_t last = 0;        // to which it came last.
  Duration made_wait{};    // Sum over these: since the first rank came.
  Duration longest_wait{};
  double overlap() const {
    return static_cast<double>(hidden.count()) /
           static_cast<double>(collectives.count());
  }
};

/// What all-to-alls moved from rank to rank.
struct AllToAllBytes {
  std::vector<int64_t> ranks{};             // Rows: those recorded.
  std::vector<int64_t> peers{};             // Columns.
  std::vector<std::vector<double>> sent{};  // By rank and peer.
  std::vector<double> sum{};                // By rank, itself counted in.
  int64_t even = 0;      // All-to-alls without splits: the same to each peer.
  int64_t left_out = 0;  // Those of groups whose ranks are not known.
};

/// Launched activities of a stream during its rank's step.
struct StreamQueue {
  int64_t rank = 0;
  int64_t device = 0;
  int64_t stream = 0;
  int64_t launched = 0;
  double mean_waiting = 0;  // Launched and not started, over time.
  int64_t most_waiting = 0;
  double none_waiting = 0;  // Share of the step in which none did,
  double empty = 0;         // and in which none ran, either.
  /// The most in each of kQueueSlices parts of the step, as long as each other.
  std::vector<int64_t> waiting{};
};
/// As many points as a chart shows.
inline constexpr size_t kQueueSlices = 200;

struct Traffic {
  std::vector<CollectiveRate> collectives;  // By start.
  std::vector<CollectiveSizes> sizes;       // By kind, ranks, bytes.
  std::vector<RankTraffic> ranks;
  AllToAllBytes all_to_all;
  std::vector<StreamQueue> queues;
};

/// Of the step; of several repeats what lies within the last one's span, and
/// the collectives of the last.
Traffic MeasureTraffic(const StepResult& result);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_EXPLAIN_TRAFFIC_H_

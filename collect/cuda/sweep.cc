#include "collect/cuda/sweep.h"

#include <algorithm>
#include <cstddef>
#include <set>
#include <utility>

#include "collect/cuda/random.h"

namespace stepcast::collect {
namespace {

using Sizes = std::vector<int64_t>;
using Words = std::vector<std::string>;

Sizes Powers(int64_t low, int64_t high) {
  Sizes values;
  for (; low <= high; low *= 2) {
    values.push_back(low);
  }
  return values;
}

// The ranges of Lin et al. (owensgroup/ml_perf_model), as collect/torch has
// them: multiples of 32, and the same plus 8, which do not fill tiles.
const Sizes& GemmSizes() {
  static const Sizes kSizes = {
      32,  64,   96,   128,  160,  192,  224,  256,  264,  320,  328,
      384, 392,  448,  456,  512,  520,  640,  648,  768,  776,  896,
      904, 1024, 1032, 1536, 1544, 2048, 2056, 3080, 3088, 4096, 4104};
  return kSizes;
}

const Sizes& TableRows() {
  static const Sizes kRows = {1000,   10000,   100000,  200000,  500000,
                              750000, 1000000, 2000000, 5000000, 10000000};
  return kRows;
}

Point MakePoint(Kind kind, std::string op) {
  Point point;
  point.kind = kind;
  point.op = std::move(op);
  return point;
}

// One product, as a layer's forward, data gradient and weight gradient do it.
std::vector<Point> InAllLayouts(const Point& product, const Words& layouts) {
  std::vector<Point> points;
  for (const std::string& layout : layouts) {
    points.push_back(product);
    points.back().op = layout;
  }
  return points;
}

std::vector<Point> DrawGemm(Random& random, const Words& dtypes) {
  Point point = MakePoint(Kind::kGemm, "");
  point.dtype = random.Pick(dtypes);
  point.m = random.Pick(GemmSizes());
  point.n = random.Pick(GemmSizes());
  point.k = random.Pick(GemmSizes());
  return InAllLayouts(point, {"tn", "nn", "nt"});
}

std::vector<Point> DrawBatched(Random& random, const Words& dtypes) {
  Point point = MakePoint(Kind::kGemm, "");
  point.dtype = random.Pick(dtypes);
  point.batch = random.Pick(Sizes{512, 1024, 2048, 4096});
  if (random.Below(2) == 0) {
    // The dot interaction: every vector of a sample with every other.
    point.m = 5 + random.Below(36);
    point.n = point.m;
    point.k = random.Pick(Sizes{32, 64, 128, 256});
  } else {
    const Sizes small(GemmSizes().begin(), GemmSizes().begin() + 16);
    point.m = random.Pick(small);
    point.n = random.Pick(small);
    point.k = random.Pick(small);
  }
  return InAllLayouts(point, {"nn", "tn", "nt"});
}

std::vector<Point> DrawBag(Random& random, const Words& /*dtypes*/) {
  Point point = MakePoint(Kind::kEmbeddingBag, "fwd");
  point.dtype = "fp32";
  point.rows = random.Pick(TableRows());
  point.dim = random.Pick(Sizes{32, 64, 128, 256});
  point.batch = random.Pick(Powers(128, 4096));
  point.lookups = random.Pick(Sizes{1, 8, 16, 32, 38, 64, 128});
  // 1.05 is what collect/torch draws; 1.2 has far more hits in a cache.
  point.alpha = random.Pick(std::vector<double>{0, 1.05, 1.2});
  point.pooling = random.Below(4) == 0 ? "none" : "sum";
  std::vector<Point> points = {point, point};
  points.back().op = "bwd";
  return points;
}

std::vector<Point> DrawStream(Random& random, const Words& /*dtypes*/) {
  Point point =
      MakePoint(Kind::kElementwise, random.Pick(Words{"copy", "add"}));
  point.dtype = "fp32";
  point.rows = random.Pick(Powers(1, 32768));
  point.dim = random.Pick(Sizes{64, 96, 128, 192, 256, 384, 512, 768, 1024,
                                1536, 2048, 3072, 4096});
  return {point};
}

std::vector<Point> DrawCopy(Random& random, const Words& /*dtypes*/) {
  const int64_t bytes =
      4 * random.Pick(Powers(64, 65536)) * random.Pick(Sizes{1, 3, 64, 1024});
  std::vector<Point> points;
  for (const char* op : {"htod", "dtoh"}) {
    for (const char* memory : {"pinned", "pageable"}) {
      points.push_back(MakePoint(Kind::kMemcpy, op));
      points.back().host_memory = memory;
      points.back().bytes = bytes;
    }
  }
  points.push_back(MakePoint(Kind::kMemcpy, "dtod"));
  points.back().bytes = bytes;
  return points;
}

// One size of the curve; see Groups() for how all of them come about.
std::vector<Point> DrawBandwidth(Random& random, const Words& /*dtypes*/) {
  // From one SM's share of a cache to far beyond any; steps of 2 and 3 to
  // see where the curve bends.
  const int64_t bytes =
      random.Pick(Powers(16 << 10, 512 << 20)) / 2 * (2 + random.Below(2));
  std::vector<Point> points;
  for (const char* op : {"read", "write", "copy"}) {
    points.push_back(MakePoint(Kind::kBandwidth, op));
    points.back().bytes = bytes;
  }
  return points;
}

std::vector<Point> DrawLaunch(Random& /*random*/, const Words& /*dtypes*/) {
  std::vector<Point> points;
  for (const char* op : {"empty_kernel", "empty_kernel_sync", "event_record",
                         "graph_1", "graph_10", "graph_100", "graph_1000"}) {
    points.push_back(MakePoint(Kind::kLaunch, op));
  }
  return points;
}

struct Group {
  const char* name = "";
  std::vector<Point> (*draw)(Random&, const Words&) = nullptr;
  int draws = 0;  // Of one sweep; repeats are left out.
  int share = 0;  // Draws a round: products and lookups decide a DLRM's step.
};

// `bandwidth` has eight random samples for each of its 32 sizes, so that hardly
// any size is missed.
const std::vector<Group>& Groups() {
  static const std::vector<Group> kGroups = {
      {"gemm", DrawGemm, 2400, 12},    {"bmm", DrawBatched, 900, 4},
      {"embedding", DrawBag, 1200, 6}, {"stream", DrawStream, 400, 3},
      {"memcpy", DrawCopy, 300, 2},    {"bandwidth", DrawBandwidth, 256, 2},
      {"launch", DrawLaunch, 1, 1},
  };
  return kGroups;
}

bool IsWanted(const Words& only, const std::string& name) {
  return only.empty() ||
         std::find(only.begin(), only.end(), name) != only.end();
}

// Random points of a group, the first ones last, without duplicates.
std::vector<std::vector<Point>> DrawAll(const Group& group, uint64_t seed,
                                        const Words& dtypes) {
  Random random(seed ^ Hash(group.name));
  std::set<std::string> seen;
  std::vector<std::vector<Point>> draws;
  for (int i = 0; i < group.draws; ++i) {
    std::vector<Point> fresh;
    for (Point& point : group.draw(random, dtypes)) {
      if (seen.insert(PointId(point)).second) {
        fresh.push_back(std::move(point));
      }
    }
    if (!fresh.empty()) {
      draws.push_back(std::move(fresh));
    }
  }
  std::reverse(draws.begin(), draws.end());
  return draws;
}

}  // namespace

std::vector<std::string> GroupNames() {
  Words names;
  for (const Group& group : Groups()) {
    names.emplace_back(group.name);
  }
  return names;
}

std::vector<std::string> CollectiveNames() {
  return {"all_reduce",     "alltoall",  "all_gather",
          "reduce_scatter", "broadcast", "send_recv"};
}

std::vector<Point> MakeSweep(uint64_t seed,
                             const std::vector<std::string>& only,
                             const std::vector<std::string>& dtypes) {
  std::vector<std::vector<std::vector<Point>>> queues;
  std::vector<size_t> turn;
  for (const Group& group : Groups()) {
    queues.emplace_back();
    if (IsWanted(only, group.name)) {
      queues.back() = DrawAll(group, seed, dtypes);
      turn.insert(turn.end(), static_cast<size_t>(group.share),
                  queues.size() - 1);
    }
  }
  Random order(seed ^ Hash("order"));
  std::vector<Point> sweep;
  bool is_left = !turn.empty();
  while (is_left) {
    is_left = false;
    order.Shuffle(turn);
    for (const size_t group : turn) {
      if (queues[group].empty()) {
        continue;
      }
      for (Point& point : queues[group].back()) {
        sweep.push_back(std::move(point));
      }
      queues[group].pop_back();
      is_left = true;
    }
  }
  return sweep;
}

std::vector<Point> MakeCollectiveSweep(uint64_t seed,
                                       const std::vector<std::string>& only,
                                       int64_t gpus) {
  Sizes ranks = Powers(2, gpus);
  if (gpus >= 2 && ranks.back() != gpus) {
    ranks.push_back(gpus);
  }
  std::vector<Point> sweep;
  for (const std::string& name : CollectiveNames()) {
    if (!IsWanted(only, name)) {
      continue;
    }
    for (const int64_t count : ranks) {
      // A message has two ends, however many GPUs there are.
      if (name == "send_recv" && count != 2) {
        continue;
      }
      // nccl-tests' usual range; the sizes are multiples of every rank count.
      for (const int64_t bytes : Powers(1 << 10, 512 << 20)) {
        Point point = MakePoint(Kind::kCollective, name);
        point.dtype = "fp32";
        point.ranks = count;
        const int64_t grain = 4 * count;
        point.bytes = std::max(grain, bytes / grain * grain);
        sweep.push_back(std::move(point));
      }
    }
  }
  Random order(seed ^ Hash("order"));
  order.Shuffle(sweep);
  return sweep;
}

}  // namespace stepcast::collect

#include "plan/sharders.h"

#include <array>

namespace stepcast::plan {
namespace {

constexpr std::array kSharders = {
    Sharder{.name = "naive",
            .help = "table i to rank i mod n",
            .run = ShardNaively},
    Sharder{.name = "chunk",
            .help = "neighbouring tables together",
            .run = ShardInChunks},
    Sharder{.name = "random",
            .help = "tables to any rank with room",
            .run = ShardRandomly},
    Sharder{.name = "size", .help = "greedy by bytes", .run = ShardBySize},
    Sharder{.name = "lookup",
            .help = "greedy by columns x pooling",
            .run = ShardByLookups},
    Sharder{.name = "size-lookup",
            .help = "greedy by columns x pooling x log10(rows)",
            .run = ShardBySizeAndLookups},
    Sharder{.name = "torchrec",
            .help = "TorchRec's estimate, proposals and partitioner",
            .run = ShardLikeTorchrec},
    Sharder{.name = "greedy",
            .help = "greedy by predicted cost",
            .ours = true,
            .run = ShardGreedily},
    Sharder{.name = "beam",
            .help = "beam search by predicted cost",
            .ours = true,
            .run = ShardByBeam},
    Sharder{.name = "local",
            .help = "local search by predicted cost",
            .ours = true,
            .run = ShardByLocalSearch},
};

}  // namespace

std::span<const Sharder> Sharders() {
  return kSharders;
}

}  // namespace stepcast::plan

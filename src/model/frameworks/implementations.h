// The ways of running a model that are known, one row each.
#ifndef STEPCAST_MODEL_FRAMEWORKS_IMPLEMENTATIONS_H_
#define STEPCAST_MODEL_FRAMEWORKS_IMPLEMENTATIONS_H_

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "ir/graph.h"
#include "model/model.h"
#include "model/settings.h"
#include "model/tables/rank_plan.h"

namespace stepcast::model {

/// What an implementation is asked for. Settings are complete: the batch is
/// above 0.
struct Request {
  const Model& model;
  const Settings& settings;
  const RankPlan& plan;
};

/// How tables are divided to ranks unless a plan says so (sharding.cc).
enum class ShardingRule : uint8_t {
  kNone,  // Runs on one GPU.
  kChunks,
  kTorchrec,
  kNvidia,
  kHugectr,
  kInTurn,
  kTensorflow,
};

/// All facts of an implementation: nothing else compares its name.
struct Implementation {
  std::string_view name;
  std::string_view help;
  /// The set of overheads that describes its hosts best.
  std::string_view overheads;
  /// What runs its operators on servers without GPUs.
  std::string_view cpu_runtime;
  ShardingRule sharding = ShardingRule::kNone;
  bool other_models = false;  // Runs more than DLRM.
  bool placements = false;    // Looks tables up wherever they are.
  bool cuda_graphs = false;   // Can record its step as CUDA graphs.
  bool plans = false;         // Follows sharding plans.
  bool ddp = false;           // Sums gradients in buckets, as DDP does.
  bool prefetches = false;    // Can distribute ids one batch ahead.
  /// All-to-alls over several nodes go through the sender's own node.
  bool hierarchical = false;
  /// The implementation with one lookup over all tables, where this one has a
  /// lookup per table; empty: it has not.
  std::string_view fused{};
  Result<ir::Graph> (*build)(const Request& request) = nullptr;
};

std::span<const Implementation> Implementations();

/// The error lists what is known.
Result<const Implementation*> FindImplementation(std::string_view name);

// One file each.
Result<ir::Graph> BuildPytorch(const Request& request);
Result<ir::Graph> BuildPytorchBags(const Request& request);
Result<ir::Graph> BuildTorchrec(const Request& request);
Result<ir::Graph> BuildNvidia(const Request& request);
Result<ir::Graph> BuildHugectr(const Request& request);
Result<ir::Graph> BuildTensorflow(const Request& request);
Result<ir::Graph> BuildTensorflowXla(const Request& request);
Result<ir::Graph> BuildTensorflowNative(const Request& request);
Result<ir::Graph> BuildTensorflowColumns(const Request& request);
Result<ir::Graph> BuildTriton(const Request& request);
Result<ir::Graph> BuildTritonTensorrt(const Request& request);
Result<ir::Graph> BuildTritonHps(const Request& request);

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_FRAMEWORKS_IMPLEMENTATIONS_H_

// What a step holds in device memory at its fullest.
#ifndef STEPCAST_MODEL_MEMORY_H_
#define STEPCAST_MODEL_MEMORY_H_

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "model/model.h"
#include "model/settings.h"

namespace stepcast::model {

struct MemoryPart {
  std::string_view name;  // "tables", "activations", ...
  double bytes = 0;
};

struct Memory {
  std::vector<MemoryPart> parts;  // Those that hold something, largest first.
  double host = 0;  // Bytes of tables in the host's memory, over all ranks.
  double total() const;
};

/// Where the tables of a model are.
struct TablePlace {
  double table_share = 1;    // Of the tables' bytes, on this device.
  double communication = 0;  // Bytes of buffers for other ranks.
};

/// The memory of one device that runs the step of `graph`.
///   tables, their optimizer's state: from the model;
///   dense parameters, their gradients and state: from the model's layers, of
///     image and language models from the optimizer's activities;
///   activations: what activities of the forward pass write, kept for the
///   backward;
///     in inference the largest two;
///   context: what the driver and the libraries hold;
///   slack: what the allocator's blocks waste.
Memory MemoryOf(const Model& model, const Settings& settings,
                const ir::Graph& graph, const TablePlace& place = {});

/// What a job may do with tables that do not fit.
struct TableJob {
  double bytes = 0;       // Of all tables, over all ranks.
  int64_t ranks = 1;      // That share them now.
  bool elsewhere = true;  // The implementation looks them up in host memory.
};

/// What would make the fullest rank fit into `capacity` bytes, each alone;
/// empty if it does fit, or if nothing of this does.
std::vector<std::string> WaysToFit(const Memory& memory, double capacity,
                                   const Settings& settings,
                                   const TableJob& job);

/// Bytes of buffers for other ranks: what the step's collectives send and
/// receive, at once in memory.
double CommunicationBytes(const ir::Graph& graph);

/// Bytes of a group of the model's tables in the host's memory, whole: caches
/// hold copies.
double HostBytes(const TableGroup& group, const Model& model,
                 const Settings& settings);

/// Bytes of all tables with their optimizer's state.
double TableBytes(const Model& model, const Settings& settings);

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_MEMORY_H_

// Where a step runs.
#ifndef STEPCAST_WHATIF_PLACE_H_
#define STEPCAST_WHATIF_PLACE_H_

#include <string>

namespace stepcast::whatif {

/// What prices are for.
struct Place {
  std::string gpu{};       // Empty: not known.
  std::string platform{};  // Empty: one that has the GPU.
  int gpus = 1;
  int nodes = 1;
  /// A server without GPUs, which `gpu` then names, and what runs operators
  /// there; empty: there are GPUs.
  std::string server{};
  std::string runtime{};
};

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_PLACE_H_

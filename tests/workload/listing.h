// The ops of a graph as lines of text, and what differs between two lists.
#ifndef STEPCAST_TESTS_WORKLOAD_LISTING_H_
#define STEPCAST_TESTS_WORKLOAD_LISTING_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"

namespace stepcast::model {

/// An op with only annotations around it.
struct ListedOp {
  std::string name;
  ir::ThreadRole thread = ir::ThreadRole::kMain;
  ir::Phase phase = ir::Phase::kUnknown;
  int64_t launches = 0;  // Calls that put work into streams.
  std::vector<ir::KernelShape> activities{};  // Of all of them but memsets.
};

/// The top-level ops of one rank, thread by thread.
std::vector<ListedOp> ListOps(const ir::Graph& graph);

/// The same in the order in which they run: autograd's between the forward pass
/// of the main thread and its optimizer.
std::vector<ListedOp> InOrder(std::span<const ListedOp> ops);

/// Lines of `expected` (-) and `actual` (+) that the other does not have; empty
/// if they are the same.
std::string Difference(std::span<const std::string> expected,
                       std::span<const std::string> actual);

}  // namespace stepcast::model

#endif  // STEPCAST_TESTS_WORKLOAD_LISTING_H_

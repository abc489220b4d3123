// HugeCTR's embeddings on one or several ranks: small tables or hot rows on
// every rank, others whole or split by rows, their vectors exchanged while the
// bottom MLP runs. Over several nodes what ranks of a node have of the same
// vectors is summed there first.
#ifndef STEPCAST_WORKLOAD_IMPL_HUGECTR_EMBEDDING_H_
#define STEPCAST_WORKLOAD_IMPL_HUGECTR_EMBEDDING_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "workload/impl/exchange.h"
#include "workload/impl/implementations.h"
#include "workload/impl/torch.h"

namespace stepcast::workload {

/// The parts of a step that embeddings have, in the order they are called:
/// LookUp, Receive, and to train SendGradients, Reduce, Update and
/// FinishReduction.
class HugectrEmbedding {
 public:
  HugectrEmbedding(const Request& request, Torch& torch);

  /// Ids that this rank reads.
  int64_t ids() const;

  /// Looks up, and sends vectors to where their samples are.
  void LookUp();
  /// All vectors of this rank's samples.
  Tensor Receive();
  /// Gradients to where the tables are.
  void SendGradients();
  /// Sums over the ranks what all of them have: the gradients of dense
  /// parameters and of replicated tables.
  void Reduce(int64_t parameters);
  /// Updates the rows of this rank.
  void Update();
  /// Waits for what Reduce sums, and updates replicated tables.
  void FinishReduction();

 private:
  bool alone() const { return plan_.world == 1; }
  bool exchanges() const { return !alone() && portions_.all > 0; }
  bool over_nodes() const { return !plan_.node_columns.empty(); }
  int64_t parts() const;     // Tensors that an exchange is made of.
  int64_t received() const;  // Elements that this rank gets of all exchanges.
  int64_t hot_elements() const;  // Of replicated tables, to be summed.
  void Arrange();                // Between samples and what is exchanged.
  void ExchangeOverNodes(bool forward);
  void Kernel(const ir::KernelShape& shape);
  std::optional<ir::EmbeddingBag> Bag(const std::vector<TableGroup>& tables,
                                      int64_t batch) const;
  void Sum(int64_t elements, ir::DType dtype);

  const Model& model_;
  const Settings& settings_;
  const RankPlan& plan_;
  Torch& torch_;
  StepBuilder& step_;
  ir::StreamId collective_{};
  std::vector<TableGroup> owned_{};  // Whole, or some of their rows.
  Portions portions_{};              // Vectors.
};

}  // namespace stepcast::workload

#endif  // STEPCAST_WORKLOAD_IMPL_HUGECTR_EMBEDDING_H_

// How HugeCTR shares a model's tables out to ranks and nodes.
#ifndef STEPCAST_WORKLOAD_HUGECTR_DEAL_H_
#define STEPCAST_WORKLOAD_HUGECTR_DEAL_H_

#include <cstdint>

#include "workload/model.h"
#include "workload/table_deal.h"

namespace stepcast::workload {

struct HugectrJob {
  int64_t batch = 0;  // Of a rank.
  int64_t world = 1;
  int64_t nodes = 1;
  uint64_t seed = 1;
};

/// One id a sample everywhere: the hybrid embedding, rows used most on every
/// rank, others dealt out to all. Otherwise the embedding collection: small
/// tables on every rank; on one node, tables looked up more than a rank's share
/// are split by rows and others are whole on a rank; on several, tables go to
/// nodes, those looked up more than a node's share to several, and are split by
/// rows among the ranks there.
TableDeal DealLikeHugectr(const Model& model, const HugectrJob& job);

}  // namespace stepcast::workload

#endif  // STEPCAST_WORKLOAD_HUGECTR_DEAL_H_

// How TorchRec brings ids to the ranks that have their tables: how many first,
// then lengths of bags, then ids, a batch ahead.
#ifndef STEPCAST_MODEL_FRAMEWORKS_TORCHREC_TORCHREC_IDS_H_
#define STEPCAST_MODEL_FRAMEWORKS_TORCHREC_TORCHREC_IDS_H_

#include <cstdint>

#include "model/frameworks/exchange.h"
#include "model/frameworks/implementations.h"
#include "model/step_builder.h"

namespace stepcast::model {

/// Streams of TorchRec's pipeline other than the one that computes.
struct TorchrecStreams {
  ir::StreamId copy{};
  ir::StreamId distribution{};
  ir::StreamId collective{};  // Not valid: one rank.
};

class TorchrecIds {
 public:
  TorchrecIds(const Request& request, StepBuilder& step,
              const TorchrecStreams& streams);

  /// Sends the ids of the next batch.
  void Distribute();
  /// What came of all ranks, in the order of this rank's tables.
  void Receive(const ir::EmbeddingBag& bag);

 private:
  void Send();
  void SendToNodes(int64_t ids);
  int64_t TablesElsewhere() const;
  void ReadByHost(int64_t bytes);
  void CopyList(int64_t elements, ir::DType dtype);
  void Exchange(const ir::Collective& collective);
  Portions Evenly(int64_t elements) const;

  const Model& model_;
  const RankPlan& plan_;
  StepBuilder& step_;
  TorchrecStreams streams_;
  int64_t batch_ = 0;
};

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_FRAMEWORKS_TORCHREC_TORCHREC_IDS_H_

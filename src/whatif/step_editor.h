// A step while changes are applied to it: its times, and what may be asked of
// its graph and of models on the way.
#ifndef STEPCAST_WHATIF_STEP_EDITOR_H_
#define STEPCAST_WHATIF_STEP_EDITOR_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cost/kernel_models.h"
#include "engine/predict.h"
#include "engine/predictor.h"
#include "ir/graph.h"
#include "whatif/select.h"
#include "whatif/step_times.h"

namespace stepcast::whatif {

/// Where a step runs; what prices are for.
struct Place {
  std::string gpu{};       // Empty: not known.
  std::string platform{};  // Empty: one that has the GPU.
  int gpus = 1;
  int nodes = 1;
};

class StepEditor {
 public:
  StepEditor(const ir::Graph& graph, const engine::Prediction& base,
             const Place& place, engine::Predictor& predictor, StepTimes times)
      : graph_(graph),
        base_(base),
        place_(place),
        predictor_(predictor),
        times_(std::move(times)) {}

  const ir::Graph& graph() const { return graph_; }
  const ir::GraphData& data() const { return graph_.data(); }
  const cost::HostPlan& plan() const { return base_.plan; }
  const engine::Prediction& base() const { return base_; }
  const Place& place() const { return place_; }
  Place& place() { return place_; }
  engine::Predictor& predictor() { return predictor_; }
  StepTimes& times() { return times_; }
  const StepTimes& times() const { return times_; }

  const cost::HostPiece& piece(const PieceRef& ref) const {
    return plan().threads[ref.thread][ref.piece];
  }
  EditedPiece& times_of(const PieceRef& ref) {
    return times_.pieces[ref.thread][ref.piece];
  }

  void ScaleWork(ir::WorkId id, double factor) {
    times_.works[id].duration *= factor;
  }
  /// Nothing is left of it: no time, no wait for its call or for other ranks.
  void DropWork(ir::WorkId id) { times_.works[id].dropped = true; }
  /// The host takes no time for it and waits for nothing in it.
  void DropPiece(const PieceRef& ref) {
    times_of(ref) = {.duration = 0, .tail = 0, .waits = false};
  }

  /// The models of the GPU that the step runs on.
  Result<const cost::KernelModels*> Models();

  /// The work takes what `to` makes of it where `from` made what it takes now:
  /// its time is multiplied with the ratio of the two, and is as uncertain.
  void Reprice(ir::WorkId id, const cost::Estimate& from,
               const cost::Estimate& to);
  /// The same with a ratio that no model stands behind.
  void RepriceRoughly(ir::WorkId id, double factor);

  /// What a user should know of how the change was carried out.
  void Note(std::string note) { notes_.push_back(std::move(note)); }
  const std::vector<std::string>& notes() const { return notes_; }
  /// What was gained is at most what is told.
  void MarkBound() { bound_ = true; }
  bool bound() const { return bound_; }

 private:
  const ir::Graph& graph_;
  const engine::Prediction& base_;
  Place place_;
  engine::Predictor& predictor_;
  StepTimes times_;
  std::vector<std::string> notes_;
  bool bound_ = false;
};

/// The phase an op belongs to, by itself or by what is around it.
ir::Phase PhaseOf(const ir::GraphData& data, ir::OpId op);
/// Of a call or a work, by its op.
ir::Phase PhaseOf(const ir::GraphData& data, ir::CallId call);
ir::Phase PhaseOf(const ir::GraphData& data, ir::WorkId work);

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_STEP_EDITOR_H_

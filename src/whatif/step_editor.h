// A step while changes are applied to it: its times, and what may be asked of
// its graph and of models on the way.
#ifndef STEPCAST_WHATIF_STEP_EDITOR_H_
#define STEPCAST_WHATIF_STEP_EDITOR_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cost/collectives/collective_models.h"
#include "cost/kernel_models.h"
#include "cost/model_store.h"
#include "engine/explain/step_result.h"
#include "engine/run/request.h"
#include "ir/graph.h"
#include "ir/shape.h"
#include "whatif/select.h"
#include "whatif/step_times.h"

namespace stepcast::whatif {

// What the models of one GPU make of shapes.

/// Keeps prices; those of many shapes are worked out at once.
class ShapePrices {
 public:
  /// `models` outlives it.
  explicit ShapePrices(const cost::KernelModels& models) : models_(models) {}

  /// Notes a shape down, unless it has been before.
  void Want(ir::ShapeId id, const ir::KernelShape& shape);
  /// Prices what was noted down.
  void Fill();
  /// Of a shape that was wanted; nothing if no model answers.
  const std::optional<cost::Estimate>& operator[](ir::ShapeId id) const {
    return prices_[id.value];
  }

  const cost::KernelModels& models() const { return models_; }

 private:
  const cost::KernelModels& models_;
  std::vector<std::optional<cost::Estimate>> prices_;  // By shape.
  std::vector<char> known_;                            // The same.
  std::vector<ir::ShapeId> wanted_;
  std::vector<ir::KernelShape> shapes_;  // Of these.
};

/// Of the time of kernels and copies, that of those that a ratio of bandwidths
/// took to another GPU, because their sizes are not known.
double RoughShare(const ir::GraphData& data, const StepTimes& times);

class StepEditor {
 public:
  StepEditor(const engine::StepResult& base, const engine::Machine& machine,
             cost::ModelStore& store, StepTimes times)
      : base_(base),
        machine_(machine),
        store_(store),
        times_(std::move(times)) {}

  const ir::Graph& graph() const { return *base_.graph; }
  const ir::GraphData& data() const { return graph().data(); }
  const timeline::HostPlan& plan() const { return base_.plan; }
  const engine::StepResult& base() const { return base_; }
  const engine::Machine& machine() const { return machine_; }
  /// Where the step ran before it was edited.
  const engine::Machine& first_machine() const {
    return times_.origin->machine;
  }
  engine::Machine& machine() { return machine_; }
  cost::ModelStore& store() { return store_; }
  StepTimes& times() { return times_; }
  const StepTimes& times() const { return times_; }

  const timeline::HostSegment& segment(const SegmentRef& ref) const {
    return plan().threads[ref.thread][ref.segment];
  }
  EditedSegment& times_of(const SegmentRef& ref) {
    return times_.segments[ref.thread][ref.segment];
  }

  void ScaleActivity(ir::ActivityId id, double factor) {
    times_.activities[id].duration *= factor;
  }
  /// Nothing is left of it: no time, no wait for its call or for other ranks.
  void DropActivity(ir::ActivityId id) { times_.activities[id].dropped = true; }
  /// The host takes no time for it and waits for nothing in it.
  void DropSegment(const SegmentRef& ref) {
    times_of(ref) = {.duration = 0, .tail = 0, .waits = false};
  }

  /// What an activity computes now.
  const ir::KernelShape& shape(ir::ActivityId id) const {
    return shape(times_.activities[id].shape);
  }
  const ir::KernelShape& shape(ir::ShapeId id) const;
  /// What it computed to begin with; of activities that were fused, for all.
  ir::ShapeId FirstShape(ir::ActivityId id) const;
  /// All that an activity does: itself, and what was fused with it.
  std::vector<ir::ActivityId> ActivitiesIn(ir::ActivityId id) const;
  ir::ShapeId AddShape(ir::KernelShape shape);
  void SetShape(ir::ActivityId id, ir::ShapeId shape) {
    times_.activities[id].shape = shape;
  }

  /// Scales the original time of each activity by the price of its current
  /// shape on the current GPU, over the price of its original shape on the GPU
  /// it ran on. On another chip, only the family's share of what its recorded
  /// time is off goes with it (cost::Carry). Without such prices, by the ratio
  /// of the GPUs' bandwidths, which is noted. An unchanged activity keeps its
  /// time and its uncertainty.
  /// Returns how many have both prices.
  Result<size_t> Reprice(std::span<const ir::ActivityId> activities);
  /// The same for one activity with prices from elsewhere, `to` for `gpu`.
  void Reprice(ir::ActivityId id, const cost::Estimate& from,
               const cost::Estimate& to, std::string_view gpu);

  /// The models of a GPU and what they have been asked. Fails if its name is
  /// empty: the trace does not say which GPU it is.
  Result<ShapePrices*> PricesOn(const engine::Machine& machine);

  /// What a user should know of how the change was carried out.
  /// A repeated note is kept once.
  void Note(std::string note) {
    if (std::ranges::find(notes_, note) == notes_.end()) {
      notes_.push_back(std::move(note));
    }
  }
  const std::vector<std::string>& notes() const { return notes_; }
  /// Marks the gain as an upper bound.
  void MarkBound() { bound_ = true; }
  bool bound() const { return bound_; }

 private:
  void WantPrices(ir::ActivityId id, ShapePrices& before, ShapePrices& after);
  std::optional<cost::Estimate> FirstPrice(ir::ActivityId id,
                                           const ShapePrices& before) const;
  bool RepriceOne(ir::ActivityId id, const ShapePrices& before,
                  const ShapePrices& after);
  void RepriceRoughly(ir::ActivityId id, double factor);
  void CarryOver(ir::ActivityId id, const cost::Estimate& from,
                 const cost::Estimate& to);
  double RecordedUs(ir::ActivityId id) const;
  bool IsOnFirstChip() const;
  void NoteKnownSizes();
  void TakeRatio(ir::ActivityId id, double ratio, const Trust& trust);
  /// Of a GPU's model in the times.
  uint16_t ModelNumber(std::string_view model, std::string_view gpu);
  bool IsFirst(ir::ActivityId id) const;

  struct KnownModel {
    std::string model;
    std::string gpu;
    uint16_t number = 0;
  };

  const engine::StepResult& base_;
  engine::Machine machine_;
  cost::ModelStore& store_;
  StepTimes times_;
  std::map<std::string, ShapePrices, std::less<>> prices_;  // By GPU.
  std::vector<KnownModel> models_;
  std::vector<std::string> notes_;
  bool bound_ = false;
};

/// The phase an op belongs to, by itself or by what is around it.
ir::Phase PhaseOf(const ir::GraphData& data, ir::OpId op);
/// Of a call or an activity, by its op.
ir::Phase PhaseOf(const ir::GraphData& data, ir::CallId call);
ir::Phase PhaseOf(const ir::GraphData& data, ir::ActivityId activity);

// Prices of collectives for a step that is edited.

/// Reprices collectives that move other bytes than they did, where the step ran
/// before it was edited: what servers add to a collective does not change with
/// a GPU.
class CollectiveRepricer {
 public:
  explicit CollectiveRepricer(StepEditor& editor) : editor_(editor) {}

  /// `to` is what the work becomes.
  Status Reprice(ir::ActivityId id, const ir::Collective& to);
  /// How many could be.
  size_t repriced() const { return repriced_; }

 private:
  StepEditor& editor_;
  const cost::CollectiveModels* models_ = nullptr;
  size_t repriced_ = 0;
};

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_STEP_EDITOR_H_

// The times of a simulated step, work by work and segment by segment: what
// changes edit.
#ifndef STEPCAST_WHATIF_STEP_TIMES_H_
#define STEPCAST_WHATIF_STEP_TIMES_H_

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/units.h"
#include "cost/estimate.h"
#include "engine/explain/account.h"
#include "engine/explain/step_result.h"
#include "engine/run/price_activities.h"
#include "engine/run/request.h"
#include "ir/graph.h"
#include "ir/shape.h"
#include "sim/simulate.h"
#include "timeline/lower.h"

namespace stepcast::whatif {

/// How sure an activity's time is, and who says so.
struct Trust {
  /// p10 and p90 of the duration, as factors.
  double low = 1;
  double high = 1;
  uint16_t model =
      0;  // Into StepTimes::models: activities that are off together.
  cost::Origin source = cost::Origin::kUnknown;
};

/// Times are in nanoseconds with fractions, so that a change and its inverse
/// give back what was there; they are rounded once, for the simulator.
struct EditedActivity {
  double duration = 0;
  double launch = 0;  // From its call to the earliest start.
  double gap = 0;     // After the work before it on its stream.
  /// The part of the duration that changes of shapes and of GPUs have made: a
  /// price of what it computes now over that of what it did to begin with.
  double ratio = 1;
  Trust trust{};
  /// What it computes now: a shape of the graph or, after those, one of
  /// StepTimes::shapes.
  ir::ShapeId shape{};
  bool dropped = false;  // Takes no time and waits for nobody's call.
};

/// Activities that have become one, the first of them.
struct Fusion {
  std::vector<ir::ActivityId> activities{};
  ir::ShapeId shape{};  // Of all, when they were fused.
};

/// A step before it was edited, where that is not in the graph.
struct StepOrigin {
  engine::Machine machine;
  IdVector<ir::ActivityId, Trust> trusts;
};

struct EditedSegment {
  double duration = 0;
  double tail = 0;    // Of a call that waits.
  bool waits = true;  // Of the same: for the activities it waits for.
};

struct StepTimes {
  IdVector<ir::ActivityId, EditedActivity> activities;
  /// As in the host's plan.
  IdVector<ir::ThreadId, std::vector<EditedSegment>> segments;
  /// One a stream wait of the graph: 0 where nothing waits any more. Empty:
  /// all are kept.
  std::vector<char> stream_waits;
  IdVector<ir::RankId, Duration> rank_starts;
  std::vector<std::string> models;     // Who answered; the first is nobody.
  std::deque<ir::KernelShape> shapes;  // Beyond the graph's; they stay put.
  std::map<ir::ActivityId, Fusion> fusions;  // By the first activity.
  std::shared_ptr<const StepOrigin> origin;
};

/// Those that a step on `machine` was simulated with.
StepTimes TimesOf(const engine::StepResult& result, engine::Machine machine);

/// The number of a model in `times`, added if it is not there.
uint16_t NumberOf(std::string_view model, StepTimes& times);

/// When each rank's step began and ended: of a step that runs once from the
/// rank's start on, of repeats the last.
std::vector<engine::StepSpan> SpansOf(const timeline::Lowered& lowered,
                                      const StepTimes& times,
                                      const sim::Schedule& schedule);

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_STEP_TIMES_H_

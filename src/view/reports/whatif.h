// What changes do to a step.
#ifndef STEPCAST_VIEW_REPORTS_WHATIF_H_
#define STEPCAST_VIEW_REPORTS_WHATIF_H_

#include <span>
#include <string>
#include <vector>

#include "base/units.h"
#include "engine/explain/path_parts.h"
#include "view/doc.h"
#include "view/reports/breakdown.h"
#include "view/reports/prediction.h"
#include "whatif/apply.h"
#include "whatif/case.h"
#include "whatif/change.h"

namespace stepcast::view {

/// What the critical path spent on one thing, before and after.
struct PathChange {
  engine::PathKind kind = engine::PathKind::kHost;
  std::string what{};  // Reads after a time: "in aten::linear".
  Duration before{};
  Duration after{};
  Duration delta() const { return after - before; }
};

struct WhatifReport {
  PredictionReport before;
  PredictionReport after;
  std::vector<std::string> changes;  // As given.
  whatif::Delta delta;
  bool bound = false;            // The gain is at most what is reported.
  std::vector<PathChange> path;  // The largest change first.
  std::vector<std::string> notes;
};

/// A workload's report; `name` is what the user calls it.
PredictionReport ReportCase(const whatif::Case& subject,
                            const std::string& name);

WhatifReport ReportWhatif(const whatif::Case& before,
                          const whatif::Changed& changed,
                          std::span<const whatif::Change> changes,
                          const std::string& name);

/// Where the slowest rank's time goes, before (a) and after (b).
std::vector<PartDifference> PartsOf(const WhatifReport& report);

/// Both steps and what differs between them. The cases must live as long as
/// the document.
Doc WhatifDoc(const WhatifReport& report, const whatif::Case& before,
              const whatif::Case& after);

/// "-39.3 %" of `whole`.
std::string DeltaPercentText(Duration delta, Duration whole);
/// "+0.250": milliseconds with their sign.
std::string DeltaText(Duration delta);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_REPORTS_WHATIF_H_

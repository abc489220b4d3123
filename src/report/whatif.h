// What changes do to a step, as people and scripts want to know it.
#ifndef STEPCAST_REPORT_WHATIF_H_
#define STEPCAST_REPORT_WHATIF_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "engine/path_parts.h"
#include "report/breakdown.h"
#include "report/prediction.h"
#include "whatif/apply.h"
#include "whatif/case.h"
#include "whatif/change.h"

namespace stepcast::report {

/// What the critical path spent on one thing, before and after.
struct PathChange {
  engine::PathKind kind = engine::PathKind::kHost;
  std::string what{};  // Reads behind a time: "in aten::linear".
  Duration before{};
  Duration after{};
  Duration delta() const { return after - before; }
};

struct WhatifReport {
  PredictionReport before;
  PredictionReport after;
  std::vector<std::string> changes;  // As given.
  whatif::Delta delta;
  bool bound = false;            // The gain is at most what is told.
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

std::string WhatifText(const WhatifReport& report);
/// One object: "before" and "after" are those of a prediction.
std::string WhatifJson(const WhatifReport& report, std::string_view version);

/// Both steps side by side as one HTML file; what differs, and why.
std::string WhatifHtml(const WhatifReport& report, const whatif::Case& before,
                       const whatif::Case& after, std::string_view version);

/// "-39.3 %" of `whole`.
std::string DeltaPercentText(Duration delta, Duration whole);
/// "+0.250": milliseconds with their sign.
std::string DeltaText(Duration delta);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_WHATIF_H_

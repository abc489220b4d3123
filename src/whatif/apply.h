// Applies changes to a workload.
#ifndef STEPCAST_WHATIF_APPLY_H_
#define STEPCAST_WHATIF_APPLY_H_

#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "engine/predictor.h"
#include "whatif/case.h"
#include "whatif/change.h"
#include "whatif/delta.h"

namespace stepcast::whatif {

struct Changed {
  Case after;
  Delta delta;
  std::vector<std::string> notes;  // How changes were carried out.
  bool bound = false;              // What is gained is at most what is told.
};

/// Changes of the request come first, those of the step edit what comes out of
/// that, each kind in the order given. Fails with the reason where a change
/// does not apply.
Result<Changed> Apply(const Case& before, std::span<const Change> changes,
                      engine::Predictor& predictor);

/// The step time alone, where all changes are of the step: nothing is lowered,
/// accounted for or drawn. Fails as Apply does.
Result<Duration> StepWith(const Case& before, std::span<const Change> changes,
                          engine::Predictor& predictor);

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_APPLY_H_

// Where in a step time is spent that a change would save, in the words of the
// program that was recorded.
#ifndef STEPCAST_WHATIF_PLACES_H_
#define STEPCAST_WHATIF_PLACES_H_

#include <cstddef>
#include <string>
#include <vector>

#include "base/units.h"
#include "ir/graph.h"
#include "whatif/apply.h"
#include "whatif/case.h"

namespace stepcast::whatif {

/// Ops or calls of one name, in which the host spends its time.
struct Place {
  std::string name{};  // That remove-sync and drop-op take.
  std::string path{};  // "aten::item in ## forward ##, cudaStreamSynchronize"
  Duration time{};     // On the rank where it is longest.
  size_t times = 0;    // How often on one rank.
};

/// Ops in which the host waits for the device, the longest wait first; calls
/// outside of all ops by their own name.
std::vector<Place> PlacesThatWait(const Case& subject);

/// Ops that load data, the longest first.
std::vector<Place> PlacesThatLoad(const Case& subject);

/// What takes less time after a change of the step, on the rank where that is
/// most: "rank 2, host: aten::linear 1.200 ms (forward)"; empty if nothing
/// does, or if a model was predicted anew.
std::string PlacesThatChange(const Case& before, const Case& after);

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_PLACES_H_

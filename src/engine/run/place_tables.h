// Where the tables of a request live.
#ifndef STEPCAST_ENGINE_RUN_PLACE_TABLES_H_
#define STEPCAST_ENGINE_RUN_PLACE_TABLES_H_

#include <string>
#include <string_view>

#include "base/result.h"
#include "engine/run/request.h"

namespace stepcast::engine {

/// As model::PlaceTables, and besides: "hybrid", "hybrid-remote".
Status SetPlacement(std::string_view word_or_file, Request& request);

/// A request whose tables have their place.
struct HybridRequest {
  Request request;
  std::string note;  // What went where.
};

/// Decides what `request.hybrid` leaves open. All tables are in the GPU's
/// memory if they fit. Otherwise those that make for most traffic are, as far
/// as every rank's memory goes, unless the step is shorter with none there.
Result<HybridRequest> PlaceHybrid(const Request& request);

}  // namespace stepcast::engine

#endif  // STEPCAST_ENGINE_RUN_PLACE_TABLES_H_

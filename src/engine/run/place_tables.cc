#include "engine/run/place_tables.h"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "base/text/nearest.h"
#include "base/units.h"
#include "engine/run/predict_model.h"
#include "model/tables/hybrid_placement.h"
#include "model/tables/placement.h"

namespace stepcast::engine {
namespace {

using model::Placement;

constexpr std::string_view kHybrid = "hybrid";
constexpr std::string_view kHybridRemote = "hybrid-remote";

// Shards are not even: the room is reduced by this factor, at most so often,
// until the tables of all ranks fit or none are left.
constexpr double kLessRoom = 0.9;
constexpr int kTries = 20;

bool Fits(const ModelPrediction& predicted) {
  return predicted.memory.total() <= predicted.memory_capacity;
}

void PutAll(Placement placement, model::Model& model) {
  for (model::TableGroup& table : model.tables) {
    table.placement = placement;
    table.cache = 0;
  }
}

std::string NoteOf(const model::HybridTables& placed, Placement far) {
  return fmt::format(
      "hybrid: {} of {} tables ({:.2f} GB) in GPU memory, {} ({:.2f} GB) {}",
      placed.near, placed.near + placed.far, placed.near_bytes / kGiga,
      placed.far, placed.far_bytes / kGiga,
      far == Placement::kRemote ? "at parameter servers" : "on the host");
}

}  // namespace

Status SetPlacement(std::string_view word_or_file, Request& request) {
  if (request.model.tables.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} has no tables to place; expected a model with "
                            "tables, or no placement",
                            request.model.name));
  }
  if (word_or_file == kHybrid || word_or_file == kHybridRemote) {
    request.hybrid =
        word_or_file == kHybrid ? Placement::kHost : Placement::kRemote;
    return {};
  }
  request.hybrid.reset();
  // "uvm-cache:0.05"
  const std::string_view word = word_or_file.substr(0, word_or_file.find(':'));
  if (!word_or_file.ends_with(".toml") && !model::ParsePlacement(word)) {
    const std::array names = {Name(Placement::kHbm),
                              Name(Placement::kUvm),
                              Name(Placement::kUvmCache),
                              Name(Placement::kHostCache),
                              Name(Placement::kHost),
                              Name(Placement::kRemote),
                              kHybrid,
                              kHybridRemote,
                              std::string_view("a .toml file")};
    return Fail(ErrorCode::kInvalidInput,
                Unknown("placement", word_or_file, names));
  }
  return model::PlaceTables(word_or_file, request.model);
}

Result<HybridRequest> PlaceHybrid(const Request& request) {
  const Placement far = request.hybrid.value_or(Placement::kHost);
  if (request.assignment) {
    return Fail(ErrorCode::kUnsupported,
                "placement hybrid with a plan that assigns the tables; "
                "expected a placement file, or no plan");
  }
  Request near = request;
  near.hybrid.reset();
  PutAll(Placement::kHbm, near.model);
  ASSIGN_OR_RETURN(const ModelPrediction all_near, PredictModel(near, {}));
  if (Fits(all_near)) {
    return HybridRequest{.request = std::move(near),
                         .note = "hybrid: all tables fit into GPU memory"};
  }
  Request best = near;
  PutAll(far, best.model);
  ASSIGN_OR_RETURN(const ModelPrediction all_far, PredictModel(best, {}));
  model::Settings settings = request.settings;
  settings.batch = all_far.batch;
  std::string note = "hybrid: the step is shortest with no table in GPU memory";
  double room = (all_far.memory_capacity - all_far.memory.total()) *
                static_cast<double>(request.machine.ranks);
  for (int i = 0; i < kTries && room > 0; ++i, room *= kLessRoom) {
    Request tried = near;
    const model::HybridTables placed =
        model::PlaceHybrid(room, far, settings, tried.model);
    if (placed.near == 0) {
      break;
    }
    ASSIGN_OR_RETURN(const ModelPrediction predicted, PredictModel(tried, {}));
    if (!Fits(predicted)) {
      continue;
    }
    if (predicted.result.step <= all_far.result.step) {
      note = NoteOf(placed, far);
      best = std::move(tried);
    }
    break;
  }
  return HybridRequest{.request = std::move(best), .note = std::move(note)};
}

}  // namespace stepcast::engine

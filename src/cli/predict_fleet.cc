// Predicts asynchronous training on servers without GPUs.
#include "fleet/predict_fleet.h"

#include <algorithm>
#include <limits>

#include "cli/predict_command.h"

namespace stepcast::cli {
namespace {

Status ReadCount(std::string_view option, const std::string& text,
                 int64_t least, int& count) {
  ASSIGN_OR_RETURN(const auto number, ParseNumber(option, text, least));
  if (number) {
    count = static_cast<int>(
        std::min<int64_t>(*number, std::numeric_limits<int>::max()));
  }
  return {};
}

}  // namespace

Result<fleet::FleetPrediction> PredictOnFleet(const PredictCommand& command) {
  ASSIGN_OR_RETURN(engine::Request asked, ReadRequest(command));
  ASSIGN_OR_RETURN(const engine::PredictOptions options,
                   ReadModelOptions(command));
  fleet::FleetRequest request;
  request.model = std::move(asked.model);
  request.settings = asked.settings;
  request.server = command.scenario.server;
  request.sparse_server = command.scenario.sparse_server;
  request.dense_server = command.scenario.dense_server;
  request.samples = options.samples;
  request.seed = options.seed;
  RETURN_IF_ERROR(
      ReadCount("--trainers", command.scenario.trainers, 1, request.trainers));
  RETURN_IF_ERROR(
      ReadCount("--hogwild", command.scenario.hogwild, 1, request.threads));
  RETURN_IF_ERROR(ReadCount("--sparse-servers", command.scenario.sparse_servers,
                            1, request.sparse_servers));
  RETURN_IF_ERROR(ReadCount("--dense-servers", command.scenario.dense_servers,
                            1, request.dense_servers));
  RETURN_IF_ERROR(ReadCount("--sync-every", command.scenario.sync_every, 1,
                            request.sync_every));
  return fleet::PredictFleet(request);
}

}  // namespace stepcast::cli

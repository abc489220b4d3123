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

bool IsFleet(const PredictCommand& command) {
  return !command.trainers.empty() || !command.hogwild.empty() ||
         !command.sparse_servers.empty() || !command.dense_servers.empty() ||
         !command.sparse_server.empty() || !command.dense_server.empty() ||
         !command.sync_every.empty();
}

void AddFleetOptions(OptionParser& parser, PredictCommand& command) {
  parser.Add("--trainers", command.trainers,
             "train asynchronously on so many servers; default 1", "N");
  parser.Add("--hogwild", command.hogwild,
             "threads of a trainer; default: one a core", "N");
  parser.Add("--sparse-servers", command.sparse_servers,
             "servers that hold the tables; default 1", "N");
  parser.Add("--dense-servers", command.dense_servers,
             "servers that average the MLPs; default 1", "N");
  parser.Add("--sparse-server", command.sparse_server,
             "which servers hold the tables; default: as --server", "NAME");
  parser.Add("--dense-server", command.dense_server,
             "which servers average; default: as --server", "NAME");
  parser.Add("--sync-every", command.sync_every,
             "iterations of a thread between averagings; default 10", "N");
}

Result<fleet::FleetPrediction> PredictOnFleet(const PredictCommand& command) {
  ASSIGN_OR_RETURN(engine::Request asked, ReadRequest(command));
  ASSIGN_OR_RETURN(const engine::PredictOptions options,
                   ReadModelOptions(command));
  fleet::FleetRequest request;
  request.model = std::move(asked.model);
  request.settings = asked.settings;
  request.server = command.server;
  request.sparse_server = command.sparse_server;
  request.dense_server = command.dense_server;
  request.samples = options.samples;
  request.seed = options.seed;
  RETURN_IF_ERROR(
      ReadCount("--trainers", command.trainers, 1, request.trainers));
  RETURN_IF_ERROR(ReadCount("--hogwild", command.hogwild, 1, request.threads));
  RETURN_IF_ERROR(ReadCount("--sparse-servers", command.sparse_servers, 1,
                            request.sparse_servers));
  RETURN_IF_ERROR(ReadCount("--dense-servers", command.dense_servers, 1,
                            request.dense_servers));
  RETURN_IF_ERROR(
      ReadCount("--sync-every", command.sync_every, 1, request.sync_every));
  return fleet::PredictFleet(request);
}

}  // namespace stepcast::cli

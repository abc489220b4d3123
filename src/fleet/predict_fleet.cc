#include "fleet/predict_fleet.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "base/rng.h"
#include "base/units.h"
#include "cost/kernels/cpu_kernels.h"
#include "cost/kernels/family.h"
#include "fleet/closed_network.h"
#include "hw/node.h"
#include "ir/graph.h"
#include "model/build_graph.h"
#include "model/memory.h"
#include "model/shapes.h"
#include "model/tables/embedding_stats.h"

namespace stepcast::fleet {
namespace {

constexpr double kFp32Bytes = 4;
constexpr double kIdBytes = 4;  // Hashed: a table has fewer than 2^32 rows.
// After headers of frames and TCP.
constexpr double kNetworkShare = 0.9;
// There and back through two kernels and a switch.
constexpr double kWireUs = 50;
// A request and its answer, on a core of the server: two system calls, the
// message taken apart and put together (gRPC and Thrift, 20 to 50 us each).
constexpr double kMessageUs = 40;
// Bytes that a core puts into or takes out of messages, a microsecond: copied
// twice on the way to a socket.
constexpr double kMessageRate = 4e3;

// The graph of what a trainer computes: the model with its tables away.
Result<ir::Graph> TrainerGraph(const model::Model& model,
                               const model::Settings& settings) {
  if (model.kind != model::ModelKind::kDlrm || model.tables.empty()) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("{} is not a model with tables and MLPs; expected "
                            "a dlrm model for a fleet of CPU servers",
                            model.name));
  }
  model::Model away = model;
  for (model::TableGroup& group : away.tables) {
    group.placement = model::Placement::kRemote;
  }
  model::Settings how = settings;
  how.impl = model::DefaultImplementation();
  return model::BuildGraph(away, how);
}

// Waiting for servers and copying to a device do not use a trainer's core.
bool IsCompute(const ir::GraphData& data, const ir::Activity& activity) {
  const ir::KernelShape& shape = data.shapes[activity.shape];
  return !std::holds_alternative<ir::Copy>(shape) &&
         !std::holds_alternative<ir::Collective>(shape) && ir::IsSized(shape);
}

void AddLoad(const ir::KernelShape& shape, const cost::Machine& machine,
             Demand& demand) {
  const cost::Family* family = cost::FindFamily(shape);
  if (family == nullptr) {
    return;
  }
  demand.core_us += cost::BaseOn(*family, shape, machine).time_us;
  if (const auto load = cost::CpuLoadOf(shape, machine)) {
    demand.dram_bytes += cost::DramBytes(*load, machine);
  }
}

// Lookups and updates of one iteration, in core time and bytes: a core does a
// request, so nothing is divided within one.
Demand SparseDemand(const model::Model& model, const model::Settings& settings,
                    int64_t batch, const cost::Machine& machine) {
  model::LookupOptions how{.batch = batch};
  how.alpha = model::CommonAlpha(model.tables, batch, settings.seed);
  ir::EmbeddingBag bag = model::Lookup(model.tables, how);
  Demand demand;
  AddLoad(bag, machine, demand);
  if (settings.mode == model::Mode::kTrain) {
    bag.pass = ir::Pass::kBackward;
    bag.update = model::UpdateOf(model.table_optimizer);
    AddLoad(bag, machine, demand);
  }
  return demand;
}

double DenseParameters(const model::Model& model) {
  double count = 0;
  const auto layers = [&](int64_t columns, std::span<const int64_t> widths) {
    for (const int64_t width : widths) {
      count += static_cast<double>((columns + 1) * width);
      columns = width;
    }
  };
  layers(model.dense_features, model.bottom_mlp);
  const int64_t width = model::InteractionWidth(model);
  layers(width, model.top_mlp);
  count += static_cast<double>(model.interaction.cross_layers * 2 *
                               model.interaction.cross_rank * width);
  return count;
}

// What a thread holds between its forward and its backward pass.
double ActivationBytes(const model::Model& model,
                       const model::Settings& settings,
                       const ir::Graph& graph) {
  const model::Memory memory =
      model::MemoryOf(model, settings, graph, {.table_share = 0});
  for (const model::MemoryPart& part : memory.parts) {
    if (part.name == "activations") {
      return part.bytes;
    }
  }
  return 0;
}

cost::Machine OneThread(const hw::Node& host, int threads) {
  return {.device = hw::MakeCpuDevice(
              host, hw::OneOf(host, std::min(threads, host.cores())))};
}

}  // namespace

double Demand::NetworkUs(double nic_gbs) const {
  return std::max(in_bytes, out_bytes) / (kNetworkShare * nic_gbs * kKilo);
}

Result<Demands> FindDemands(const model::Model& model,
                            const model::Settings& settings,
                            const IterationShape& shape,
                            const hw::Node& trainer, const hw::Node& sparse) {
  model::Settings how = settings;
  how.batch = shape.batch;
  ASSIGN_OR_RETURN(const ir::Graph graph, TrainerGraph(model, how));
  const ir::GraphData& data = graph.data();
  const bool train = settings.mode == model::Mode::kTrain;
  const auto batch = static_cast<double>(shape.batch);
  Demands demands;
  const cost::Machine core = OneThread(trainer, shape.threads);
  for (const ir::Activity& activity : data.activities) {
    if (IsCompute(data, activity)) {
      AddLoad(data.shapes[activity.shape], core, demands.trainer);
    }
  }
  // A busy sparse server has a request on every core.
  demands.sparse = SparseDemand(model, settings, shape.batch,
                                OneThread(sparse, sparse.cores()));
  const double ids = kIdBytes * static_cast<double>(model::LookupsOf(
                                    model.tables, shape.batch));
  const double vectors =
      kFp32Bytes * batch * static_cast<double>(model::EmbeddingWidth(model));
  const double gradients = train ? vectors : 0;
  const double parameters = kFp32Bytes * DenseParameters(model);
  // The threads of a trainer share one copy, which is averaged once while each
  // of them does so many iterations.
  const double averagings =
      train ? 1.0 / (static_cast<double>(shape.sync_every) * shape.threads) : 0;
  const double averaged = parameters * averagings;
  const double read =
      ids + kFp32Bytes * batch * static_cast<double>(model.dense_features + 1);
  demands.sparse.in_bytes = ids + gradients;
  demands.sparse.out_bytes = vectors;
  demands.dense.in_bytes = averaged;
  demands.dense.out_bytes = averaged;
  demands.dense.dram_bytes = 3 * averaged;  // Read, averaged, written.
  demands.trainer.in_bytes = read + vectors + averaged;
  demands.trainer.out_bytes = ids + gradients + averaged;
  for (Demand* demand : {&demands.trainer, &demands.sparse, &demands.dense}) {
    const double bytes = demand->in_bytes + demand->out_bytes;
    demand->core_us += bytes / kMessageRate;
    demand->dram_bytes += 2 * bytes;  // Written by one side, read by the other.
  }
  demands.sparse_message_us = kMessageUs * (train ? 2 : 1);
  demands.dense_message_us = kMessageUs * averagings;
  demands.wire_us = kWireUs * ((train ? 2 : 1) + averagings);
  demands.table_bytes = model::TableBytes(model, settings);
  demands.dense_bytes = 2 * parameters;
  demands.trainer_bytes =
      2 * parameters +
      shape.threads * (read + 2 * vectors + ActivationBytes(model, how, graph));
  return demands;
}

namespace {

// How far the formulas are off, as the standard deviation of the logarithm: of
// what cores do, of memory and network. By what synchronous steps on CPUs are
// off (docs/models/cpu_device.md); no fleet was measured here.
constexpr double kCoreSpread = 0.3;
constexpr double kNetworkSpread = 0.15;
constexpr double kMemoryShare = 0.8;  // Of channels, by STREAM.

// Everything that is asked for and found.
struct Fleet {
  const FleetRequest& request;
  const hw::Node& trainer;
  const hw::Node& sparse;
  const hw::Node& dense;
  int threads = 1;
};

// Factors on what is uncertain.
struct RandomFactors {
  double trainer = 1;
  double servers = 1;
  double network = 1;
};

enum Place {
  kTrainerCpu,
  kTrainerNetwork,
  kSparseCpu,
  kSparseMemory,
  kSparseNetwork,
  kDenseCpu,
  kDenseMemory,
  kDenseNetwork,
  kPlaces,
};
constexpr std::array<std::string_view, kPlaces> kNames = {
    "trainer cpu",    "trainer network", "sparse cpu",   "sparse memory",
    "sparse network", "dense cpu",       "dense memory", "dense network"};

double MemoryUs(double bytes, const hw::Node& host) {
  return bytes / (kMemoryShare * host.memory_gbs * kKilo);
}

NetworkUse Solve(const Fleet& fleet, const Demands& demands,
                 const RandomFactors& factors) {
  const FleetRequest& request = fleet.request;
  const double all = static_cast<double>(request.trainers) * fleet.threads;
  const double own = fleet.threads;
  const double shards = request.sparse_servers;
  const double averagers = request.dense_servers;
  const auto cpu = [&](const Demand& demand, double message_us, double servers,
                       const hw::Node& host) {
    return Station{
        .demand_us = factors.servers * (demand.core_us / servers + message_us),
        .servers = static_cast<double>(host.cores()),
        .customers = all};
  };
  const auto single = [](double us, double customers) {
    return Station{.demand_us = us, .servers = 1, .customers = customers};
  };
  std::vector<Station> stations(kPlaces);
  stations[kTrainerCpu] = {
      .demand_us = factors.trainer * demands.trainer.core_us,
      .servers = static_cast<double>(fleet.trainer.cores()),
      .customers = own};
  stations[kTrainerNetwork] = single(
      factors.network * demands.trainer.NetworkUs(fleet.trainer.nic_gbs), own);
  stations[kSparseCpu] =
      cpu(demands.sparse, demands.sparse_message_us, shards, fleet.sparse);
  stations[kSparseMemory] =
      single(factors.servers *
                 MemoryUs(demands.sparse.dram_bytes / shards, fleet.sparse),
             all);
  stations[kSparseNetwork] = single(
      factors.network * demands.sparse.NetworkUs(fleet.sparse.nic_gbs) / shards,
      all);
  stations[kDenseCpu] =
      cpu(demands.dense, demands.dense_message_us, averagers, fleet.dense);
  stations[kDenseMemory] =
      single(factors.servers *
                 MemoryUs(demands.dense.dram_bytes / averagers, fleet.dense),
             all);
  stations[kDenseNetwork] =
      single(factors.network * demands.dense.NetworkUs(fleet.dense.nic_gbs) /
                 averagers,
             all);
  return SolveNetwork(stations, demands.wire_us);
}

double SamplesPerSecond(const Fleet& fleet, int64_t batch, double round_us) {
  constexpr double kMicroseconds = 1e6;
  return static_cast<double>(batch) * fleet.request.trainers * fleet.threads *
         kMicroseconds / round_us;
}

void SetInterval(const Fleet& fleet, const Demands& demands,
                 FleetPrediction& prediction) {
  prediction.samples_per_s_p10 = prediction.samples_per_s;
  prediction.samples_per_s_p90 = prediction.samples_per_s;
  const uint32_t samples = fleet.request.samples;
  if (samples == 0) {
    return;
  }
  Rng rng(fleet.request.seed);
  std::vector<double> rates;
  for (uint32_t i = 0; i < samples; ++i) {
    RandomFactors factors;
    factors.trainer = std::exp(kCoreSpread * rng.Normal());
    factors.servers = std::exp(kCoreSpread * rng.Normal());
    factors.network = std::exp(kNetworkSpread * rng.Normal());
    rates.push_back(SamplesPerSecond(fleet, prediction.batch,
                                     Solve(fleet, demands, factors).round_us));
  }
  std::ranges::sort(rates);
  constexpr double kLow = 0.1;
  const auto at = [&](double share) {
    return rates[static_cast<size_t>(
        std::llround(share * static_cast<double>(rates.size() - 1)))];
  };
  prediction.samples_per_s_p10 = at(kLow);
  prediction.samples_per_s_p90 = at(1 - kLow);
}

TierUse TierOf(const hw::Node& host, int servers, double bytes) {
  return {.server = host.name,
          .servers = servers,
          .memory_bytes = bytes,
          .memory_capacity = host.memory_gb * kGiga,
          .power_w = servers * host.power_w};
}

void SetTiers(const Fleet& fleet, const Demands& demands, const NetworkUse& use,
              FleetPrediction& prediction) {
  const FleetRequest& request = fleet.request;
  prediction.trainers =
      TierOf(fleet.trainer, request.trainers, demands.trainer_bytes);
  prediction.sparse = TierOf(fleet.sparse, request.sparse_servers,
                             demands.table_bytes / request.sparse_servers);
  prediction.dense = TierOf(fleet.dense, request.dense_servers,
                            demands.dense_bytes / request.dense_servers);
  const auto busy = [&](Place place) {
    return use.stations[place].utilisation;
  };
  prediction.trainers.cpu = busy(kTrainerCpu);
  prediction.trainers.network = busy(kTrainerNetwork);
  prediction.trainers.memory_bandwidth =
      std::min(1.0, fleet.threads / use.round_us *
                        MemoryUs(demands.trainer.dram_bytes, fleet.trainer));
  prediction.sparse.cpu = busy(kSparseCpu);
  prediction.sparse.memory_bandwidth = busy(kSparseMemory);
  prediction.sparse.network = busy(kSparseNetwork);
  prediction.dense.cpu = busy(kDenseCpu);
  prediction.dense.memory_bandwidth = busy(kDenseMemory);
  prediction.dense.network = busy(kDenseNetwork);
}

void SetParts(const Demands& demands, const NetworkUse& use,
              FleetPrediction& prediction) {
  size_t busiest = 0;
  for (size_t i = 0; i < kPlaces; ++i) {
    const StationUse& station = use.stations[i];
    prediction.parts.push_back({.name = kNames[i],
                                .us = station.response_us,
                                .utilisation = station.utilisation});
    if (station.utilisation > use.stations[busiest].utilisation) {
      busiest = i;
    }
  }
  prediction.bound_by = kNames[busiest];
  prediction.parts.push_back({.name = "wire", .us = demands.wire_us});
}

void SetCosts(const Fleet& fleet, FleetPrediction& prediction) {
  const FleetRequest& request = fleet.request;
  prediction.power_w = prediction.trainers.power_w + prediction.sparse.power_w +
                       prediction.dense.power_w;
  prediction.samples_per_joule = prediction.samples_per_s / prediction.power_w;
  if (fleet.trainer.price_usd && fleet.sparse.price_usd &&
      fleet.dense.price_usd) {
    constexpr double kSecondsPerYear = 365.25 * 24 * 3600;
    prediction.price_usd = request.trainers * *fleet.trainer.price_usd +
                           request.sparse_servers * *fleet.sparse.price_usd +
                           request.dense_servers * *fleet.dense.price_usd;
    prediction.samples_per_usd = prediction.samples_per_s * kYearsOfUse *
                                 kSecondsPerYear / *prediction.price_usd;
  }
}

void NoteWhatDoesNotFit(const TierUse& tier, std::string_view name,
                        FleetPrediction& prediction) {
  if (!tier.fits()) {
    prediction.notes.push_back(fmt::format(
        "{:.0f} GB too much for a {} server of {:.0f} GB; expected at least "
        "{:.0f} of them",
        (tier.memory_bytes - tier.memory_capacity) / kGiga, name,
        tier.memory_capacity / kGiga,
        std::ceil(tier.memory_bytes * tier.servers / tier.memory_capacity)));
  }
}

Status CheckCounts(const FleetRequest& request) {
  struct Count {
    std::string_view name;
    int value = 0;
  };
  constexpr int kMost = 1'000'000;
  for (const Count& count :
       {Count{"trainers", request.trainers},
        Count{"sparse servers", request.sparse_servers},
        Count{"dense servers", request.dense_servers},
        Count{"iterations between averagings", request.sync_every}}) {
    if (count.value < 1 || count.value > kMost) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{} {}; expected 1 to {}", count.value,
                              count.name, kMost));
    }
  }
  if (request.threads < 0 || request.threads > kMost) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} threads; expected 0 (one a core) to {}",
                            request.threads, kMost));
  }
  return {};
}

}  // namespace

Result<FleetPrediction> PredictFleet(const FleetRequest& request) {
  RETURN_IF_ERROR(CheckCounts(request));
  const hw::Node& trainer = *request.trainer;
  const auto other =
      [&](const std::shared_ptr<const hw::Node>& node) -> const hw::Node& {
    return node == nullptr ? trainer : *node;
  };
  const Fleet fleet{
      .request = request,
      .trainer = trainer,
      .sparse = other(request.sparse),
      .dense = other(request.dense),
      .threads = request.threads > 0 ? request.threads : trainer.cores()};
  FleetPrediction prediction;
  prediction.model = request.model.name;
  prediction.batch =
      request.settings.batch > 0 ? request.settings.batch : kUsualBatch;
  prediction.threads = fleet.threads;
  ASSIGN_OR_RETURN(const Demands demands,
                   FindDemands(request.model, request.settings,
                               {.batch = prediction.batch,
                                .threads = fleet.threads,
                                .sync_every = request.sync_every},
                               fleet.trainer, fleet.sparse));
  const NetworkUse use = Solve(fleet, demands, {});
  prediction.iteration_us = use.round_us;
  prediction.samples_per_s =
      SamplesPerSecond(fleet, prediction.batch, use.round_us);
  SetInterval(fleet, demands, prediction);
  SetTiers(fleet, demands, use, prediction);
  SetParts(demands, use, prediction);
  SetCosts(fleet, prediction);
  NoteWhatDoesNotFit(prediction.trainers, "trainer", prediction);
  NoteWhatDoesNotFit(prediction.sparse, "sparse", prediction);
  NoteWhatDoesNotFit(prediction.dense, "dense", prediction);
  return prediction;
}

}  // namespace stepcast::fleet

#include "view/reports/fleet_doc.h"

#include <array>
#include <cmath>

#include <fmt/format.h>

#include "base/text/text_table.h"
#include "base/units.h"
#include "view/reports/text_parts.h"

namespace stepcast::view {
namespace {

using fleet::FleetPrediction;
using fleet::RoundPart;
using fleet::TierUse;

constexpr int kRateDecimals = 3;

struct NamedTier {
  std::string key;
  std::string name;
  const TierUse* tier = nullptr;
};

std::array<NamedTier, 3> TiersOf(const FleetPrediction& prediction) {
  return {{{"trainers", "trainers", &prediction.trainers},
           {"sparse_servers", "sparse servers", &prediction.sparse},
           {"dense_servers", "dense servers", &prediction.dense}}};
}

Bytes RoundedBytes(double bytes) {
  return {std::llround(bytes)};
}

std::string RoundedText(double value) {
  return WithThousands(static_cast<int64_t>(value));
}

Facts RateFacts(const FleetPrediction& prediction) {
  const bool sampled =
      prediction.samples_per_s_p10 != prediction.samples_per_s_p90;
  Facts facts;
  facts.push_back({{.key = "threads_per_trainer"},
                   static_cast<int64_t>(prediction.threads)});
  facts.push_back({{.key = "batch_per_thread"}, prediction.batch});
  // What does not fit has no throughput.
  facts.push_back({{.key = "samples_per_s",
                    .label = prediction.fits() ? "throughput" : "",
                    .unit = "samples/s",
                    .decimals = kRateDecimals},
                   prediction.fits() ? prediction.samples_per_s : 0,
                   sampled
                       ? fmt::format("p10 {}, p90 {}",
                                     RoundedText(prediction.samples_per_s_p10),
                                     RoundedText(prediction.samples_per_s_p90))
                       : ""});
  facts.push_back(
      {{.key = "interval_samples_per_s.p10", .decimals = kRateDecimals},
       prediction.samples_per_s_p10});
  facts.push_back(
      {{.key = "interval_samples_per_s.p90", .decimals = kRateDecimals},
       prediction.samples_per_s_p90});
  facts.push_back({{.key = "iteration_us", .label = "iteration"},
                   FromMicroseconds(prediction.iteration_us),
                   "of a thread"});
  facts.push_back(
      {{.key = "bound_by", .label = "bound by"}, prediction.bound_by});
  facts.push_back(
      {{.key = "power_w", .label = "power", .unit = "W", .decimals = 1},
       prediction.power_w,
       fmt::format("{:.3g} samples/J", prediction.samples_per_joule)});
  facts.push_back({{.key = "samples_per_joule"}, prediction.samples_per_joule});
  if (prediction.samples_per_usd) {
    facts.push_back({{.key = "price_usd", .label = "price", .unit = "USD"},
                     *prediction.price_usd,
                     fmt::format("{} samples/USD over {} years",
                                 RoundedText(*prediction.samples_per_usd),
                                 fleet::kYearsOfUse)});
    facts.push_back({{.key = "samples_per_usd"}, *prediction.samples_per_usd});
  }
  return facts;
}

// Programs have an object for each kind of server.
Facts TierFacts(const FleetPrediction& prediction) {
  Facts facts;
  for (const auto& [key, name, tier] : TiersOf(prediction)) {
    const std::string prefix = key + ".";
    const auto add = [&](std::string_view member, const Value& value) {
      facts.push_back(
          {{.key = prefix + std::string(member), .decimals = 1}, value});
    };
    add("server", tier->server);
    add("servers", static_cast<int64_t>(tier->servers));
    add("cpu", Share{tier->cpu});
    add("memory_bandwidth", Share{tier->memory_bandwidth});
    add("network", Share{tier->network});
    add("memory_bytes", RoundedBytes(tier->memory_bytes));
    add("memory_capacity_bytes", RoundedBytes(tier->memory_capacity));
    add("power_w", tier->power_w);
  }
  return facts;
}

Table TierTable(const FleetPrediction& prediction) {
  Table table{.title = "how busy the servers are",
              .columns = {{.label = "servers"},
                          {.label = "count"},
                          {.label = "server"},
                          {.label = "CPU"},
                          {.label = "memory bandwidth"},
                          {.label = "network"},
                          {.label = "memory used"},
                          {.label = "capacity", .decimals = 0},
                          {.label = "fits"}}};
  for (const auto& [key, name, tier] : TiersOf(prediction)) {
    table.rows.push_back(
        {name, static_cast<int64_t>(tier->servers), tier->server,
         Share{tier->cpu}, Share{tier->memory_bandwidth}, Share{tier->network},
         RoundedBytes(tier->memory_bytes), RoundedBytes(tier->memory_capacity),
         std::string(tier->fits() ? "yes" : "DOES NOT FIT")});
  }
  return table;
}

Table IterationTable(const FleetPrediction& prediction) {
  Table table{.key = "parts",
              .title = "an iteration of a thread",
              .columns = {{.key = "name", .label = "part"},
                          {.key = "us", .label = "time"},
                          {.label = "of the iteration"},
                          {.key = "utilisation", .label = "busy"}}};
  for (const RoundPart& part : prediction.parts) {
    table.rows.push_back({std::string(part.name), FromMicroseconds(part.us),
                          Share{part.us / prediction.iteration_us},
                          Share{part.utilisation}});
  }
  return table;
}

}  // namespace

Doc FleetDoc(const FleetPrediction& prediction) {
  Doc doc;
  doc.title = fmt::format(
      "{} on {} trainers of {} threads, batch {} per thread, {} sparse and {} "
      "dense servers",
      prediction.model, prediction.trainers.servers, prediction.threads,
      WithThousands(prediction.batch), prediction.sparse.servers,
      prediction.dense.servers);
  doc.verdict = fmt::format(
      "{}{} samples/s, bound by {}",
      prediction.fits() ? "" : "does not fit in memory; if it did: ",
      RoundedText(prediction.samples_per_s), prediction.bound_by);
  doc.blocks.emplace_back(Facts{{{.key = "workload"}, prediction.model}});
  doc.blocks.emplace_back(RateFacts(prediction));
  doc.blocks.emplace_back(TierFacts(prediction));
  doc.blocks.emplace_back(TierTable(prediction));
  Table parts = IterationTable(prediction);
  doc.csv = parts;
  doc.blocks.emplace_back(std::move(parts));
  doc.blocks.emplace_back(Notes{prediction.notes});
  return doc;
}

}  // namespace stepcast::view

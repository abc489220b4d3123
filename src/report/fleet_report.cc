#include "report/fleet_report.h"

#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "base/json_write.h"
#include "base/text_table.h"
#include "base/units.h"
#include "report/json_parts.h"
#include "report/text_parts.h"

namespace stepcast::report {
namespace {

using fleet::FleetPrediction;
using fleet::RoundPart;
using fleet::TierUse;

constexpr int kDecimals = 3;

struct NamedTier {
  std::string_view name;
  const TierUse* tier = nullptr;
};

std::vector<NamedTier> TiersOf(const FleetPrediction& prediction) {
  return {{"trainers", &prediction.trainers},
          {"sparse servers", &prediction.sparse},
          {"dense servers", &prediction.dense}};
}

std::string TiersText(const FleetPrediction& prediction) {
  TextTable table({Align::kLeft, Align::kRight, Align::kLeft, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight},
                  "  ");
  table.AddRow({"busy", "", "server", "CPU", "memory", "network",
                "GB of what there is"});
  for (const auto& [name, tier] : TiersOf(prediction)) {
    table.AddRow({std::string(name), fmt::format("{}", tier->servers),
                  tier->server, PercentText(tier->cpu),
                  PercentText(tier->memory_bandwidth),
                  PercentText(tier->network),
                  fmt::format("{:.1f} of {:.0f}{}", tier->memory_bytes / kGiga,
                              tier->memory_capacity / kGiga,
                              tier->fits() ? "" : ": DOES NOT FIT")});
  }
  return table.ToString();
}

std::string PartsText(const FleetPrediction& prediction) {
  TextTable table({Align::kLeft, Align::kRight, Align::kRight, Align::kRight},
                  "  ");
  for (const RoundPart& part : prediction.parts) {
    const double share = part.us / prediction.iteration_us;
    if (share >= 0.0005) {
      table.AddRow({std::string(part.name), MillisecondsText(part.us) + " ms",
                    PercentText(share),
                    part.utilisation > 0
                        ? fmt::format("{} busy", PercentText(part.utilisation))
                        : ""});
    }
  }
  return table.ToString();
}

void WriteTier(JsonWriter& json, std::string_view name, const TierUse& tier) {
  json.Key(name).BeginObject();
  json.Key("server").String(tier.server);
  json.Key("servers").Int(tier.servers);
  json.Key("cpu").Fixed(tier.cpu, kShareDecimals);
  json.Key("memory_bandwidth").Fixed(tier.memory_bandwidth, kShareDecimals);
  json.Key("network").Fixed(tier.network, kShareDecimals);
  json.Key("memory_bytes").Double(std::round(tier.memory_bytes));
  json.Key("memory_capacity_bytes").Double(std::round(tier.memory_capacity));
  json.Key("power_w").Fixed(tier.power_w, kDecimals);
  json.EndObject();
}

}  // namespace

std::string FleetText(const FleetPrediction& prediction,
                      std::string_view workload) {
  const auto rounded = [](double value) {
    return WithThousands(static_cast<int64_t>(value));
  };
  std::string text = fmt::format(
      "{} on {} trainers of {} threads, batch {} a thread, {} sparse and {} "
      "dense servers\n\nthroughput   {} samples/s",
      workload, prediction.trainers.servers, prediction.threads,
      WithThousands(prediction.batch), prediction.sparse.servers,
      prediction.dense.servers, rounded(prediction.samples_per_s));
  if (prediction.samples_per_s_p10 != prediction.samples_per_s_p90) {
    text += fmt::format("   (p10 {}, p90 {})",
                        rounded(prediction.samples_per_s_p10),
                        rounded(prediction.samples_per_s_p90));
  }
  text +=
      fmt::format("\nbound by     {}\npower        {} W, {:.3g} samples/J\n",
                  prediction.bound_by, rounded(prediction.power_w),
                  prediction.samples_per_joule);
  if (prediction.samples_per_usd) {
    text +=
        fmt::format("price        {} USD, {} samples/USD over {} years\n",
                    rounded(*prediction.price_usd),
                    rounded(*prediction.samples_per_usd), fleet::kYearsOfUse);
  }
  text += fmt::format(
      "\n{}\nan iteration of a thread, {} ms\n{}", TiersText(prediction),
      MillisecondsText(prediction.iteration_us), PartsText(prediction));
  for (const std::string& note : prediction.notes) {
    text += fmt::format("note: {}\n", note);
  }
  return text;
}

std::string FleetJson(const FleetPrediction& prediction,
                      const scenario::Question& question,
                      std::string_view version) {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(version);
  json.Key("scenario");
  scenario::WriteQuestion(json, question);
  json.Key("workload").String(question.workload.front());
  json.Key("threads_per_trainer").Int(prediction.threads);
  json.Key("batch_per_thread").Int(prediction.batch);
  json.Key("samples_per_s").Fixed(prediction.samples_per_s, kDecimals);
  json.Key("interval_samples_per_s").BeginObject();
  json.Key("p10").Fixed(prediction.samples_per_s_p10, kDecimals);
  json.Key("p90").Fixed(prediction.samples_per_s_p90, kDecimals);
  json.EndObject();
  json.Key("iteration_us").Fixed(prediction.iteration_us, kDecimals);
  json.Key("bound_by").String(prediction.bound_by);
  WriteTier(json, "trainers", prediction.trainers);
  WriteTier(json, "sparse_servers", prediction.sparse);
  WriteTier(json, "dense_servers", prediction.dense);
  json.Key("parts").BeginArray();
  for (const RoundPart& part : prediction.parts) {
    json.BeginObject();
    json.Key("name").String(part.name);
    json.Key("us").Fixed(part.us, kDecimals);
    json.Key("utilisation").Fixed(part.utilisation, kShareDecimals);
    json.EndObject();
  }
  json.EndArray();
  json.Key("power_w").Fixed(prediction.power_w, kDecimals);
  json.Key("samples_per_joule").Double(prediction.samples_per_joule);
  if (prediction.samples_per_usd) {
    json.Key("price_usd").Double(*prediction.price_usd);
    json.Key("samples_per_usd").Double(*prediction.samples_per_usd);
  }
  json.Key("notes").BeginArray();
  for (const std::string& note : prediction.notes) {
    json.String(note);
  }
  json.EndArray().EndObject();
  return json.Take();
}

}  // namespace stepcast::report

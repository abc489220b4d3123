#include "report/breakdown.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <variant>

#include "ir/shape.h"

namespace stepcast::report {
namespace {

constexpr int kTimeDecimals = 3;

using Times = std::vector<std::pair<std::string, Duration>>;

// What scripts may rely on to be there.
constexpr std::array<std::string_view, 5> kPromised = {
    "gemm", "embedding", "interaction", "elementwise", "optimizer"};

// The name of each alternative of the shapes, by its index.
template <size_t... kIndices>
std::array<std::string_view, sizeof...(kIndices)> FamilyNames(
    std::index_sequence<kIndices...> /*indices*/) {
  return {ir::FamilyName(
      std::variant_alternative_t<kIndices, ir::KernelShape>())...};
}

std::string ShortName(size_t family) {
  static const auto names =
      FamilyNames(std::make_index_sequence<engine::kFamilyCount>());
  const std::string_view name = names[family];
  if (name == "embedding_bag") {
    return "embedding";
  }
  if (name == "optimizer_step") {
    return "optimizer";
  }
  return std::string(name);
}

void WriteTime(JsonWriter& json, std::string_view key, Duration time) {
  json.Key(key).Fixed(ToMicroseconds(time), kTimeDecimals);
}

}  // namespace

std::vector<std::pair<std::string, Duration>> KernelTimes(
    const engine::RankAccount& account) {
  std::vector<std::pair<std::string, Duration>> times;
  for (size_t i = 0; i < account.kernels.size(); ++i) {
    if (account.kernels[i] > Duration{}) {
      times.emplace_back(ShortName(i), account.kernels[i]);
    }
  }
  std::ranges::stable_sort(
      times, [](const auto& a, const auto& b) { return a.second > b.second; });
  return times;
}

void WriteBreakdown(JsonWriter& json, const engine::RankAccount& account) {
  json.BeginObject();
  const auto times = KernelTimes(account);
  for (const auto& [family, time] : times) {
    WriteTime(json, family, time);
  }
  for (const std::string_view family : kPromised) {
    if (std::ranges::find(times, family, &Times::value_type::first) ==
        times.end()) {
      WriteTime(json, family, {});
    }
  }
  WriteTime(json, "memcpy_exposed", account.copies_exposed);
  WriteTime(json, "communication_exposed", account.communication_exposed);
  json.Key("idle").BeginObject();
  WriteTime(json, "host", account.idle.host);
  WriteTime(json, "launch", account.idle.launch);
  WriteTime(json, "sync", account.idle.sync);
  WriteTime(json, "wait_for_rank", account.idle.wait_for_rank);
  json.EndObject();
  json.EndObject();
}

void WriteOverheads(JsonWriter& json, const engine::RankAccount& account) {
  json.BeginObject();
  for (size_t i = 0; i < account.overheads.size(); ++i) {
    WriteTime(json, Name(static_cast<cost::HostKind>(i)), account.overheads[i]);
  }
  json.EndObject();
}

}  // namespace stepcast::report

#include "report/breakdown.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>
#include <variant>

#include "ir/shape.h"

namespace stepcast::report {
namespace {

// What is no kernel, as the JSON has it and for people.
constexpr std::array<std::pair<std::string_view, std::string_view>, 6>
    kPartTexts = {{{"memcpy_exposed", "copies, exposed"},
                   {"communication_exposed", "communication, exposed"},
                   {"idle host", "idle: host busy"},
                   {"idle launch", "idle: launch latency"},
                   {"idle sync", "idle: after a sync"},
                   {"idle wait_for_rank", "idle: waiting for ranks"}}};

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

}  // namespace

StepParts KernelTimes(const engine::RankAccount& account) {
  StepParts times;
  for (size_t i = 0; i < account.kernels.size(); ++i) {
    if (account.kernels[i] > Duration{}) {
      times.emplace_back(ShortName(i), account.kernels[i]);
    }
  }
  std::ranges::stable_sort(
      times, [](const auto& a, const auto& b) { return a.second > b.second; });
  return times;
}

StepParts PartsOf(const engine::RankAccount& account) {
  StepParts parts = KernelTimes(account);
  const std::array<Duration, kPartTexts.size()> times = {
      account.copies_exposed, account.communication_exposed,
      account.idle.host,      account.idle.launch,
      account.idle.sync,      account.idle.wait_for_rank};
  for (size_t i = 0; i < times.size(); ++i) {
    parts.emplace_back(kPartTexts[i].first, times[i]);
  }
  return parts;
}

std::string_view PartText(std::string_view part) {
  for (const auto& [name, text] : kPartTexts) {
    if (name == part) {
      return text;
    }
  }
  return part;
}

std::vector<PartDifference> DifferencesOf(const StepParts& a,
                                          const StepParts& b) {
  std::vector<PartDifference> differences;
  for (const auto& [name, time] : a) {
    differences.push_back({.name = name, .a = time});
  }
  for (const auto& [name, time] : b) {
    auto found = std::ranges::find(differences, name, &PartDifference::name);
    if (found == differences.end()) {
      found = differences.insert(found, {.name = name});
    }
    found->b = time;
  }
  std::erase_if(differences, [](const PartDifference& part) {
    return part.a == Duration{} && part.b == Duration{};
  });
  return differences;
}

StepParts BreakdownOf(const engine::RankAccount& account) {
  StepParts parts = KernelTimes(account);
  for (const std::string_view family : kPromised) {
    if (std::ranges::find(parts, family, &StepParts::value_type::first) ==
        parts.end()) {
      parts.emplace_back(family, Duration{});
    }
  }
  parts.emplace_back("memcpy_exposed", account.copies_exposed);
  parts.emplace_back("communication_exposed", account.communication_exposed);
  parts.emplace_back("idle.host", account.idle.host);
  parts.emplace_back("idle.launch", account.idle.launch);
  parts.emplace_back("idle.sync", account.idle.sync);
  parts.emplace_back("idle.wait_for_rank", account.idle.wait_for_rank);
  return parts;
}

StepParts OverheadsOf(const engine::RankAccount& account) {
  StepParts parts;
  for (size_t i = 0; i < account.overheads.size(); ++i) {
    parts.emplace_back(Name(static_cast<cost::HostKind>(i)),
                       account.overheads[i]);
  }
  return parts;
}

}  // namespace stepcast::report

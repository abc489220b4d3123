#include "view/reports/breakdown.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>
#include <variant>

#include "engine/explain/path_parts.h"
#include "ir/shape.h"

namespace stepcast::view {
namespace {

constexpr std::string_view kNoOp = "(no op)";

Duration Rounded(double nanoseconds) {
  return Duration(std::llround(nanoseconds));
}

}  // namespace

OpTable SumOps(const engine::StepResult& result) {
  OpTable ops;
  if (result.accounts.empty()) {
    return ops;
  }
  const ir::GraphData& data = result.graph->data();
  const IdVector<ir::OpId, ir::OpId> tops = timeline::TopLevelOps(data);
  const ir::RankId slowest{static_cast<uint32_t>(result.slowest())};
  const auto times_of = [&](ir::OpId top) -> OpTimes& {
    return ops[top.valid()
                   ? engine::ShortOpName(result.graph->text(data.ops[top].name))
                   : std::string(kNoOp)];
  };
  for (const ir::OpId id : data.ops.ids()) {
    if (tops[id] == id && data.threads[data.ops[id].thread].rank == slowest) {
      ++times_of(id).count;
    }
  }
  const auto last = static_cast<uint32_t>(result.lowered.rank_ends.size()) - 1;
  for (const sim::TaskId task : result.lowered.origins.ids()) {
    const timeline::TaskOrigin& origin = result.lowered.origins[task];
    if (origin.rank != slowest || origin.repeat != last ||
        origin.kind == timeline::TaskOrigin::Kind::kStart) {
      continue;
    }
    const sim::Placement& placement = result.schedule.placements[task];
    if (origin.kind == timeline::TaskOrigin::Kind::kActivity) {
      const ir::CallId call = data.activities[origin.activity].call;
      const ir::OpId op = call.valid() ? data.calls[call].op : ir::OpId{};
      times_of(op.valid() ? tops[op] : op).device +=
          placement.end - placement.run;
      continue;
    }
    const timeline::HostSegment& segment =
        result.plan.threads[origin.thread][origin.segment];
    if (segment.kind != cost::HostKind::kBetweenOps &&
        segment.kind != cost::HostKind::kHandoff) {
      times_of(segment.op).host += placement.end - placement.start;
    }
  }
  return ops;
}

Table OpsTable(const OpTable& ops) {
  Table table{.key = "ops",
              .columns = {{.key = "name"},
                          {.key = "count"},
                          {.key = "gpu_us"},
                          {.key = "host_us"}},
              .readers = Readers::kPrograms};
  for (const auto& [name, times] : ops) {
    table.rows.push_back(
        {name, static_cast<int64_t>(times.count), times.device, times.host});
  }
  return table;
}

OpTable ReadOps(const JsonValue& array) {
  OpTable ops;
  array.ForEachElement([&](const JsonValue& element) {
    std::string name;
    OpTimes times;
    element.ForEachMember([&](std::string_view key, const JsonValue& value) {
      constexpr double kNanoseconds = 1e3;
      const double number = value.AsDouble().value_or(0);
      if (key == "name") {
        std::string buffer;
        name = JsonUnescape(value.raw_text(), buffer);
      } else if (key == "count") {
        times.count = static_cast<size_t>(
            std::max<int64_t>(value.AsInt().value_or(0), 0));
      } else if (key == "gpu_us") {
        times.device = Rounded(number * kNanoseconds);
      } else if (key == "host_us") {
        times.host = Rounded(number * kNanoseconds);
      }
    });
    if (!name.empty()) {
      ops[name] = times;
    }
  });
  return ops;
}

namespace {

// Parts that are not kernels: their names in JSON and for people.
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

}  // namespace stepcast::view

#include "report/op_times.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "engine/short_name.h"

namespace stepcast::report {
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
  const IdVector<ir::OpId, ir::OpId> tops = cost::TopLevelOps(data);
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
    const lower::TaskOrigin& origin = result.lowered.origins[task];
    if (origin.rank != slowest || origin.repeat != last ||
        origin.kind == lower::TaskOrigin::Kind::kStart) {
      continue;
    }
    const sim::Placement& placement = result.schedule.placements[task];
    if (origin.kind == lower::TaskOrigin::Kind::kWork) {
      const ir::CallId call = data.works[origin.work].call;
      const ir::OpId op = call.valid() ? data.calls[call].op : ir::OpId{};
      times_of(op.valid() ? tops[op] : op).device +=
          placement.end - placement.work;
      continue;
    }
    const cost::HostPiece& piece =
        result.plan.threads[origin.thread][origin.piece];
    if (piece.kind != cost::HostKind::kBetweenOps &&
        piece.kind != cost::HostKind::kHandOver) {
      times_of(piece.op).host += placement.end - placement.start;
    }
  }
  return ops;
}

view::Table OpsTable(const OpTable& ops) {
  view::Table table{.key = "ops",
                    .columns = {{.key = "name"},
                                {.key = "count"},
                                {.key = "gpu_us"},
                                {.key = "host_us"}},
                    .readers = view::Readers::kPrograms};
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

}  // namespace stepcast::report

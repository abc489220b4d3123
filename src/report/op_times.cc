#include "report/op_times.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "engine/short_name.h"
#include "report/json_parts.h"

namespace stepcast::report {
namespace {

constexpr std::string_view kNoOp = "(no op)";

Duration Rounded(double nanoseconds) {
  return Duration(std::llround(nanoseconds));
}

class OpSummer {
 public:
  OpSummer(const ir::Graph& graph, const engine::Prediction& prediction,
           const whatif::StepTimes& times)
      : graph_(graph),
        data_(graph.data()),
        plan_(prediction.plan),
        times_(times),
        rank_(ir::RankId{static_cast<uint32_t>(prediction.slowest())}),
        tops_(cost::TopLevelOps(data_)) {}

  OpTable Sum();

 private:
  OpTimes& Of(ir::OpId top) {
    return ops_[top.valid()
                    ? engine::ShortOpName(graph_.text(data_.ops[top].name))
                    : std::string(kNoOp)];
  }
  void AddHost(ir::ThreadId thread);

  const ir::Graph& graph_;
  const ir::GraphData& data_;
  const cost::HostPlan& plan_;
  const whatif::StepTimes& times_;
  const ir::RankId rank_;
  const IdVector<ir::OpId, ir::OpId> tops_;
  OpTable ops_;
};

void OpSummer::AddHost(ir::ThreadId thread) {
  const auto& pieces = plan_.threads[thread];
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].kind == cost::HostKind::kBetweenOps ||
        pieces[i].kind == cost::HostKind::kHandOver) {
      continue;
    }
    const whatif::EditedPiece& times = times_.pieces[thread][i];
    Of(pieces[i].op).host += Rounded(times.duration + times.tail);
  }
}

OpTable OpSummer::Sum() {
  for (const ir::OpId id : data_.ops.ids()) {
    if (tops_[id] == id && data_.threads[data_.ops[id].thread].rank == rank_) {
      ++Of(id).count;
    }
  }
  for (const ir::ThreadId thread : data_.threads.ids()) {
    if (data_.threads[thread].rank == rank_) {
      AddHost(thread);
    }
  }
  for (const ir::WorkId id : data_.works.ids()) {
    const ir::Work& work = data_.works[id];
    const whatif::EditedWork& times = times_.works[id];
    if (data_.streams[work.stream].rank == rank_ && !times.dropped) {
      const ir::OpId op =
          work.call.valid() ? data_.calls[work.call].op : ir::OpId{};
      Of(op.valid() ? tops_[op] : op).device += Rounded(times.duration);
    }
  }
  return std::move(ops_);
}

}  // namespace

OpTable SumOps(const ir::Graph& graph, const engine::Prediction& prediction,
               const whatif::StepTimes& times) {
  return prediction.accounts.empty() ? OpTable()
                                     : OpSummer(graph, prediction, times).Sum();
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

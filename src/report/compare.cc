#include "report/compare.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json_read.h"
#include "engine/short_name.h"

namespace stepcast::report {
namespace {

constexpr std::string_view kNoOp = "(no op)";

Duration Rounded(double nanoseconds) {
  return Duration(std::llround(nanoseconds));
}

Duration FromMicroseconds(double us) {
  constexpr double kNanoseconds = 1e3;
  return Rounded(us * kNanoseconds);
}

class OpSummer {
 public:
  OpSummer(const whatif::Case& subject, ir::RankId rank)
      : case_(subject),
        data_(subject.graph->data()),
        rank_(rank),
        tops_(cost::TopLevelOps(data_)) {}

  std::map<std::string, OpTimes> Sum();

 private:
  OpTimes& Of(ir::OpId top) {
    return ops_[top.valid() ? engine::ShortOpName(
                                  case_.graph->text(data_.ops[top].name))
                            : std::string(kNoOp)];
  }
  void AddHost(ir::ThreadId thread);

  const whatif::Case& case_;
  const ir::GraphData& data_;
  const ir::RankId rank_;
  const IdVector<ir::OpId, ir::OpId> tops_;
  std::map<std::string, OpTimes> ops_;
};

void OpSummer::AddHost(ir::ThreadId thread) {
  const auto& pieces = case_.prediction.plan.threads[thread];
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (pieces[i].kind == cost::HostKind::kBetweenOps ||
        pieces[i].kind == cost::HostKind::kHandOver) {
      continue;
    }
    const whatif::EditedPiece& times = case_.times.pieces[thread][i];
    Of(pieces[i].op).host += Rounded(times.duration + times.tail);
  }
}

std::map<std::string, OpTimes> OpSummer::Sum() {
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
    const whatif::EditedWork& times = case_.times.works[id];
    if (data_.streams[work.stream].rank == rank_ && !times.dropped) {
      const ir::OpId op =
          work.call.valid() ? data_.calls[work.call].op : ir::OpId{};
      Of(op.valid() ? tops_[op] : op).device += Rounded(times.duration);
    }
  }
  return std::move(ops_);
}

// Times of an object, and of those in it with their key in front.
void ReadTimes(const JsonValue& object, const std::string& prefix,
               StepParts& parts) {
  object.ForEachMember([&](std::string_view key, const JsonValue& value) {
    if (value.is_object()) {
      ReadTimes(value, fmt::format("{} ", key), parts);
    } else if (const auto us = value.AsDouble()) {
      parts.emplace_back(prefix + std::string(key), FromMicroseconds(*us));
    }
  });
}

Duration Largest(const OpDifference& op) {
  return std::max(std::chrono::abs(op.host()), std::chrono::abs(op.device()));
}

}  // namespace

ComparedStep CompareSide(const whatif::Case& subject, std::string name) {
  ComparedStep step;
  step.name = std::move(name);
  const engine::Prediction& prediction = subject.prediction;
  step.step = prediction.step;
  if (prediction.accounts.empty()) {
    return step;
  }
  const size_t slowest = prediction.slowest();
  const engine::RankAccount& account = prediction.accounts[slowest];
  step.gpu_active = account.gpu_active;
  step.host_busy = account.host_busy;
  step.parts = PartsOf(account);
  step.ops =
      OpSummer(subject, ir::RankId{static_cast<uint32_t>(slowest)}).Sum();
  return step;
}

Result<ComparedStep> ReadPredictionJson(std::string_view text,
                                        std::string name) {
  ComparedStep step;
  step.name = std::move(name);
  const auto source = OpenMemory(text);
  JsonRecordReader reader(*source, {});
  bool has_step = false;
  for (;;) {
    ASSIGN_OR_RETURN(const auto item, reader.Next());
    if (!item) {
      break;
    }
    const auto us = item->value.AsDouble();
    if (item->key == "step_time_us" && us) {
      step.step = FromMicroseconds(*us);
      has_step = true;
    } else if (item->key == "gpu_active_us" && us) {
      step.gpu_active = FromMicroseconds(*us);
    } else if (item->key == "host_busy_us" && us) {
      step.host_busy = FromMicroseconds(*us);
    } else if (item->key == "breakdown_us") {
      ReadTimes(item->value, "", step.parts);
    }
  }
  if (!has_step) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} has no step_time_us; expected what `stepcast "
                            "predict --json` writes",
                            step.name));
  }
  return step;
}

Comparison Compare(ComparedStep a, ComparedStep b) {
  Comparison comparison;
  comparison.parts = DifferencesOf(a.parts, b.parts);
  std::ranges::stable_sort(
      comparison.parts, [](const PartDifference& x, const PartDifference& y) {
        return std::chrono::abs(x.delta()) > std::chrono::abs(y.delta());
      });
  std::set<std::string> names;
  for (const auto* ops : {&a.ops, &b.ops}) {
    for (const auto& [name, times] : *ops) {
      names.insert(name);
    }
  }
  for (const std::string& name : names) {
    comparison.ops.push_back(
        {.name = name,
         .a = a.ops.contains(name) ? a.ops.at(name) : OpTimes{},
         .b = b.ops.contains(name) ? b.ops.at(name) : OpTimes{}});
  }
  std::ranges::stable_sort(comparison.ops,
                           [](const OpDifference& x, const OpDifference& y) {
                             return Largest(x) > Largest(y);
                           });
  comparison.a = std::move(a);
  comparison.b = std::move(b);
  return comparison;
}

double PercentLonger(Duration a, Duration b) {
  constexpr double kPercent = 100;
  return a.count() == 0 ? 0
                        : kPercent * static_cast<double>((b - a).count()) /
                              static_cast<double>(a.count());
}

}  // namespace stepcast::report

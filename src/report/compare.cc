#include "report/compare.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json_read.h"
#include "base/units.h"

namespace stepcast::report {
namespace {

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
  step.step = subject.result.step;
  const engine::RankAccount account = subject.result.slowest_account();
  step.gpu_active = account.gpu_active;
  step.host_busy = account.host_busy;
  step.parts = PartsOf(account);
  step.ops = SumOps(subject.result);
  if (subject.model != nullptr && subject.model->fits() &&
      step.step > Duration{}) {
    constexpr double kSecond = 1e9;
    step.samples_per_s =
        static_cast<double>(subject.model->batch * subject.machine.ranks) *
        kSecond / static_cast<double>(step.step.count());
  }
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
    } else if (item->key == "samples_per_s" && us) {
      step.samples_per_s = *us;
    } else if (item->key == "breakdown_us") {
      ReadTimes(item->value, "", step.parts);
    } else if (item->key == "ops") {
      step.ops = ReadOps(item->value);
    } else if (item->key == "sharders") {
      return Fail(
          ErrorCode::kInvalidInput,
          fmt::format("{} is what `stepcast plan --json` wrote; expected the "
                      "plan itself, as in `stepcast plan ... --out P` and "
                      "`stepcast compare MODEL@plan=P ...`",
                      step.name));
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
  return a.count() == 0 ? 0
                        : kPercent * static_cast<double>((b - a).count()) /
                              static_cast<double>(a.count());
}

}  // namespace stepcast::report

#include "explore/study.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/rng.h"

namespace stepcast::explore {

using scenario::ValueType;

std::optional<size_t> FindKind(std::string_view name) {
  const scenario::Setting* const found = scenario::FindSetting(name);
  return found == nullptr ? std::nullopt
                          : std::optional(scenario::IndexOf(*found));
}

Status CheckValue(const scenario::Setting& kind, const SettingValue& value) {
  if (kind.type != ValueType::kWord) {
    ASSIGN_OR_RETURN(const scenario::Value parsed,
                     scenario::ParseValue(kind, value.text));
    return {};
  }
  if (value.number) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} is {}; expected a word: {}", kind.Key(),
                            value.text, kind.help));
  }
  return kind.known == nullptr ? Status() : kind.known(value.text);
}

SettingValue NumberValue(ValueType type, double number) {
  if (type == ValueType::kWhole) {
    const double whole = std::round(number);
    return {.text = fmt::format("{:.0f}", whole), .number = whole};
  }
  // As many digits as are shown, so that a shown row can be rerun.
  std::string text = fmt::format("{:.6g}", number);
  double shown = number;
  std::from_chars(text.data(), text.data() + text.size(), shown);
  return {.text = std::move(text), .number = shown};
}

Result<scenario::Scenario> ScenarioOf(std::span<const Setting> settings) {
  scenario::Scenario all;
  for (const Setting& setting : settings) {
    RETURN_IF_ERROR(
        scenario::SetValue(KindOf(setting), setting.value.text, all));
  }
  const scenario::Subject subject = scenario::SubjectOfModel(all);
  scenario::Scenario made;
  for (const Setting& setting : settings) {
    const scenario::Setting& kind = KindOf(setting);
    // The machine is what decides; it cannot be left out.
    const bool stays = !setting.shared || kind.subjects.Has(subject) ||
                       kind.section == scenario::Section::kMachine ||
                       kind.section == scenario::Section::kFleet;
    if (stays) {
      RETURN_IF_ERROR(scenario::SetValue(kind, setting.value.text, made));
    }
  }
  return made;
}

int64_t RowCount(const Study& study) {
  if (study.design == Design::kLatinHypercube) {
    return study.points;
  }
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  int64_t rows = 1;
  for (const Axis& axis : study.axes) {
    const auto count = std::ssize(axis.values);
    if (count > 0 && rows > kMost / count) {
      return kMost;
    }
    rows *= count;
  }
  return rows;
}

Designer::Designer(const Study& study) : study_(study) {
  if (study.design != Design::kLatinHypercube) {
    return;
  }
  Rng rng(study.seed);
  for (size_t axis = 0; axis < study.axes.size(); ++axis) {
    std::vector<uint32_t> order(static_cast<size_t>(study.points));
    std::iota(order.begin(), order.end(), 0U);
    for (size_t i = order.size(); i > 1; --i) {
      std::swap(order[i - 1], order[rng.Below(i)]);
    }
    orders_.push_back(std::move(order));
  }
}

std::vector<size_t> Designer::ValuesOf(int64_t row) const {
  std::vector<size_t> values(study_.axes.size());
  if (study_.design == Design::kLatinHypercube) {
    for (size_t i = 0; i < values.size(); ++i) {
      // Rows 0 .. points - 1 spread evenly over the values.
      const uint64_t place = orders_[i][static_cast<size_t>(row)];
      values[i] = static_cast<size_t>(place * study_.axes[i].values.size() /
                                      static_cast<uint64_t>(study_.points));
    }
    return values;
  }
  auto rest = static_cast<uint64_t>(row);
  for (size_t i = values.size(); i > 0; --i) {
    const size_t count = study_.axes[i - 1].values.size();
    values[i - 1] = static_cast<size_t>(rest % count);
    rest /= count;
  }
  return values;
}

std::vector<Setting> Designer::SettingsOf(int64_t row) const {
  const std::vector<size_t> values = ValuesOf(row);
  std::vector<const std::vector<Setting>*> all = {&study_.base};
  for (size_t i = 0; i < values.size(); ++i) {
    all.push_back(&study_.axes[i].values[values[i]].settings);
  }
  return Merge(all);
}

std::vector<Setting> Merge(
    const std::vector<const std::vector<Setting>*>& all) {
  std::vector<const Setting*> last(scenario::Settings().size());
  for (const std::vector<Setting>* settings : all) {
    for (const Setting& setting : *settings) {
      last[setting.kind] = &setting;
    }
  }
  std::vector<Setting> merged;
  for (const Setting* setting : last) {
    if (setting != nullptr) {
      merged.push_back(*setting);
    }
  }
  return merged;
}

}  // namespace stepcast::explore

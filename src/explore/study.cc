#include "explore/study.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/rng.h"

namespace stepcast::explore {

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

#include "trace/inspect/coverage.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <variant>

#include "base/check.h"

namespace stepcast::trace {
namespace {

using FamilyMap = std::map<std::string, FamilyTime, std::less<>>;
using UnknownMap = std::map<std::string, UnknownKernel, std::less<>>;

template <typename Row, typename Map>
std::vector<Row> LongestFirst(Map map) {
  std::vector<Row> rows;
  rows.reserve(map.size());
  for (auto& [key, row] : map) {
    rows.push_back(std::move(row));
  }
  // The map is ordered by name, which decides between equal times.
  std::ranges::stable_sort(rows, [](const Row& a, const Row& b) {
    return std::tuple(a.time, a.count) > std::tuple(b.time, b.count);
  });
  return rows;
}

// The entry called `name`, made if there is none; looks up without a copy.
template <typename Map>
auto& EntryOf(Map& map, std::string_view name) {
  auto at = map.find(name);
  if (at == map.end()) {
    at = map.try_emplace(std::string(name)).first;
  }
  return at->second;
}

double ActivityShare(Duration part, Duration whole, int64_t part_activities,
                     int64_t activities) {
  if (whole > Duration{}) {
    return static_cast<double>(part.count()) /
           static_cast<double>(whole.count());
  }
  return activities == 0 ? 1.0
                         : static_cast<double>(part_activities) /
                               static_cast<double>(activities);
}

}  // namespace

double Coverage::classified_share() const {
  return ActivityShare(classified, time, classified_activities, activities);
}

double Coverage::sized_share() const {
  return ActivityShare(sized, time, sized_activities, activities);
}

Coverage FindCoverage(std::span<const TimedShape> activities) {
  Coverage coverage;
  FamilyMap families;
  UnknownMap unknown;
  for (const TimedShape& activity : activities) {
    CHECK(activity.shape != nullptr);
    const std::string_view family = ir::FamilyName(*activity.shape);
    FamilyTime& row = EntryOf(families, family);
    row.family = family;
    ++row.count;
    row.time += activity.time;
    ++coverage.activities;
    coverage.time += activity.time;
    if (ir::IsSized(*activity.shape)) {
      row.sized += activity.time;
      coverage.sized += activity.time;
      ++coverage.sized_activities;
    }
    if (!std::holds_alternative<ir::Opaque>(*activity.shape)) {
      coverage.classified += activity.time;
      ++coverage.classified_activities;
      continue;
    }
    UnknownKernel& kernel = EntryOf(unknown, activity.name);
    kernel.name = activity.name;
    ++kernel.count;
    kernel.time += activity.time;
  }
  coverage.families = LongestFirst<FamilyTime>(std::move(families));
  coverage.unknown = LongestFirst<UnknownKernel>(std::move(unknown));
  return coverage;
}

Coverage Merged(const Coverage& a, const Coverage& b) {
  FamilyMap families;
  UnknownMap unknown;
  for (const Coverage* part : {&a, &b}) {
    for (const FamilyTime& row : part->families) {
      FamilyTime& sum = EntryOf(families, row.family);
      sum = {.family = row.family,
             .count = sum.count + row.count,
             .time = sum.time + row.time,
             .sized = sum.sized + row.sized};
    }
    for (const UnknownKernel& row : part->unknown) {
      UnknownKernel& sum = EntryOf(unknown, row.name);
      sum = {.name = row.name,
             .count = sum.count + row.count,
             .time = sum.time + row.time};
    }
  }
  return {.activities = a.activities + b.activities,
          .time = a.time + b.time,
          .classified = a.classified + b.classified,
          .sized = a.sized + b.sized,
          .families = LongestFirst<FamilyTime>(std::move(families)),
          .unknown = LongestFirst<UnknownKernel>(std::move(unknown)),
          .classified_activities =
              a.classified_activities + b.classified_activities,
          .sized_activities = a.sized_activities + b.sized_activities};
}

}  // namespace stepcast::trace

#include "collect/cuda/bench.h"

#include <cstddef>
#include <cstdio>
#include <set>
#include <utility>

#include "collect/cuda/ids.h"
#include "collect/cuda/measure.h"

namespace stepcast::collect {
namespace {

// Points between two looks at whether the GPU still runs as it did.
constexpr size_t kWatchEvery = 25;
// What a point is worth, and the reference.
constexpr double kPointSeconds = 0.12;
constexpr double kReferenceSeconds = 0.05;
// A point may hold this share of the GPU's memory: some is in use, and the
// copies that calls take turns with come on top.
constexpr double kMemoryShare = 0.25;
// Operands that calls take turns with outgrow the last cache this often.
constexpr double kRotate = 2;
// Where the driver does not report its size: larger than most.
constexpr double kSomeCache = 64 << 20;
// Points of the first pass that were measured while the GPU was slow come again
// in the second, and are then taken as they are: a GPU that is always hot would
// never be done.
constexpr int kPasses = 2;

std::string Seconds(double seconds) {
  char text[32] = "";
  std::snprintf(text, sizeof(text), "%.3f", seconds);
  return text;
}

}  // namespace

Bench::Bench(const BenchParts& parts, BenchSettings settings)
    : parts_(parts),
      settings_(std::move(settings)),
      limits_(settings_.longest_us,
              kMemoryShare * parts.device.facts().memory_bytes),
      rotate_bytes_(kRotate * (parts.device.facts().l2_bytes > 0
                                   ? parts.device.facts().l2_bytes
                                   : kSomeCache)) {}

bool Bench::Add(const std::string& type, std::vector<std::string> cells) {
  Entry entry;
  entry.type = type;
  entry.cells = std::move(cells);
  return parts_.journal.Add(std::move(entry));
}

bool Bench::Time(const Point& point, Summary& summary, std::string& timing,
                 std::string& why) {
  const auto prepared =
      parts_.device.Prepare(point, CopiesOf(point, rotate_bytes_), why);
  if (prepared == nullptr) {
    return true;
  }
  const bool is_reference = PointId(point) == PointId(settings_.reference);
  const auto found =
      Measure(*prepared, is_reference ? kReferenceSeconds : kPointSeconds,
              parts_.clock);
  if (!found) {
    return false;
  }
  summary = *found;
  timing = prepared->timing();
  return true;
}

Bench::End Bench::Look() {
  Summary summary;
  std::string timing;
  std::string why;
  if (!Time(settings_.reference, summary, timing, why)) {
    return End::kDeviceFailed;
  }
  if (!why.empty() || watch_.Check(summary.time_us)) {
    since_good_.clear();
    return End::kWhole;
  }
  for (const std::string& id : since_good_) {
    if (may_repeat_ && !Add("again", {id, Seconds(parts_.budget.ThisRun())})) {
      return End::kDiskFull;
    }
  }
  since_good_.clear();
  return End::kWhole;
}

Bench::End Bench::One(const Point& point) {
  const std::string id = PointId(point);
  std::string why = limits_.ReasonToSkip(point);
  Summary summary;
  std::string timing;
  const bool is_alive = !why.empty() || Time(point, summary, timing, why);
  std::vector<std::string> cells = {id, Seconds(parts_.budget.ThisRun())};
  if (!is_alive) {
    // Left out from now on, or the next run would end here, too.
    return Add("point", std::move(cells)) ? End::kDeviceFailed : End::kDiskFull;
  }
  if (why.empty()) {
    const int64_t unique =
        point.kind == Kind::kEmbeddingBag ? UniqueCount(IdsOf(point, 0)) : 0;
    cells.emplace_back(Name(point.kind));
    cells.push_back(RowOf(point, settings_.context, summary, timing, unique));
    limits_.Learn(point, summary.time_us);
    since_good_.push_back(id);
    ++measured_;
  }
  return Add("point", std::move(cells)) ? End::kWhole : End::kDiskFull;
}

Bench::End Bench::Run(const std::vector<Point>& sweep) {
  if (!Add("run", {})) {
    return End::kDiskFull;
  }
  for (int pass = 0; pass < kPasses; ++pass) {
    may_repeat_ = pass + 1 < kPasses;
    const std::set<std::string> done = parts_.journal.Done();
    auto count = static_cast<int64_t>(done.size());
    size_t number = 0;
    for (const Point& point : sweep) {
      if (done.count(PointId(point)) > 0) {
        continue;
      }
      if (parts_.budget.IsOver()) {
        return End::kBudget;
      }
      End end = number++ % kWatchEvery == 0 ? Look() : End::kWhole;
      if (end == End::kWhole) {
        end = One(point);
      }
      if (end != End::kWhole) {
        return end;
      }
      parts_.progress.Show(++count, parts_.budget, Name(point.kind));
    }
    // The last points of a pass, too, are held against the reference.
    if (const End end = Look(); end != End::kWhole) {
      return end;
    }
  }
  return End::kWhole;
}

}  // namespace stepcast::collect

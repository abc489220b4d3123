// One run of a sweep: points in order, each into the journal.
#ifndef STEPCAST_COLLECT_CUDA_BENCH_H_
#define STEPCAST_COLLECT_CUDA_BENCH_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "collect/cuda/budget.h"
#include "collect/cuda/device.h"
#include "collect/cuda/journal.h"
#include "collect/cuda/statistics.h"
#include "collect/cuda/table.h"
#include "collect/cuda/work.h"

namespace stepcast::collect {

/// What a run works with; all of it outlives the run.
struct BenchParts {
  Device& device;
  Journal& journal;
  const Budget& budget;
  Progress& progress;
  const Clock& clock;
};

/// What is asked of a run.
struct BenchSettings {
  RowContext context{};
  Point reference{};  // Timed repeatedly: is the GPU as fast as before?
  double longest_us = 60e3;
};

class Bench {
 public:
  Bench(const BenchParts& parts, BenchSettings settings);

  enum class End { kWhole, kBudget, kDeviceFailed, kDiskFull };
  /// Until the sweep or the budget is over.
  End Run(const std::vector<Point>& sweep);

  int64_t measured() const { return measured_; }
  int64_t throttled() const { return watch_.throttled(); }

 private:
  // Measures a point; false if the device is gone.
  bool Time(const Point& point, Summary& summary, std::string& timing,
            std::string& why);
  End One(const Point& point);
  // Points measured while the GPU was slow are measured again.
  End Look();
  bool Add(const std::string& type, std::vector<std::string> cells);

  BenchParts parts_;
  BenchSettings settings_;
  Limits limits_;
  double rotate_bytes_;
  ThrottleWatch watch_{};
  std::vector<std::string> since_good_{};
  bool may_repeat_ = true;
  int64_t measured_ = 0;
};

}  // namespace stepcast::collect

#endif  // STEPCAST_COLLECT_CUDA_BENCH_H_

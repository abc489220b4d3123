// The CSV of a predicted step.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/breakdown.h"
#include "report/csv_cell.h"
#include "report/prediction.h"

namespace stepcast::report {
namespace {

// Parts of the step that have a column each; the kernels that are left share
// one.
constexpr std::array<std::string_view, 10> kParts = {
    "gemm",           "embedding",
    "elementwise",    "optimizer",
    "memcpy_exposed", "communication_exposed",
    "idle host",      "idle launch",
    "idle sync",      "idle wait_for_rank"};
constexpr std::string_view kOtherKernels = "other_kernels";

class CsvRow {
 public:
  void Add(std::string name, std::string_view value) {
    head_.push_back(std::move(name));
    cells_.push_back(CsvCell(value));
  }
  void Add(std::string name, int64_t value) {
    Add(std::move(name), fmt::format("{}", value));
  }
  void Add(std::string name, Duration time) {
    Add(std::move(name), fmt::format("{:.3f}", ToMicroseconds(time)));
  }
  std::string ToString() const {
    return fmt::format("{}\n{}\n", fmt::join(head_, ","),
                       fmt::join(cells_, ","));
  }

 private:
  std::vector<std::string> head_;
  std::vector<std::string> cells_;
};

void AddParts(const engine::RankAccount& account, CsvRow& row) {
  std::array<Duration, kParts.size()> times{};
  Duration other{};
  for (const auto& [name, time] : PartsOf(account)) {
    const auto found = std::ranges::find(kParts, name);
    if (found == kParts.end()) {
      other += time;
    } else {
      times[static_cast<size_t>(found - kParts.begin())] += time;
    }
  }
  for (size_t i = 0; i < kParts.size(); ++i) {
    std::string name(kParts[i]);
    std::ranges::replace(name, ' ', '_');
    row.Add(name + "_us", times[i]);
  }
  row.Add(fmt::format("{}_us", kOtherKernels), other);
}

}  // namespace

std::string PredictionCsv(const PredictionReport& report) {
  const PredictionSubject& subject = report.subject;
  const engine::RankAccount& slowest = report.slowest;
  CsvRow row;
  row.Add("workload", subject.workload);
  row.Add("platform", subject.platform);
  row.Add("gpu", subject.gpu);
  row.Add("num_gpus", subject.num_gpus);
  row.Add("batch_per_gpu", subject.batch_per_gpu);
  row.Add("precision", subject.precision);
  row.Add("mode", subject.mode);
  row.Add("impl", subject.impl);
  row.Add("overheads", subject.overheads);
  row.Add("step_time_us", report.step);
  row.Add("p10_us", report.interval.p10);
  row.Add("p90_us", report.interval.p90);
  row.Add("samples_per_s", fmt::format("{:.1f}", report.samples_per_s));
  row.Add("gpu_active_us", slowest.gpu_active);
  row.Add("gpu_idle_us", slowest.step - slowest.gpu_active);
  row.Add("host_busy_us", slowest.host_busy);
  AddParts(slowest, row);
  const bool known = report.memory.has_value();
  row.Add("hbm_bytes",
          known ? fmt::format("{:.0f}", report.memory->hbm_bytes) : "");
  row.Add(
      "hbm_capacity_bytes",
      known ? fmt::format("{:.0f}", report.memory->hbm_capacity_bytes) : "");
  row.Add("fits", !known ? ""
                  : report.memory->fits() && report.memory->fits_host()
                      ? "true"
                      : "false");
  return row.ToString();
}

}  // namespace stepcast::report

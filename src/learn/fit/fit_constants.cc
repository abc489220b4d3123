#include "learn/fit/fit_constants.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/minimize.h"
#include "base/parallel.h"

namespace stepcast::learn {
namespace {

using cost::Constant;
using cost::ConstantInfo;

// Rows of each GPU and case that a fit looks at: enough for a dozen constants,
// and a fit takes seconds.
constexpr size_t kMostRows = 1500;
constexpr size_t kEvaluationsPerConstant = 45;
// The method stops early in narrow valleys; starting it again at the point it
// found gives it a fresh simplex.
constexpr int kSimplexRounds = 2;

// Rows further off than this are the library's choice of another kernel or a
// card that throttles: no constant explains them.
constexpr double kMostOff = 0.3;

struct GroupName {
  std::string_view family;
  std::string_view type;
  std::string_view prefix;
  std::string_view but_not;  // A longer prefix that is another group's.
};
constexpr std::array kGroups = {
    GroupName{"elementwise", "", "kernel.", ""},
    GroupName{"elementwise", "", "stream.", ""},
    GroupName{"softmax", "", "softmax.", ""},
    GroupName{"normalization", "", "normalization.", ""},
    GroupName{"convolution", "fp32", "convolution.", ""},
    GroupName{"gemm", "fp32", "gemm.", "gemm.matrix_"},
    GroupName{"gemm", "half", "gemm.matrix_", ""},
};

const ConstantInfo& InfoOf(Constant id) {
  return cost::ConstantInfos()[static_cast<size_t>(id)];
}

// The rows of one case of a GPU, and of all its cases.
struct CaseRows {
  cost::Machine machine;
  const cost::Family* family = nullptr;
  std::vector<const TrainingRow*> rows;
};
using GpuRows = std::vector<CaseRows>;

std::vector<GpuRows> RowsFor(const ConstantGroup& group,
                             std::span<const MeasuredGpu* const> gpus,
                             const cost::Constants& start) {
  std::vector<GpuRows> list;
  for (const MeasuredGpu* gpu : gpus) {
    GpuRows cases;
    for (const RowCase& one : gpu->cases) {
      // What the kernels of a whole model found in L2 is unknown.
      if (!Informs(one, group) || one.from_profiles) {
        continue;
      }
      CaseRows rows{.machine = AsBenchmarked(
                        {.device = gpu->device, .constants = start}, one),
                    .family = one.group.family,
                    .rows = {}};
      for (const size_t place : SampleRows(one.rows, Part::kFit, kMostRows)) {
        rows.rows.push_back(&one.rows[place]);
      }
      if (!rows.rows.empty()) {
        cases.push_back(std::move(rows));
      }
    }
    if (!cases.empty()) {
      list.push_back(std::move(cases));
    }
  }
  return list;
}

double LossOf(GpuRows& gpu, const cost::Constants& constants) {
  double sum = 0;
  size_t count = 0;
  for (CaseRows& one : gpu) {
    one.machine.constants = constants;
    for (const TrainingRow* row : one.rows) {
      const double kernel =
          one.family->base(row->row->shape, one.machine).time_us;
      const double off = std::log(ObservedUs(*row, kernel)) - row->log_time;
      sum += std::min(std::abs(off), kMostOff);
    }
    count += one.rows.size();
  }
  return sum / static_cast<double>(count);
}

}  // namespace

double PlaceInRange(const ConstantInfo& info, double value) {
  return info.low > 0
             ? std::log(value / info.low) / std::log(info.high / info.low)
             : (value - info.low) / (info.high - info.low);
}

double ValueAtPlace(const ConstantInfo& info, double place) {
  const double inside = std::clamp(place, 0.0, 1.0);
  const double value = info.low > 0
                           ? info.low * std::pow(info.high / info.low, inside)
                           : info.low + inside * (info.high - info.low);
  return std::clamp(value, info.low, info.high);
}

std::vector<ConstantGroup> ConstantGroups() {
  std::vector<ConstantGroup> groups;
  for (const GroupName& name : kGroups) {
    const bool goes_on = !groups.empty() &&
                         groups.back().family == name.family &&
                         groups.back().type == name.type;
    if (!goes_on) {
      groups.push_back(
          {.family = name.family, .type = name.type, .constants = {}});
    }
    for (const ConstantInfo& info : cost::ConstantInfos()) {
      const bool other =
          !name.but_not.empty() && info.name.starts_with(name.but_not);
      if (info.name.starts_with(name.prefix) && !other && IsFitted(info)) {
        groups.back().constants.push_back(info.id);
      }
    }
  }
  return groups;
}

bool IsFitted(const ConstantInfo& info) {
  // FP32 products were timed with events only, which cannot tell what a kernel
  // takes at least from the lead of its launch.
  return info.low < info.high && info.id != Constant::kGemmLatencyCycles;
}

bool Informs(const RowCase& one, const ConstantGroup& group) {
  return one.group.family->name == group.family &&
         (group.type.empty() || one.type == group.type);
}

cost::Constants FitGroup(const ConstantGroup& group,
                         std::span<const MeasuredGpu* const> gpus,
                         const cost::Constants& start) {
  std::vector<GpuRows> rows = RowsFor(group, gpus, start);
  if (rows.empty()) {
    return start;
  }
  const auto constants_at = [&](std::span<const double> x) {
    cost::Constants constants = start;
    for (size_t i = 0; i < group.constants.size(); ++i) {
      constants.Set(group.constants[i],
                    ValueAtPlace(InfoOf(group.constants[i]), x[i] - 1));
    }
    return constants;
  };
  const auto loss = [&](std::span<const double> x) {
    const cost::Constants constants = constants_at(x);
    double sum = 0;
    for (GpuRows& gpu : rows) {
      sum += std::log(LossOf(gpu, constants));
    }
    return sum;
  };
  // From 1 to 2, so that a first step is a tenth of the range or two.
  std::vector<double> point;
  for (const Constant id : group.constants) {
    point.push_back(1 + PlaceInRange(InfoOf(id), start[id]));
  }
  for (int round = 0; round < kSimplexRounds; ++round) {
    point = Minimize(loss, point,
                     {.evaluations = kEvaluationsPerConstant * point.size()});
  }
  return constants_at(point);
}

cost::Constants FitConstants(std::span<const MeasuredGpu* const> gpus,
                             const cost::Constants& start, size_t threads) {
  const std::vector<ConstantGroup> groups = ConstantGroups();
  const cost::Constants streams = FitGroup(groups.front(), gpus, start);
  std::vector<cost::Constants> fits(groups.size(), streams);
  ParallelFor(groups.size() - 1, threads, [&](size_t i) {
    fits[i + 1] = FitGroup(groups[i + 1], gpus, streams);
  });
  cost::Constants constants = streams;
  for (size_t i = 1; i < groups.size(); ++i) {
    for (const Constant id : groups[i].constants) {
      constants.Set(id, fits[i][id]);
    }
  }
  return constants;
}

std::string ConstantsText(const cost::Constants& constants,
                          std::string_view provenance) {
  std::string text = fmt::format(
      "# {}\n# The constants of the formulas that differ from those in the "
      "program.\n",
      provenance);
  for (const ConstantInfo& info : cost::ConstantInfos()) {
    if (constants[info.id] != info.value) {
      text += fmt::format("\"{}\" = {:.5g}\n", info.name, constants[info.id]);
    }
  }
  return text;
}

}  // namespace stepcast::learn

#include "fit/leave_out.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "base/parallel.h"
#include "fit/fit_constants.h"
#include "fit/judge_case.h"
#include "fit/measured_gpu.h"
#include "fit/spreads.h"

namespace stepcast::fit {
namespace {

using measurements::KernelRows;

// Everything that is fitted, without the GPUs of one chip.
Others FitOthers(const std::vector<MeasuredGpu>& gpus,
                 const std::string& chip) {
  Others others;
  for (const MeasuredGpu& gpu : gpus) {
    if (gpu.device.chip != chip) {
      others.gpus.push_back(&gpu);
    }
  }
  others.rule = FitShareRule(others.gpus);
  for (const ConstantGroup& group : ConstantGroups()) {
    // Constants that no row of this chip is judged by need no fit.
    const bool wanted =
        group.family == "elementwise" ||
        std::ranges::any_of(gpus, [&](const MeasuredGpu& gpu) {
          return gpu.device.chip == chip &&
                 std::ranges::any_of(gpu.cases, [&](const RowCase& one) {
                   return Tells(one, group);
                 });
        });
    if (wanted) {
      others.constants = FitGroup(group, others.gpus, others.constants);
    }
  }
  return others;
}

Result<std::vector<JudgedCase>> LeaveOut(const KernelRows& rows,
                                         const std::vector<MeasuredGpu>& gpus,
                                         const std::string& chip) {
  const Others others = FitOthers(gpus, chip);
  std::vector<JudgedCase> cases;
  for (const MeasuredGpu& gpu : gpus) {
    if (gpu.device.chip != chip) {
      continue;
    }
    for (const RowCase& one : gpu.cases) {
      ASSIGN_OR_RETURN(JudgedCase judged, JudgeCase(rows, gpu, one, others));
      cases.push_back(std::move(judged));
    }
  }
  return cases;
}

double ShareInside(std::span<const Judged> tests, double Judged::*estimate,
                   const cost::FormulaSpread& spread) {
  size_t inside = 0;
  for (const Judged& one : tests) {
    const auto observed = [&](double log2_change) {
      const double kernel = one.*estimate * std::exp2(log2_change);
      return ObservedUs(*one.row, std::max(kernel, one.roofline_us));
    };
    const double time = one.row->row->time_us;
    if (time >= observed(spread.log2_p10) &&
        time <= observed(spread.log2_p90)) {
      ++inside;
    }
  }
  return static_cast<double>(inside) / static_cast<double>(tests.size());
}

std::vector<Misses> MissesOfOthers(std::span<const JudgedCase> cases,
                                   const std::string& chip) {
  std::vector<Misses> others;
  for (const JudgedCase& one : cases) {
    if (one.misses.chip != chip) {
      others.push_back(one.misses);
    }
  }
  return others;
}

// The intervals of a case are those of the other chips' errors.
void JudgeIntervals(std::vector<JudgedCase>& cases) {
  std::map<std::string, cost::FormulaSpreads> by_chip;
  for (JudgedCase& one : cases) {
    if (one.tests.empty()) {
      continue;
    }
    const std::string& chip = one.misses.chip;
    auto found = by_chip.find(chip);
    if (found == by_chip.end()) {
      found =
          by_chip.emplace(chip, SpreadsOf(MissesOfOthers(cases, chip))).first;
    }
    const cost::FamilySpread* spread =
        cost::FindSpread(found->second, one.tests.front().row->row->shape);
    if (spread != nullptr) {
      one.line.nothing_inside =
          ShareInside(one.tests, &Judged::nothing_us, spread->nothing);
      one.line.ceilings_inside =
          ShareInside(one.tests, &Judged::ceilings_us, spread->ceilings);
    }
  }
}

}  // namespace

Result<LeaveOutTable> LeaveOneOut(const KernelRows& rows, size_t threads) {
  ASSIGN_OR_RETURN(const std::vector<MeasuredGpu> gpus,
                   MeasureGpus(rows, cost::Constants(), threads));
  std::vector<std::string> chips;
  for (const MeasuredGpu& gpu : gpus) {
    if (std::ranges::find(chips, gpu.device.chip) == chips.end()) {
      chips.push_back(gpu.device.chip);
    }
  }
  std::vector<std::optional<Result<std::vector<JudgedCase>>>> left_out(
      chips.size());
  ParallelFor(chips.size(), threads, [&](size_t chip) {
    left_out[chip] = LeaveOut(rows, gpus, chips[chip]);
  });
  std::vector<JudgedCase> cases;
  for (auto& result : left_out) {
    ASSIGN_OR_RETURN(std::vector<JudgedCase> judged, *std::move(result));
    std::ranges::move(judged, std::back_inserter(cases));
  }
  JudgeIntervals(cases);
  LeaveOutTable table;
  std::vector<Misses> misses;
  for (JudgedCase& one : cases) {
    if (!one.tests.empty()) {
      table.lines.push_back(std::move(one.line));
    }
    misses.push_back(std::move(one.misses));
  }
  std::ranges::sort(table.lines, {}, [](const LeaveOutLine& line) {
    return std::tie(line.op, line.type, line.gpu);
  });
  table.spreads = SpreadsOf(misses);
  return table;
}

}  // namespace stepcast::fit

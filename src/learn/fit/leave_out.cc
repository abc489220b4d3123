#include "learn/fit/leave_out.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/parallel.h"
#include "base/result.h"
#include "base/rng.h"
#include "cost/constants.h"
#include "cost/machine.h"
#include "hw/usual_shares.h"
#include "learn/fit/boost.h"
#include "learn/fit/calibration.h"
#include "learn/fit/fit_constants.h"
#include "learn/fit/fit_model.h"
#include "learn/fit/measured_gpu.h"
#include "learn/fit/training_rows.h"
#include "learn/measured/kernel_rows.h"

namespace stepcast::learn {
namespace {

// Judges the rows of one op on a GPU by models that know only other chips.

// What models without the GPU's chip say of a test row's kernel.
struct Judged {
  const TrainingRow* row = nullptr;
  double roofline_us = 0;
  double nothing_us = 0;
  double ceilings_us = 0;
};

// A line of the table but for its intervals, which need the other chips'
// errors; `tests` is empty where there are too few rows for a line.
struct JudgedCase {
  LeaveOutLine line;
  Misses misses;
  std::vector<Judged> tests;
};

// What is known of GPUs without those of one chip.
struct Others {
  std::vector<const MeasuredGpu*> gpus;
  cost::Constants constants;
  hw::ShareRule rule;
};

// `one` is a case of `gpu`, which is not among the others.
Result<JudgedCase> JudgeCase(const KernelRows& rows, const MeasuredGpu& gpu,
                             const RowCase& one, const Others& others);

// Correcting a formula on a GPU of which only a few rows are known.

// A Gaussian process on the logarithm of measured over formula. It expects the
// formula to be off by a common factor, by factors that change slowly with the
// sizes (the first features of a family), and by constants that are a bit
// different on this GPU.
class FewRows {
 public:
  /// The rows of a case with their features, their formula's machine and the
  /// groups of constants it depends on.
  FewRows(const TrainingRows& rows, const RowGroup& group,
          const cost::Machine& machine,
          std::span<const ConstantGroup> constants);

  /// What the kernels of `asked` take, in microseconds, if only the times of
  /// `known` are known. Both are places in the rows.
  std::vector<double> Correct(std::span<const size_t> known,
                              std::span<const size_t> asked) const;

 private:
  double Covariance(size_t a, size_t b) const;

  const TrainingRows& rows_;
  size_t slope_count_ = 0;
  // By row: the change of log(formula) over the range of each constant.
  std::vector<double> slopes_;
};

// What is expected of a formula on a new GPU, in logarithms of time: a common
// factor, one that changes over so many powers of two of the sizes, and what a
// single row is off by for reasons of its own.
constexpr double kCommon = 0.1;
constexpr double kBySize = 0.15;
constexpr double kSizeScale = 3;
constexpr double kOwn = 0.1;
// Constants differ from GPU to GPU by so much of their range.
constexpr double kConstantShare = 0.1;
// Sizes are the first features of every family.
constexpr size_t kSizes = 4;
// Rows further off than this many of kOwn count less and less: the library took
// another kernel for them.
constexpr double kFarOff = 1;
constexpr int kReweightings = 3;

// Solves A x = b for a positive definite A, by Cholesky's method in place.
std::vector<double> Solve(std::vector<double> a, std::vector<double> b) {
  const size_t n = b.size();
  CHECK(a.size() == n * n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j <= i; ++j) {
      double sum = a[i * n + j];
      for (size_t k = 0; k < j; ++k) {
        sum -= a[i * n + k] * a[j * n + k];
      }
      a[i * n + j] = i == j ? std::sqrt(sum) : sum / a[j * n + j];
    }
  }
  for (size_t i = 0; i < n; ++i) {
    for (size_t k = 0; k < i; ++k) {
      b[i] -= a[i * n + k] * b[k];
    }
    b[i] /= a[i * n + i];
  }
  for (size_t i = n; i-- > 0;) {
    for (size_t k = i + 1; k < n; ++k) {
      b[i] -= a[k * n + i] * b[k];
    }
    b[i] /= a[i * n + i];
  }
  return b;
}

FewRows::FewRows(const TrainingRows& rows, const RowGroup& group,
                 const cost::Machine& machine,
                 std::span<const ConstantGroup> constants)
    : rows_(rows) {
  // Far enough to see past roundings to whole tiles.
  constexpr double kStep = 0.05;
  std::vector<std::vector<double>> columns;
  for (const ConstantGroup& one : constants) {
    for (const cost::Constant id : one.constants) {
      const cost::ConstantInfo& info =
          cost::ConstantInfos()[static_cast<size_t>(id)];
      const double place = PlaceInRange(info, machine[id]);
      cost::Machine less = machine;
      cost::Machine more = machine;
      less.constants.Set(id, ValueAtPlace(info, place - kStep));
      more.constants.Set(id, ValueAtPlace(info, place + kStep));
      const double width =
          PlaceInRange(info, more[id]) - PlaceInRange(info, less[id]);
      std::vector<double> column;
      for (const TrainingRow& row : rows.rows) {
        const ir::KernelShape& shape = row.row->shape;
        column.push_back(std::log(group.family->base(shape, more).time_us /
                                  group.family->base(shape, less).time_us) /
                         width);
      }
      columns.push_back(std::move(column));
    }
  }
  slope_count_ = columns.size();
  slopes_.resize(rows.rows.size() * slope_count_);
  for (size_t c = 0; c < slope_count_; ++c) {
    for (size_t i = 0; i < rows.rows.size(); ++i) {
      slopes_[i * slope_count_ + c] = columns[c][i];
    }
  }
}

double FewRows::Covariance(size_t a, size_t b) const {
  const auto features_a = rows_.FeaturesOf(a);
  const auto features_b = rows_.FeaturesOf(b);
  double distance = 0;
  for (size_t i = 0; i < std::min(kSizes, rows_.feature_count); ++i) {
    const double d = (static_cast<double>(features_a[i]) -
                      static_cast<double>(features_b[i])) /
                     kSizeScale;
    distance += d * d;
  }
  double slopes = 0;
  for (size_t i = 0; i < slope_count_; ++i) {
    slopes += slopes_[a * slope_count_ + i] * slopes_[b * slope_count_ + i];
  }
  return kCommon * kCommon + kBySize * kBySize * std::exp(-distance / 2) +
         kConstantShare * kConstantShare * slopes;
}

std::vector<double> FewRows::Correct(std::span<const size_t> known,
                                     std::span<const size_t> asked) const {
  const size_t n = known.size();
  std::vector<double> covariances(n * n);
  std::vector<double> residuals(n);
  std::vector<double> noise(n);
  for (size_t i = 0; i < n; ++i) {
    const TrainingRow& row = rows_.rows[known[i]];
    const double kernel =
        std::max(row.row->time_us - row.lead_us, 0.01 * row.row->time_us);
    residuals[i] = std::log(kernel / row.base_us);
    // The launch hides a part of what a row knows.
    noise[i] = kOwn * row.row->time_us / kernel;
    for (size_t j = 0; j < n; ++j) {
      covariances[i * n + j] = Covariance(known[i], known[j]);
    }
  }
  std::vector<double> weights(n, 1.0);
  std::vector<double> solution;
  for (int round = 0; round <= kReweightings; ++round) {
    std::vector<double> matrix = covariances;
    for (size_t i = 0; i < n; ++i) {
      matrix[i * n + i] += noise[i] * noise[i] / weights[i];
    }
    solution = Solve(std::move(matrix), residuals);
    for (size_t i = 0; i < n; ++i) {
      double mean = 0;
      for (size_t j = 0; j < n; ++j) {
        mean += covariances[i * n + j] * solution[j];
      }
      const double off = (residuals[i] - mean) / (kFarOff * noise[i]);
      weights[i] = 1 / (1 + off * off);
    }
  }
  std::vector<double> kernel_us;
  for (const size_t place : asked) {
    double mean = 0;
    for (size_t j = 0; j < n; ++j) {
      mean += Covariance(place, known[j]) * solution[j];
    }
    kernel_us.push_back(rows_.rows[place].base_us * std::exp(mean));
  }
  return kernel_us;
}

// Too few to say anything about a GPU.
constexpr size_t kFewestTestRows = 20;
// Rows of each other GPU that trees learn from.
constexpr size_t kTreeRows = 2000;
// Rows of a case whose errors make intervals.
constexpr size_t kMissRows = 2000;
// Random choices of a few rows that an error is averaged over.
constexpr uint64_t kDraws = 10;

double Log2Miss(const TrainingRow& row, double kernel_us) {
  const double measured =
      std::max(row.row->time_us - row.lead_us, 1e-3 * kernel_us);
  return std::log2(measured / kernel_us);
}

// Judges one case of a GPU that the others know nothing of.
class CaseJudge {
 public:
  CaseJudge(const KernelRows& rows, const MeasuredGpu& gpu, const RowCase& one,
            const Others& others)
      : all_(rows),
        gpu_(gpu),
        case_(one),
        others_(others),
        machine_(AsBenchmarked(
            {.device = gpu.device, .constants = others.constants}, one)),
        unmeasured_(machine_) {
    hw::ApplyShareRule(others.rule, unmeasured_.device);
    rows_ = MakeTrainingRows({.all = rows,
                              .group = one.group,
                              .machine = machine_,
                              .profile = gpu.profile});
    for (size_t i = 0; i < rows_.rows.size(); ++i) {
      if (rows_.rows[i].part == Part::kTest && rows_.rows[i].counts) {
        tests_.push_back(i);
      }
    }
  }

  Result<JudgedCase> Run() {
    JudgedCase judged;
    judged.line.op = case_.op;
    judged.line.type = case_.type;
    judged.line.gpu = all_.gpus[gpu_.gpu];
    judged.misses = Miss();
    if (tests_.size() < kFewestTestRows) {
      return judged;
    }
    Errors roofline;
    Errors nothing;
    Errors ceilings;
    for (const size_t place : tests_) {
      const TrainingRow& row = rows_.rows[place];
      const Judged one = Judge(row);
      const double time = row.row->time_us;
      roofline.Add(ObservedUs(row, one.roofline_us), time);
      nothing.Add(ObservedUs(row, one.nothing_us), time);
      ceilings.Add(ObservedUs(row, one.ceilings_us), time);
      judged.tests.push_back(one);
    }
    judged.line.roofline = roofline.Summary();
    judged.line.nothing = nothing.Summary();
    judged.line.ceilings = ceilings.Summary();
    judged.line.few_rows = JudgeFewRows();
    ASSIGN_OR_RETURN(judged.line.trees, JudgeTrees());
    return judged;
  }

 private:
  cost::Base BaseOf(const TrainingRow& row,
                    const cost::Machine& machine) const {
    return case_.group.family->base(row.row->shape, machine);
  }

  Judged Judge(const TrainingRow& row) const {
    const cost::Base nothing = BaseOf(row, unmeasured_);
    // The row of the case itself: it outlives this judge.
    const auto place = static_cast<size_t>(&row - rows_.rows.data());
    return {.row = &case_.rows[place],
            .roofline_us = nothing.roofline_us,
            .nothing_us = nothing.time_us,
            .ceilings_us = row.base_us};
  }

  // The errors of rows that are not test rows, for intervals.
  Misses Miss() const {
    Misses misses{.family = std::string(case_.group.family->name),
                  .type = case_.type,
                  .chip = gpu_.device.chip,
                  .nothing = {},
                  .ceilings = {}};
    for (const Part part : {Part::kFit, Part::kValidation}) {
      for (const size_t place : SampleRows(rows_.rows, part, kMissRows)) {
        const TrainingRow& row = rows_.rows[place];
        const Judged one = Judge(row);
        misses.nothing.push_back(Log2Miss(row, one.nothing_us));
        misses.ceilings.push_back(Log2Miss(row, one.ceilings_us));
      }
    }
    return misses;
  }

  ErrorSummary JudgeFewRows() const {
    std::vector<size_t> pool =
        SampleRows(rows_.rows, Part::kFit, rows_.rows.size());
    if (pool.size() < 2 * kFewRows) {
      return {};
    }
    std::vector<ConstantGroup> constants;
    for (ConstantGroup& group : ConstantGroups()) {
      if (Informs(case_, group) || group.family == "elementwise") {
        constants.push_back(std::move(group));
      }
    }
    const FewRows model(rows_, case_.group, machine_, constants);
    Errors errors;
    for (uint64_t draw = 0; draw < kDraws; ++draw) {
      Rng rng(draw);
      for (size_t i = 0; i < kFewRows; ++i) {
        std::swap(pool[i], pool[i + rng.Below(pool.size() - i)]);
      }
      const std::vector<double> kernel_us =
          model.Correct(std::span(pool).first(kFewRows), tests_);
      for (size_t i = 0; i < tests_.size(); ++i) {
        const TrainingRow& row = rows_.rows[tests_[i]];
        errors.Add(ObservedUs(row, kernel_us[i]), row.row->time_us);
      }
    }
    ErrorSummary summary = errors.Summary();
    summary.n = tests_.size();
    return summary;
  }

  // The rows of the same op on all others, as one.
  TrainingRows Pool() const {
    TrainingRows pool;
    for (const MeasuredGpu* other : others_.gpus) {
      for (const RowCase& one : other->cases) {
        if (one.op != case_.op || one.type != case_.type) {
          continue;
        }
        RowGroup group = one.group;
        group.rows.clear();
        for (const size_t place : SampleRows(one.rows, Part::kFit, kTreeRows)) {
          group.rows.push_back(one.rows[place].row);
        }
        const cost::Machine machine = AsBenchmarked(
            {.device = other->device, .constants = others_.constants}, one);
        const TrainingRows rows = MakeTrainingRows({.all = all_,
                                                    .group = group,
                                                    .machine = machine,
                                                    .profile = other->profile});
        pool.rows.insert(pool.rows.end(), rows.rows.begin(), rows.rows.end());
        pool.features.insert(pool.features.end(), rows.features.begin(),
                             rows.features.end());
        pool.feature_count = rows.feature_count;
      }
    }
    return pool;
  }

  Result<ErrorSummary> JudgeTrees() const {
    constexpr size_t kFewestRows = 300;
    const TrainingRows pool = Pool();
    if (pool.rows.size() < kFewestRows || pool.feature_count == 0) {
      return ErrorSummary{};
    }
    ASSIGN_OR_RETURN(const std::vector<cost::Tree> trees,
                     Boost(pool, 0, {.rounds = 200, .depth = 6, .rate = 0.1}));
    cost::FittedModel model;
    model.forest = cost::Forest::Make(trees, pool.feature_count);
    return ErrorsOf(rows_, Predict(model, rows_), Part::kTest);
  }

  const KernelRows& all_;
  const MeasuredGpu& gpu_;
  const RowCase& case_;
  const Others& others_;
  cost::Machine machine_;
  cost::Machine unmeasured_;
  TrainingRows rows_;
  std::vector<size_t> tests_;
};

Result<JudgedCase> JudgeCase(const KernelRows& rows, const MeasuredGpu& gpu,
                             const RowCase& one, const Others& others) {
  return CaseJudge(rows, gpu, one, others).Run();
}

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
                   return Informs(one, group);
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

}  // namespace stepcast::learn

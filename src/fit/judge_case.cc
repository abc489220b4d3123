#include "fit/judge_case.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/rng.h"
#include "fit/boost.h"
#include "fit/few_rows.h"
#include "fit/fit_constants.h"
#include "fit/fit_model.h"

namespace stepcast::fit {
namespace {

using measurements::KernelRows;
using measurements::Part;

// Too few to say anything about a GPU.
constexpr size_t kFewestTestRows = 20;
// Rows of each other GPU that trees learn from.
constexpr size_t kTreeRows = 2000;
// Rows of a case whose errors make intervals.
constexpr size_t kMissRows = 2000;
// Draws of a few rows that an error is averaged over.
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
      if (Tells(case_, group) || group.family == "elementwise") {
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

}  // namespace

Result<JudgedCase> JudgeCase(const KernelRows& rows, const MeasuredGpu& gpu,
                             const RowCase& one, const Others& others) {
  return CaseJudge(rows, gpu, one, others).Run();
}

}  // namespace stepcast::fit

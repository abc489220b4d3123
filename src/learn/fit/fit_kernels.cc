#include "learn/fit/fit_kernels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/rng.h"
#include "base/stats.h"
#include "base/text/join.h"
#include "cost/kernel_models.h"
#include "cost/kernels/cpu_kernels.h"
#include "cost/machine.h"
#include "hw/device.h"
#include "ir/shape_set.h"
#include "learn/fit/boost.h"
#include "learn/fit/calibration.h"
#include "learn/fit/ceilings.h"
#include "learn/fit/fit_model.h"
#include "learn/fit/overheads/overhead_samples.h"
#include "learn/fit/training_rows.h"

namespace stepcast::learn {
namespace {

// Of all rows that built-in models are fitted to, in which two runs of one
// shape often differ by 10 %, this names one group: 16 rows of MI300X's
// profiles.
constexpr double kFarApart = 1.5;
// This share of the repeated shapes, and at least so many, is not an accident.
constexpr size_t kOneOf = 4;
constexpr size_t kFewestShapes = 3;

// A prediction with such an error says little; fewer rows are not enough to
// judge.
constexpr double kFarOffPct = 30;
constexpr size_t kFewestTests = 5;

}  // namespace

std::optional<std::string> DoubtAboutRepeats(const TrainingRows& rows) {
  // By shape and by what is timed: a loop and a graph may well differ.
  std::map<std::pair<uint64_t, Timing>, std::vector<double>> repeats;
  for (const TrainingRow& row : rows.rows) {
    if (row.counts) {
      repeats[{ir::HashOf(row.row->shape), row.row->timing}].push_back(
          row.row->time_us);
    }
  }
  size_t shapes = 0;
  std::vector<double> apart;
  for (const auto& [shape, times] : repeats) {
    if (times.size() < 2) {
      continue;
    }
    ++shapes;
    const auto [low, high] = std::ranges::minmax(times);
    if (high > kFarApart * low) {
      apart.push_back(high / low);
    }
  }
  if (apart.size() < kFewestShapes || apart.size() * kOneOf < shapes) {
    return std::nullopt;
  }
  const size_t count = apart.size();
  return fmt::format(
      "{} of {} shapes that were measured more than once differ by x{:.1f} in "
      "the median; expected repeats that agree: was the machine busy?",
      count, shapes, Quantile(std::move(apart), 0.5));
}

std::optional<std::string> DoubtAboutModel(const FitSummary& summary) {
  if (summary.model.n < kFewestTests || summary.model.gmae_pct <= kFarOffPct) {
    return std::nullopt;
  }
  return fmt::format(
      "off by {:.0f} % (GMAE) on {} rows that the model did not learn from; "
      "more rows may help, or a machine with nothing else to do",
      summary.model.gmae_pct, summary.model.n);
}

namespace {

// Fewer tell no factor.
constexpr size_t kFewestCpuRows = 10;

constexpr uint64_t kCpuFolds = 5;

// How many trees there may be: few where rows of one shape differ in ways that
// the shape does not show.
constexpr std::array<size_t, 5> kTreeCounts = {0, 20, 60, 150, 300};

// Corrections span powers of two, not percents: a loss that flattens early
// would leave the far rows where they are. What it flattens at is a core that
// was disturbed.
BoostOptions OptionsFor(size_t rows, size_t trees) {
  constexpr size_t kFew = 300;
  return {.rounds = static_cast<int>(trees),
          .depth = rows < kFew ? 4 : 6,
          .rate = 0.06,
          .feature_share = 0.8,
          .robust_from = 0.3};
}

std::string NameOf(size_t trees) {
  return trees == 0 ? "scaled" : fmt::format("trees_{}", trees);
}

// Sets offset and trees.
Status Correct(const TrainingRows& rows, size_t trees,
               cost::FittedModel& model) {
  std::vector<double> residuals = FitResiduals(rows);
  const size_t count = residuals.size();
  model.offset = Quantile(std::move(residuals), 0.5);
  model.forest = cost::Forest::Make({}, rows.feature_count);
  if (trees > 0) {
    ASSIGN_OR_RETURN(const std::vector<cost::Tree> made,
                     Boost(rows, model.offset, OptionsFor(count, trees)));
    model.forest = cost::Forest::Make(made, rows.feature_count);
  }
  return {};
}

// The rows with one fold of the fit part held out for validation; nothing else
// validates.
TrainingRows HoldOut(const TrainingRows& rows, uint64_t fold) {
  TrainingRows fewer = rows;
  for (TrainingRow& row : fewer.rows) {
    if (row.part == Part::kValidation) {
      row.part = Part::kTest;
    } else if (row.part == Part::kFit &&
               Rng(ir::HashOf(row.row->shape)).Below(kCpuFolds) == fold) {
      row.part = Part::kValidation;
    }
  }
  return fewer;
}

// How far off a candidate is on rows held out.
struct HeldOutErrors {
  Errors errors;
  double sum_of_logs = 0;

  void Add(const TrainingRows& rows, std::span<const double> kernel_us) {
    for (size_t i = 0; i < rows.rows.size(); ++i) {
      const TrainingRow& row = rows.rows[i];
      if (row.part == Part::kValidation && row.counts) {
        const double observed = ObservedUs(row, kernel_us[i]);
        errors.Add(observed, row.row->time_us);
        sum_of_logs += std::abs(std::log(observed / row.row->time_us));
      }
    }
  }
};

// The number of trees that does best on rows held out: validation rows would
// be too few to tell. Best is the least mean error of logarithms: where the
// shape does not distinguish operators, the geometric mean of errors is small
// for a model that is right about some and anywhere with the others.
Result<size_t> ChooseTrees(const TrainingRows& rows, cost::FittedModel& model) {
  std::array<HeldOutErrors, kTreeCounts.size()> held_out;
  for (uint64_t fold = 0; fold < kCpuFolds; ++fold) {
    const TrainingRows fewer = HoldOut(rows, fold);
    for (size_t i = 0; i < kTreeCounts.size(); ++i) {
      RETURN_IF_ERROR(Correct(fewer, kTreeCounts[i], model));
      held_out[i].Add(fewer, Predict(model, fewer));
    }
  }
  for (size_t i = 0; i < kTreeCounts.size(); ++i) {
    model.candidates.push_back(
        {.name = NameOf(kTreeCounts[i]),
         .gmae_pct = held_out[i].errors.Summary().gmae_pct});
  }
  const auto best =
      std::ranges::min_element(held_out, {}, &HeldOutErrors::sum_of_logs);
  return kTreeCounts[static_cast<size_t>(best - held_out.begin())];
}

}  // namespace

Result<std::optional<cost::FittedModel>> FitCpuModel(const RowGroup& group,
                                                     const TrainingRows& rows) {
  if (FitResiduals(rows).size() < kFewestCpuRows) {
    return std::nullopt;
  }
  cost::FittedModel model = UncorrectedModel(group, rows);
  size_t trees = 0;
  if (FitResiduals(rows).size() >= rows.fewest_for_trees) {
    ASSIGN_OR_RETURN(trees, ChooseTrees(rows, model));
  }
  model.chosen = NameOf(trees);
  RETURN_IF_ERROR(Correct(rows, trees, model));
  ASSIGN_OR_RETURN(
      model.spread,
      Calibrate(rows, Predict(model, rows),
                [&](const TrainingRows& fewer) -> Result<std::vector<double>> {
                  cost::FittedModel again = model;
                  RETURN_IF_ERROR(Correct(fewer, trees, again));
                  return Predict(again, fewer);
                }));
  return model;
}

namespace {

// The files a group's rows are from, by name.
std::string SourcesOf(const KernelRows& rows, const RowGroup& group) {
  std::set<std::string> names;
  for (const KernelRow* row : group.rows) {
    const std::filesystem::path path(rows.tables[row->table]);
    names.insert((path.parent_path().filename() / path.filename()).string());
  }
  return Join(names, ", ");
}

std::string RowCounts(const TrainingRows& rows) {
  size_t counts[3] = {};
  size_t censored = 0;
  for (const TrainingRow& row : rows.rows) {
    ++counts[static_cast<size_t>(row.part)];
    censored += row.censored ? 1 : 0;
  }
  return fmt::format(
      "{} fit, {} validation, {} test rows; {} of all hidden "
      "behind their launch",
      counts[0], counts[1], counts[2], censored);
}

// Convolutions drift: first with the formula's times, then with those of a
// model that knows the drift.
DriftInput DriftRows(const TrainingRows& rows,
                     std::span<const double> kernel_us,
                     std::span<const uint32_t> sizes) {
  DriftInput input;
  for (size_t i = 0; i < rows.rows.size(); ++i) {
    const TrainingRow& row = rows.rows[i];
    if (row.part == Part::kFit && row.row->timing == Timing::kEventOp) {
      input.kernel_us.push_back(kernel_us[i]);
      input.time_us.push_back(row.row->time_us);
      input.place.push_back(PlaceOf(*row.row, sizes));
    }
  }
  return input;
}

// Fits one GPU.
class ProfileFitter {
 public:
  ProfileFitter(const KernelRows& rows, uint16_t gpu, cost::Machine machine,
                std::string command, const cost::Profile* base)
      : rows_(rows),
        gpu_(gpu),
        machine_(std::move(machine)),
        command_(std::move(command)),
        base_(base) {
    fitted_.profile.gpu = rows.gpus[gpu];
  }

  Result<FittedProfile> Run() {
    FitLaunches(rows_, gpu_, machine_, fitted_.profile);
    FitCeilings(rows_, gpu_, machine_, fitted_.profile);
    if (base_ != nullptr) {
      fitted_.profile.ceilings.insert(base_->ceilings.begin(),
                                      base_->ceilings.end());
    }
    cost::ApplyCeilings(fitted_.profile, machine_.device);
    for (const RowGroup& group : GroupRows(rows_, gpu_)) {
      RETURN_IF_ERROR(FitGroup(group));
    }
    TakeRestOfBase();
    return std::move(fitted_);
  }

 private:
  static bool IsOf(const cost::FittedModel& model, std::string_view family,
                   cost::Variant variant) {
    return model.family == family && model.variant == variant;
  }

  const cost::FittedModel* BaseOf(const RowGroup& group) const {
    if (base_ == nullptr) {
      return nullptr;
    }
    const auto found =
        std::ranges::find_if(base_->models, [&](const auto& model) {
          return IsOf(model, group.family->name, group.variant);
        });
    return found == base_->models.end() ? nullptr : &*found;
  }

  // Kernels of which this GPU has no rows run as on the other.
  void TakeRestOfBase() {
    if (base_ == nullptr) {
      return;
    }
    for (const cost::FittedModel& model : base_->models) {
      const bool known =
          std::ranges::any_of(fitted_.profile.models, [&](const auto& own) {
            return IsOf(own, model.family, model.variant);
          });
      if (!known) {
        fitted_.profile.models.push_back(model);
        fitted_.profile.models.back().gpu = rows_.gpus[gpu_];
      }
    }
  }

  TrainingRows RowsOf(const RowGroup& group) const {
    return MakeTrainingRows({.all = rows_,
                             .group = group,
                             .machine = machine_,
                             .profile = fitted_.profile});
  }

  Result<std::optional<cost::FittedModel>> FitDrifting(const RowGroup& group,
                                                       TrainingRows& rows) {
    const std::vector<uint32_t> sizes = TableSizes(rows_);
    cost::LaunchCost& launch = fitted_.profile.launches["conv2d"];
    std::vector<double> kernel_us;
    for (const TrainingRow& row : rows.rows) {
      kernel_us.push_back(row.base_us);
    }
    FitDrift(DriftRows(rows, kernel_us, sizes), true, launch);
    rows = RowsOf(group);
    ASSIGN_OR_RETURN(auto model, FitModel(group, rows, BaseOf(group)));
    if (model) {
      FitDrift(DriftRows(rows, Predict(*model, rows), sizes), false, launch);
      rows = RowsOf(group);
      ASSIGN_OR_RETURN(model, FitModel(group, rows, BaseOf(group)));
    }
    return model;
  }

  void Doubt(const RowGroup& group, std::optional<std::string> why) {
    if (why) {
      fitted_.doubts.push_back(fmt::format("{} {} {}: {}", rows_.gpus[gpu_],
                                           group.family->name,
                                           cost::Name(group.variant), *why));
    }
  }

  Status FitGroup(const RowGroup& group) {
    TrainingRows rows = RowsOf(group);
    Doubt(group, DoubtAboutRepeats(rows));
    std::optional<cost::FittedModel> model;
    if (fitted_.profile.launches.contains("conv2d") &&
        group.family->name == "convolution") {
      ASSIGN_OR_RETURN(model, FitDrifting(group, rows));
    } else if (cost::IsCpu(machine_)) {
      ASSIGN_OR_RETURN(model, FitCpuModel(group, rows));
    } else {
      ASSIGN_OR_RETURN(model, FitModel(group, rows, BaseOf(group)));
    }
    if (!model) {
      fitted_.too_few.push_back(fmt::format("{} {} {}", group.family->name,
                                            cost::Name(group.variant),
                                            rows.rows.size()));
      return {};
    }
    std::vector<double> formula;
    for (const TrainingRow& row : rows.rows) {
      formula.push_back(row.base_us);
    }
    FitSummary summary{
        .gpu = rows_.gpus[gpu_],
        .family = std::string(group.family->name),
        .variant = std::string(cost::Name(group.variant)),
        .chosen = model->chosen,
        .fit_rows = static_cast<size_t>(
            std::ranges::count(rows.rows, Part::kFit, &TrainingRow::part)),
        .formula = ErrorsOf(rows, formula, Part::kTest),
        .model = ErrorsOf(rows, Predict(*model, rows), Part::kTest)};
    Doubt(group, DoubtAboutModel(summary));
    model->gpu = rows_.gpus[gpu_];
    model->provenance = {
        fmt::format("Fitted by: {}", command_),
        fmt::format("Rows: {}: {}", SourcesOf(rows_, group), RowCounts(rows)),
        fmt::format("Test part ({} rows): GMAE {:.2f} %, MAPE {:.2f} %, bias "
                    "{:+.2f} %; the formula alone: GMAE {:.2f} %",
                    summary.model.n, summary.model.gmae_pct,
                    summary.model.mape_pct, summary.model.bias_pct,
                    summary.formula.gmae_pct)};
    fitted_.profile.models.push_back(*std::move(model));
    fitted_.summaries.push_back(std::move(summary));
    return {};
  }

  const KernelRows& rows_;
  uint16_t gpu_;
  cost::Machine machine_;
  std::string command_;
  const cost::Profile* base_;
  FittedProfile fitted_;
};

}  // namespace

Result<FittedProfile> FitProfile(const KernelRows& rows, uint16_t gpu,
                                 const cost::Constants& constants,
                                 std::string command, const hw::Device* device,
                                 const cost::Profile* base) {
  cost::Machine machine{.device = {}, .constants = constants};
  if (device != nullptr) {
    machine.device = *device;
  } else {
    ASSIGN_OR_RETURN(machine.device, hw::FindDevice(rows.gpus[gpu]));
  }
  return ProfileFitter(rows, gpu, std::move(machine), std::move(command), base)
      .Run();
}

std::vector<ProfileFile> FilesOf(const cost::Profile& profile,
                                 const std::string& command) {
  std::vector<ProfileFile> files;
  const std::string by = fmt::format("Fitted by: {}", command);
  if (!profile.ceilings.empty()) {
    files.push_back({fmt::format("{}/ceilings.toml", profile.gpu),
                     cost::CeilingsText(profile, by)});
  }
  if (!profile.launches.empty()) {
    files.push_back({fmt::format("{}/launches.toml", profile.gpu),
                     cost::LaunchesText(profile, by)});
  }
  for (const cost::FittedModel& model : profile.models) {
    files.push_back({fmt::format("{}/{}.{}.model", profile.gpu, model.family,
                                 cost::Name(model.variant)),
                     cost::ModelText(model)});
  }
  return files;
}

}  // namespace stepcast::learn

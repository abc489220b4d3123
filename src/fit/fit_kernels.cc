#include "fit/fit_kernels.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "base/join.h"
#include "cost/ceilings.h"
#include "cost/kernel_models.h"
#include "cost/kernels/cpu_base.h"
#include "fit/ceilings.h"
#include "fit/fit_cpu_model.h"
#include "fit/fit_doubts.h"
#include "fit/fit_model.h"
#include "fit/launches.h"
#include "fit/training_rows.h"
#include "hw/device.h"

namespace stepcast::fit {
namespace {

using measurements::KernelRow;
using measurements::KernelRows;
using measurements::Part;

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
    if (row.part == Part::kFit &&
        row.row->timing == measurements::Timing::kEventOp) {
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

}  // namespace stepcast::fit

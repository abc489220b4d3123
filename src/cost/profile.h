// Everything fitted for a GPU: its ceilings, its launch costs in benchmarks and
// its kernel models, from the built-in files or from a directory of the user.
#ifndef STEPCAST_COST_PROFILE_H_
#define STEPCAST_COST_PROFILE_H_

#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cost/constants.h"
#include "cost/fitted_model.h"
#include "hw/device.h"

namespace stepcast::cost {

/// What an eager call costs a benchmark that times it with events: the kernel
/// starts `lead` after the clock, which stops no earlier than at `floor`. A
/// host that slows down over a run adds drift.
struct LaunchCost {
  double floor_us = 0;
  double lead_us = 0;
  double drift_us = 0;     // At the end of the run.
  double drift_power = 1;  // Of the place in the run, 0 to 1.

  /// At a place in the run.
  double LeadAt(double place) const;
};

/// By key of hw::Device.
using Ceilings = std::map<std::string, double, std::less<>>;
/// By op.
using LaunchCosts = std::map<std::string, LaunchCost, std::less<>>;

/// A built-in model, by what the name of its file says.
struct ModelFile {
  std::string_view family;
  Variant variant = Variant::kFull;
  std::string_view name;  // "t4/gemm.fp32"
};

/// The files of one GPU. A directory has <gpu>/ceilings.toml,
/// <gpu>/launches.toml and <gpu>/<family>.<variant>.model.
struct Profile {
  std::string gpu;
  Ceilings ceilings;
  LaunchCosts launches;
  std::vector<FittedModel> models;
  /// Built-in ones that nobody has read yet (see LoadLazily).
  std::vector<ModelFile> unread{};
};

/// How far formulas are off where nothing was fitted: log2 of measured over
/// estimated.
struct FormulaSpread {
  double log2_p10 = 0;
  double log2_p90 = 0;
};
struct FamilySpread {
  FormulaSpread nothing;   // Nothing measured on the GPU.
  FormulaSpread ceilings;  // With its measured ceilings.
};
/// By "family-type" ("gemm-half"), by family, and "other" for the rest.
using FormulaSpreads = std::map<std::string, FamilySpread, std::less<>>;
/// The most special one there is for a shape; null if there is none.
const FamilySpread* FindSpread(const FormulaSpreads& spreads,
                               const ir::KernelShape& shape);

/// Where profiles are found: the directories given first, then what is built
/// in. The first directory that has a file for a GPU, family and variant wins.
class ProfileStore {
 public:
  explicit ProfileStore(std::vector<std::filesystem::path> directories = {})
      : directories_(std::move(directories)) {}

  /// Everything fitted for a GPU; empty if there is nothing.
  Result<Profile> Load(std::string_view gpu) const;
  /// The same with built-in models as `unread`; the user's files are read, so
  /// that whatever is wrong with them shows.
  Result<Profile> LoadLazily(std::string_view gpu) const;
  /// The constants of the formulas and their spreads where nothing is fitted.
  Result<Constants> LoadConstants() const;
  Result<FormulaSpreads> LoadSpreads() const;

 private:
  std::vector<std::filesystem::path> directories_;
};

/// A built-in model, which is read when it is first asked for. It is ours: a
/// bad one is our own mistake.
const FittedModel& ReadBuiltIn(const ModelFile& file);

std::string CeilingsText(const Profile& profile, std::string_view provenance);
std::string LaunchesText(const Profile& profile, std::string_view provenance);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_PROFILE_H_

#include "cost/profile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <span>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/files/catalog.h"
#include "base/files/toml_read.h"

namespace stepcast {

std::span<const EmbeddedFile> KernelFileTexts();

namespace cost {
namespace {

constexpr std::string_view kModelEnding = ".model";

// The models of a GPU in directories of the user, in the order of their names;
// of one name, that of the first directory. None where nothing can be read.
std::vector<std::filesystem::path> ModelsIn(
    std::span<const std::filesystem::path> directories, std::string_view gpu) {
  std::vector<std::filesystem::path> files;
  std::set<std::filesystem::path> seen;
  for (const std::filesystem::path& directory : directories) {
    std::error_code error;
    std::set<std::filesystem::path> sorted;
    for (auto it = std::filesystem::directory_iterator(directory / gpu, error);
         !error && it != std::filesystem::directory_iterator();
         it.increment(error)) {
      if (it->is_regular_file(error) &&
          it->path().extension() == kModelEnding) {
        sorted.insert(it->path());
      }
    }
    std::ranges::copy_if(sorted, std::back_inserter(files), [&](const auto& f) {
      return seen.insert(f.filename()).second;
    });
  }
  return files;
}

const Catalog<FittedModel>& ModelFiles() {
  static const Catalog<FittedModel> files({.what = "kernel model",
                                           .files = KernelFileTexts(),
                                           .ending = kModelEnding},
                                          &ParseModel);
  return files;
}

// "<gpu>/<family>.<variant>".
ModelFile BuiltInModel(std::string_view name) {
  const std::string_view file = name.substr(name.rfind('/') + 1);
  const size_t point = std::min(file.find('.'), file.size());
  const auto variant =
      VariantFromName(file.substr(std::min(point + 1, file.size())));
  CHECK(variant) << name;
  return {.family = file.substr(0, point), .variant = *variant, .name = name};
}

Result<double> PositiveNumber(const toml::table& table, std::string_view key,
                              double most) {
  const auto value = table[key].value<double>();
  if (!value || !(*value >= 0 && *value <= most)) {
    return FailAt(table,
                  fmt::format("'{}' must be a number from 0 to {}", key, most));
  }
  return *value;
}

Result<Ceilings> ParseCeilings(std::string_view text, std::string_view source) {
  ASSIGN_OR_RETURN(const toml::table table, ParseToml(text, source));
  Ceilings ceilings;
  for (const auto& [key, node] : table) {
    if (!key.str().ends_with("_share")) {
      return FailAt(node, fmt::format("'{}' is not a ceiling", key.str()));
    }
    ASSIGN_OR_RETURN(ceilings[std::string(key.str())],
                     PositiveNumber(table, key.str(), 1));
  }
  return ceilings;
}

Result<LaunchCosts> ParseLaunches(std::string_view text,
                                  std::string_view source) {
  ASSIGN_OR_RETURN(const toml::table table, ParseToml(text, source));
  LaunchCosts launches;
  for (const auto& [key, node] : table) {
    const toml::table* op = node.as_table();
    if (op == nullptr) {
      return FailAt(node, fmt::format("'{}' must be a table", key.str()));
    }
    constexpr double kMostLatencyUs = 1e6;
    LaunchCost& cost = launches[std::string(key.str())];
    ASSIGN_OR_RETURN(cost.floor_us,
                     PositiveNumber(*op, "floor_us", kMostLatencyUs));
    ASSIGN_OR_RETURN(cost.lead_us,
                     PositiveNumber(*op, "lead_us", kMostLatencyUs));
    if (op->contains("drift_us")) {
      ASSIGN_OR_RETURN(cost.drift_us,
                       PositiveNumber(*op, "drift_us", kMostLatencyUs));
      ASSIGN_OR_RETURN(cost.drift_power,
                       PositiveNumber(*op, "drift_power", 10));
    }
  }
  return launches;
}

Result<FormulaSpread> ReadSpread(const toml::table& table,
                                 std::string_view prefix) {
  const auto low = table[fmt::format("{}log2_p10", prefix)].value<double>();
  const auto high = table[fmt::format("{}log2_p90", prefix)].value<double>();
  if (!low || !high || !(*low <= 0) || !(*high >= 0)) {
    return FailAt(table, fmt::format("{0}log2_p10 must be a number of at most "
                                     "0, {0}log2_p90 one of at least 0",
                                     prefix));
  }
  return FormulaSpread{.log2_p10 = *low, .log2_p90 = *high};
}

Result<FormulaSpreads> ParseSpreads(std::string_view text,
                                    std::string_view source) {
  ASSIGN_OR_RETURN(const toml::table table, ParseToml(text, source));
  FormulaSpreads spreads;
  for (const auto& [key, node] : table) {
    const toml::table* family = node.as_table();
    if (family == nullptr) {
      return FailAt(node, fmt::format("'{}' must be a table", key.str()));
    }
    FamilySpread& spread = spreads[std::string(key.str())];
    ASSIGN_OR_RETURN(spread.nothing, ReadSpread(*family, ""));
    ASSIGN_OR_RETURN(spread.ceilings, ReadSpread(*family, "ceilings_"));
  }
  return spreads;
}

Result<Constants> ParseConstants(std::string_view text,
                                 std::string_view source) {
  Constants constants;
  RETURN_IF_ERROR(constants.Read(text, source));
  return constants;
}

// One of the files next to the models, or its default where there is none.
template <typename T, Result<T> (*kParse)(std::string_view, std::string_view)>
Result<T> FindPart(std::span<const std::filesystem::path> directories,
                   std::string_view name) {
  static const Catalog<T> files({.what = "profile", .files = KernelFileTexts()},
                                kParse);
  ASSIGN_OR_RETURN(const T* part, files.FindIn(directories, name));
  return part == nullptr ? T() : *part;
}

}  // namespace

const FamilySpread* FindSpread(const FormulaSpreads& spreads,
                               const ir::KernelShape& shape) {
  const std::string_view family = ir::FamilyName(shape);
  Variant variant = VariantOf(shape);
  if (variant == Variant::kFullBatched) {
    variant = Variant::kFull;
  }
  auto found = spreads.find(fmt::format("{}-{}", family, Name(variant)));
  if (found == spreads.end()) {
    found = spreads.find(family);
  }
  if (found == spreads.end()) {
    found = spreads.find("other");
  }
  return found == spreads.end() ? nullptr : &found->second;
}

double LaunchCost::LeadAt(double place) const {
  return lead_us + (drift_us > 0 ? drift_us * std::pow(place, drift_power) : 0);
}

const FittedModel& ReadBuiltIn(const ModelFile& file) {
  const auto model = ModelFiles().FindIn({}, file.name);
  CHECK(model) << model.error().message;
  CHECK((*model)->family == file.family && (*model)->variant == file.variant)
      << file.name << " has another name than its content";
  return **model;
}

Result<Profile> ProfileStore::LoadLazily(std::string_view gpu) const {
  Profile profile{
      .gpu = std::string(gpu), .ceilings = {}, .launches = {}, .models = {}};
  ASSIGN_OR_RETURN(profile.ceilings,
                   (FindPart<Ceilings, &ParseCeilings>(
                       directories_, fmt::format("{}/ceilings", gpu))));
  ASSIGN_OR_RETURN(profile.launches,
                   (FindPart<LaunchCosts, &ParseLaunches>(
                       directories_, fmt::format("{}/launches", gpu))));
  std::set<std::string> seen;
  for (const std::filesystem::path& file : ModelsIn(directories_, gpu)) {
    ASSIGN_OR_RETURN(const FittedModel* model, ModelFiles().Read(file));
    profile.models.push_back(*model);
    seen.insert(fmt::format("{}/{}", gpu, file.stem().string()));
  }
  const std::string folder = fmt::format("{}/", gpu);
  for (const std::string& name : ModelFiles().names()) {
    if (name.starts_with(folder) && !seen.contains(name)) {
      profile.unread.push_back(BuiltInModel(name));
    }
  }
  return profile;
}

Result<Profile> ProfileStore::Load(std::string_view gpu) const {
  ASSIGN_OR_RETURN(Profile profile, LoadLazily(gpu));
  for (const ModelFile& file : profile.unread) {
    profile.models.push_back(ReadBuiltIn(file));
  }
  profile.unread.clear();
  return profile;
}

Result<Constants> ProfileStore::LoadConstants() const {
  return FindPart<Constants, &ParseConstants>(directories_, "constants");
}

Result<FormulaSpreads> ProfileStore::LoadSpreads() const {
  return FindPart<FormulaSpreads, &ParseSpreads>(directories_, "spreads");
}

std::string CeilingsText(const Profile& profile, std::string_view provenance) {
  std::string text = fmt::format("# {}\n", provenance);
  for (const auto& [key, value] : profile.ceilings) {
    text += fmt::format("{} = {:.4f}\n", key, value);
  }
  return text;
}

std::string LaunchesText(const Profile& profile, std::string_view provenance) {
  std::string text = fmt::format("# {}\n", provenance);
  for (const auto& [op, cost] : profile.launches) {
    text += fmt::format("\n[{}]\nfloor_us = {:.2f}\nlead_us = {:.2f}\n", op,
                        cost.floor_us, cost.lead_us);
    if (cost.drift_us > 0) {
      text += fmt::format("drift_us = {:.2f}\ndrift_power = {:.3f}\n",
                          cost.drift_us, cost.drift_power);
    }
  }
  return text;
}

}  // namespace cost
}  // namespace stepcast

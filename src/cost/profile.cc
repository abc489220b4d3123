#include "cost/profile.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"
#include "base/embedded.h"
#include "base/file.h"
#include "base/toml_read.h"

namespace stepcast {

std::span<const EmbeddedFile> KernelFileTexts();

namespace cost {
namespace {

constexpr std::string_view kBuiltIn = "kernels/";
constexpr std::string_view kModelSuffix = ".model";

// A file of a profile and where it is from.
struct NamedText {
  std::string name;  // Relative to the directory of profiles.
  std::string source;
  std::string owned{};                 // The text of a file of the user,
  const EmbeddedFile* file = nullptr;  // or the built-in file.

  std::string_view text() const { return file != nullptr ? file->text : owned; }
};

// The files of a directory in the order of their names; none if it cannot be
// read.
std::vector<std::filesystem::path> FilesIn(
    const std::filesystem::path& directory) {
  std::error_code error;
  std::vector<std::filesystem::path> files;
  for (auto it = std::filesystem::directory_iterator(directory, error);
       !error && it != std::filesystem::directory_iterator();
       it.increment(error)) {
    if (it->is_regular_file(error)) {
      files.push_back(it->path());
    }
  }
  std::ranges::sort(files);
  return files;
}

// The files below `folder` ("" for the top), the user's before the built-in.
Result<std::vector<NamedText>> FindTexts(
    std::span<const std::filesystem::path> directories,
    std::string_view folder) {
  std::vector<NamedText> texts;
  std::set<std::string> seen;
  for (const std::filesystem::path& directory : directories) {
    const std::filesystem::path inside =
        folder.empty() ? directory : directory / folder;
    for (const std::filesystem::path& file : FilesIn(inside)) {
      const std::string name = file.filename().string();
      if (!seen.insert(name).second) {
        continue;
      }
      ASSIGN_OR_RETURN(std::string text, ReadFile(file));
      texts.push_back(
          {.name = name, .source = file.string(), .owned = std::move(text)});
    }
  }
  const std::string prefix = folder.empty()
                                 ? std::string(kBuiltIn)
                                 : fmt::format("{}{}/", kBuiltIn, folder);
  for (const EmbeddedFile& file : KernelFileTexts()) {
    if (!file.name.starts_with(prefix)) {
      continue;
    }
    const std::string name(file.name.substr(prefix.size()));
    if (name.find('/') == std::string::npos && seen.insert(name).second) {
      texts.push_back(
          {.name = name, .source = std::string(file.name), .file = &file});
    }
  }
  return texts;
}

// "kernels/<gpu>/<family>.<variant>.model".
ModelFile BuiltInModel(const EmbeddedFile& file) {
  std::string_view name = file.name.substr(file.name.rfind('/') + 1);
  name.remove_suffix(kModelSuffix.size());
  const size_t point = std::min(name.find('.'), name.size());
  const auto variant =
      VariantFromName(name.substr(std::min(point + 1, name.size())));
  CHECK(variant) << file.name;
  return {.family = name.substr(0, point),
          .variant = *variant,
          .source = file.name,
          .text = file.text};
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

Status ReadCeilings(const NamedText& file, Profile& profile) {
  ASSIGN_OR_RETURN(const toml::table table,
                   ParseToml(file.text(), file.source));
  for (const auto& [key, node] : table) {
    if (!key.str().ends_with("_share")) {
      return FailAt(node, fmt::format("'{}' is no ceiling", key.str()));
    }
    ASSIGN_OR_RETURN(profile.ceilings[std::string(key.str())],
                     PositiveNumber(table, key.str(), 1));
  }
  return {};
}

Status ReadLaunches(const NamedText& file, Profile& profile) {
  ASSIGN_OR_RETURN(const toml::table table,
                   ParseToml(file.text(), file.source));
  for (const auto& [key, node] : table) {
    const toml::table* op = node.as_table();
    if (op == nullptr) {
      return FailAt(node, fmt::format("'{}' must be a table", key.str()));
    }
    constexpr double kMostUs = 1e6;
    LaunchCost& cost = profile.launches[std::string(key.str())];
    ASSIGN_OR_RETURN(cost.floor_us, PositiveNumber(*op, "floor_us", kMostUs));
    ASSIGN_OR_RETURN(cost.lead_us, PositiveNumber(*op, "lead_us", kMostUs));
    if (op->contains("drift_us")) {
      ASSIGN_OR_RETURN(cost.drift_us, PositiveNumber(*op, "drift_us", kMostUs));
      ASSIGN_OR_RETURN(cost.drift_power,
                       PositiveNumber(*op, "drift_power", 10));
    }
  }
  return {};
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

double LaunchCost::Observe(double kernel_us, double place) const {
  return std::max(floor_us, LeadAt(place) + kernel_us);
}

Result<Profile> ProfileStore::LoadLazily(std::string_view gpu) const {
  Profile profile{
      .gpu = std::string(gpu), .ceilings = {}, .launches = {}, .models = {}};
  ASSIGN_OR_RETURN(const std::vector<NamedText> files,
                   FindTexts(directories_, gpu));
  for (const NamedText& file : files) {
    if (file.name == "ceilings.toml") {
      RETURN_IF_ERROR(ReadCeilings(file, profile));
    } else if (file.name == "launches.toml") {
      RETURN_IF_ERROR(ReadLaunches(file, profile));
    } else if (file.name.ends_with(kModelSuffix)) {
      if (file.file != nullptr) {
        profile.unread.push_back(BuiltInModel(*file.file));
        continue;
      }
      ASSIGN_OR_RETURN(FittedModel model, ParseModel(file.text(), file.source));
      profile.models.push_back(std::move(model));
    }
  }
  return profile;
}

Result<Profile> ProfileStore::Load(std::string_view gpu) const {
  ASSIGN_OR_RETURN(Profile profile, LoadLazily(gpu));
  for (const ModelFile& file : profile.unread) {
    ASSIGN_OR_RETURN(FittedModel model, ParseModel(file.text, file.source));
    profile.models.push_back(std::move(model));
  }
  profile.unread.clear();
  return profile;
}

Result<Constants> ProfileStore::LoadConstants() const {
  Constants constants;
  ASSIGN_OR_RETURN(const std::vector<NamedText> files,
                   FindTexts(directories_, ""));
  for (const NamedText& file : files) {
    if (file.name == "constants.toml") {
      RETURN_IF_ERROR(constants.Read(file.text(), file.source));
    }
  }
  return constants;
}

Result<FormulaSpreads> ProfileStore::LoadSpreads() const {
  FormulaSpreads spreads;
  ASSIGN_OR_RETURN(const std::vector<NamedText> files,
                   FindTexts(directories_, ""));
  for (const NamedText& file : files) {
    if (file.name != "spreads.toml") {
      continue;
    }
    ASSIGN_OR_RETURN(const toml::table table,
                     ParseToml(file.text(), file.source));
    for (const auto& [key, node] : table) {
      const toml::table* family = node.as_table();
      if (family == nullptr) {
        return FailAt(node, fmt::format("'{}' must be a table", key.str()));
      }
      FamilySpread& spread = spreads[std::string(key.str())];
      ASSIGN_OR_RETURN(spread.nothing, ReadSpread(*family, ""));
      ASSIGN_OR_RETURN(spread.ceilings, ReadSpread(*family, "ceilings_"));
    }
  }
  return spreads;
}

std::string CeilingsText(const Profile& profile, std::string_view provenance) {
  std::string text = fmt::format("# {}\n", provenance);
  for (const auto& [key, value] : profile.ceilings) {
    fmt::format_to(std::back_inserter(text), "{} = {:.4f}\n", key, value);
  }
  return text;
}

std::string LaunchesText(const Profile& profile, std::string_view provenance) {
  std::string text = fmt::format("# {}\n", provenance);
  for (const auto& [op, cost] : profile.launches) {
    fmt::format_to(std::back_inserter(text),
                   "\n[{}]\nfloor_us = {:.2f}\nlead_us = {:.2f}\n", op,
                   cost.floor_us, cost.lead_us);
    if (cost.drift_us > 0) {
      fmt::format_to(std::back_inserter(text),
                     "drift_us = {:.2f}\ndrift_power = {:.3f}\n", cost.drift_us,
                     cost.drift_power);
    }
  }
  return text;
}

}  // namespace cost
}  // namespace stepcast

// stepcast fit: from measurements to a profile.
#include "learn/fit/fit_kernels.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "api/ask.h"
#include "api/workload.h"
#include "base/files/file.h"
#include "base/parallel.h"
#include "base/text/join.h"
#include "cli/fit_commands.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/report_options.h"
#include "cost/profile.h"
#include "hw/device.h"
#include "learn/fit/fit_model.h"
#include "learn/measured/kernel_rows.h"
#include "view/doc.h"

namespace stepcast::cli {
namespace {

namespace fs = std::filesystem;

view::Doc FittedDoc(const std::vector<learn::FittedProfile>& fitted) {
  view::Table table{.title = "errors on test rows, which no fit has seen",
                    .columns = {{.label = "gpu"},
                                {.label = "family"},
                                {.label = "type"},
                                {.label = "chosen"},
                                {.label = "fit rows"},
                                {.label = "test rows"},
                                {.label = "GMAE", .decimals = 2},
                                {.label = "MAPE", .decimals = 2},
                                {.label = "formula", .decimals = 2}}};
  for (const learn::FittedProfile& profile : fitted) {
    for (const learn::FitSummary& row : profile.summaries) {
      table.rows.push_back({row.gpu, row.family, row.variant, row.chosen,
                            static_cast<int64_t>(row.fit_rows),
                            static_cast<int64_t>(row.model.n),
                            view::Percent{row.model.gmae_pct},
                            view::Percent{row.model.mape_pct},
                            view::Percent{row.formula.gmae_pct}});
    }
  }
  view::Doc doc;
  doc.title = "kernel models fitted to measurements";
  doc.blocks.emplace_back(std::move(table));
  return doc;
}

// What to fit besides the models of each GPU.
struct Wanted {
  bool constants = false;
  bool spreads = false;
  std::string base{};  // A GPU to start from.
};

// What all GPUs share: the constants for the fits that follow.
struct Shared {
  cost::Constants constants;
  std::vector<learn::ProfileFile> files;
};

Result<Shared> FitShared(const learn::KernelRows& rows, size_t threads,
                         const Wanted& wanted, const std::string& command) {
  Shared shared;
  ASSIGN_OR_RETURN(shared.constants,
                   wanted.constants ? learn::FitSharedConstants(rows, threads)
                                    : cost::ProfileStore().LoadConstants());
  shared.files.push_back(learn::FileOf(
      shared.constants, wanted.constants ? command + " --constants" : command));
  if (wanted.spreads) {
    ASSIGN_OR_RETURN(const cost::FormulaSpreads spreads,
                     learn::FitSharedSpreads(rows, threads));
    shared.files.push_back(learn::FileOf(spreads, command + " --spreads"));
  }
  return shared;
}

// Rows that tell nothing at all are an error, others that are doubtful are
// named.
Status CheckFitted(const std::vector<learn::FittedProfile>& fitted) {
  const bool nothing =
      std::ranges::all_of(fitted, [](const learn::FittedProfile& one) {
        return one.profile.models.empty() && one.profile.ceilings.empty() &&
               one.profile.launches.empty();
      });
  if (nothing) {
    return Fail(ErrorCode::kInvalidInput,
                "too few rows to fit anything; expected 30 or more of a "
                "family, 10 of a processor");
  }
  for (const learn::FittedProfile& one : fitted) {
    for (const std::string& doubt : one.doubts) {
      Complain(fmt::format("warning: {}", doubt));
    }
    if (!one.too_few.empty()) {
      Complain(fmt::format(
          "warning: {}: too few rows to fit a model and judge it, so that "
          "formulas answer: {}",
          one.profile.gpu, Join(one.too_few, ", ")));
    }
  }
  return {};
}

// What is known before the rows are looked at.
struct Start {
  std::optional<hw::Device> own{};  // That the measurements describe.
  std::optional<cost::Profile> base{};
};

Result<Start> FindStart(std::span<const fs::path> data,
                        const std::string& base) {
  Start start;
  ASSIGN_OR_RETURN(start.own, api::FindOwnDevice(data));
  if (!base.empty()) {
    ASSIGN_OR_RETURN(const hw::Device device, hw::FindDevice(base));
    ASSIGN_OR_RETURN(start.base, cost::ProfileStore().Load(device.name));
    if (start.base->models.empty()) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("nothing is fitted to {}; expected a --base of "
                              "'stepcast list models'",
                              device.name));
    }
  }
  return start;
}

// A profile describes its device as the measurements do.
Status CopyDeviceFile(std::span<const fs::path> data, const fs::path& output) {
  const auto file = api::FindIn(data, api::kDeviceFile);
  if (!file) {
    return {};
  }
  ASSIGN_OR_RETURN(std::string text, ReadFile(*file));
  return WriteProfile({{std::string(api::kDeviceFile), std::move(text)}},
                      output);
}

Result<std::vector<learn::FittedProfile>> FitAll(
    const learn::KernelRows& rows, const cost::Constants& constants,
    size_t threads, const std::string& command, const Start& start) {
  std::vector<Result<learn::FittedProfile>> results(
      rows.gpus.size(), Fail(ErrorCode::kUnsupported, "not fitted"));
  ParallelFor(rows.gpus.size(), threads, [&](size_t gpu) {
    const bool is_own = start.own && rows.gpus[gpu] == start.own->name;
    results[gpu] = learn::FitProfile(
        rows, static_cast<uint16_t>(gpu), constants, command,
        is_own ? &*start.own : nullptr, start.base ? &*start.base : nullptr);
  });
  std::vector<learn::FittedProfile> fitted;
  for (auto& result : results) {
    ASSIGN_OR_RETURN(learn::FittedProfile profile, std::move(result));
    fitted.push_back(std::move(profile));
  }
  return fitted;
}

}  // namespace

Status FitKernels(const Words& words) {
  OptionParser parser(
      "fit kernels",
      "Fits kernel models to measured times and writes a profile, which "
      "--profile DIR\nof other commands prefers to the built-in ones.",
      "  stepcast fit kernels --data measured/ -o my_profile\n"
      "  stepcast eval kernels --data measured/ --part test --profile "
      "my_profile");
  DataOptions given;
  std::string output;
  AddDataOptions(parser, given, "CSV files, or directories with them");
  parser.Add("-o,--output", output, "the directory of the profile");
  Wanted wanted;
  parser.AddFlag("--constants", wanted.constants,
                 "first fit the constants that all GPUs share, instead of "
                 "keeping the built-in ones; needs rows of three chips");
  parser.AddFlag(
      "--spreads", wanted.spreads,
      "also find how far off formulas are on GPUs without data, by leaving "
      "each out: spreads.toml; needs rows of three chips and some minutes");
  parser.Add(
      "--base", wanted.base,
      "start from what is fitted to this GPU: for a few rows of a similar one");
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  if (!go_on) {
    return {};
  }
  ASSIGN_OR_RETURN(const Data data, ReadDataOptions(given, kCsvFiles));
  if (output.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "no -o given; expected a directory for the profile");
  }
  std::vector<learn::FittedProfile> fitted;
  const std::string command =
      fmt::format("stepcast {} fit kernels{}{}", api::Version(),
                  wanted.base.empty() ? "" : " --base ", wanted.base);
  {
    const Progress progress("fitting kernel models");
    ASSIGN_OR_RETURN(const learn::KernelRows rows,
                     learn::ReadKernelRows(data.paths));
    ASSIGN_OR_RETURN(const Shared shared,
                     FitShared(rows, data.threads, wanted, command));
    ASSIGN_OR_RETURN(const Start start, FindStart(data.paths, wanted.base));
    ASSIGN_OR_RETURN(
        fitted, FitAll(rows, shared.constants, data.threads, command, start));
    RETURN_IF_ERROR(CheckFitted(fitted));
    RETURN_IF_ERROR(WriteProfile(shared.files, output));
    RETURN_IF_ERROR(CopyDeviceFile(data.paths, output));
    for (const learn::FittedProfile& profile : fitted) {
      RETURN_IF_ERROR(
          WriteProfile(learn::FilesOf(profile.profile, command), output));
    }
  }
  return PrintReport(FittedDoc(fitted), {});
}

}  // namespace stepcast::cli

#include "tests/accuracy/paper_steps.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/units.h"
#include "engine/run/predict_model.h"
#include "learn/measured/csv.h"
#include "model/read_model.h"
#include "scenario/resolve.h"
#include "tests/accuracy/error_pct.h"

namespace stepcast::accuracy {
namespace {

using learn::CellInt;
using learn::CellNumber;

constexpr std::array<std::string_view, 8> kColumns = {"gpu",
                                                      "model",
                                                      "batch_size",
                                                      "active_err_pct",
                                                      "e2e_err_pct",
                                                      "shared_e2e_err_pct",
                                                      "iteration_time_ms",
                                                      "derived_active_ms"};

constexpr double kMicroseconds = 1e3;  // In a millisecond.

// The smallest kernels of the authors' traces take so long; active times are of
// such traces (learn/measured/authors_kernels.h).
constexpr double kRecorderUs = 3;

// Errors below are taken for it: a digitised figure has no smaller ones, and a
// zero would make the mean zero.
constexpr double kLeastPct = 0.04;

struct Named {
  std::string_view theirs;
  std::string_view ours;
};
// With the clocks that the authors locked them at.
constexpr Named kGpus[] = {{"V100", "v100-sxm-16gb@1297MHz"},
                           {"Xp", "titan-xp@1404MHz"}};
constexpr Named kModels[] = {{"DLRM_default", "dlrm_default"},
                             {"DLRM_MLPerf", "dlrm_mlperf"},
                             {"DLRM_DDP", "dlrm_ddp"}};

Result<std::string> OurName(std::span<const Named> names,
                            std::string_view theirs) {
  const auto found = std::ranges::find(names, theirs, &Named::theirs);
  if (found == names.end()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("nothing is known of '{}'", theirs));
  }
  return std::string(found->ours);
}

double GeometricMean(std::span<const PaperStep> steps,
                     const auto& error_pct_of) {
  double sum = 0;
  for (const PaperStep& step : steps) {
    sum += std::log(std::max(kLeastPct, std::abs(error_pct_of(step))));
  }
  return std::exp(sum / static_cast<double>(steps.size()));
}

Result<PaperStep> ReadStep(std::span<const std::string_view> cells) {
  const auto batch = CellInt(cells[2]);
  std::array<double, 5> numbers{};
  for (size_t i = 0; i < numbers.size(); ++i) {
    const auto number = CellNumber(cells[3 + i]);
    if (!batch || !number) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("'{}' is not a number", cells[3 + i]));
    }
    numbers[i] = *number;
  }
  PaperStep step;
  step.gpu = cells[0];
  step.model = cells[1];
  step.batch = *batch;
  step.their_active_pct = numbers[0];
  step.their_step_pct = numbers[1];
  step.their_shared_step_pct = numbers[2];
  step.step_ms = numbers[3];
  step.active_ms = numbers[4];
  return step;
}

Status Predict(scenario::Resolver& resolver, PaperStep& step) {
  scenario::Job job;
  engine::Request& request = job.request;
  ASSIGN_OR_RETURN(const std::string model, OurName(kModels, step.model));
  ASSIGN_OR_RETURN(request.model, model::FindModel(model));
  ASSIGN_OR_RETURN(job.names.machine.gpu, OurName(kGpus, step.gpu));
  request.settings.batch = step.batch;
  job.names.overheads = "v100-hipc-2022";
  RETURN_IF_ERROR(resolver.Bind(job));
  RETURN_IF_ERROR(resolver.Load(request.machine));
  ASSIGN_OR_RETURN(const engine::ModelPrediction predicted,
                   engine::PredictModel(request, {}));
  const auto active_ms = [](const engine::ModelPrediction& of) {
    return ToMicroseconds(of.result.accounts.front().gpu_active) /
           kMicroseconds;
  };
  step.our_step_ms = ToMicroseconds(predicted.result.step) / kMicroseconds;
  step.our_plain_active_ms = active_ms(predicted);
  ASSIGN_OR_RETURN(
      request.machine.kernels,
      resolver.store().Kernels(request.machine.device, kRecorderUs));
  ASSIGN_OR_RETURN(const engine::ModelPrediction recorded,
                   engine::PredictModel(request, {}));
  step.our_active_ms = active_ms(recorded);
  return {};
}

}  // namespace

double PaperStep::our_step_pct() const {
  return ErrorPct(our_step_ms, step_ms);
}

double PaperStep::our_active_pct() const {
  return ErrorPct(our_active_ms, active_ms);
}

double PaperStep::our_plain_active_pct() const {
  return ErrorPct(our_plain_active_ms, active_ms);
}

Result<std::vector<PaperStep>> PredictPaperSteps(
    const std::filesystem::path& data) {
  const std::filesystem::path file =
      data / "authors" / "s1_hipc_e2e_per_config_DIGITIZED.csv";
  ASSIGN_OR_RETURN(std::string text, ReadFile(file));
  ASSIGN_OR_RETURN(const learn::CsvTable table,
                   learn::CsvTable::Parse(std::move(text), file.string()));
  ASSIGN_OR_RETURN(const std::vector<size_t> places,
                   table.FindColumns(kColumns));
  scenario::Resolver resolver;
  std::vector<PaperStep> steps;
  for (size_t i = 0; i < table.row_count(); ++i) {
    std::vector<std::string_view> cells;
    cells.reserve(places.size());
    for (const size_t place : places) {
      cells.push_back(table.row(i)[place]);
    }
    ASSIGN_OR_RETURN(PaperStep step, ReadStep(cells));
    RETURN_IF_ERROR(Predict(resolver, step));
    steps.push_back(std::move(step));
  }
  return steps;
}

PaperErrors ErrorsOf(std::span<const PaperStep> steps) {
  return {
      .our_step = GeometricMean(
          steps, [](const PaperStep& step) { return step.our_step_pct(); }),
      .our_active = GeometricMean(
          steps, [](const PaperStep& step) { return step.our_active_pct(); }),
      .our_plain_active = GeometricMean(
          steps,
          [](const PaperStep& step) { return step.our_plain_active_pct(); }),
      .their_step = GeometricMean(
          steps, [](const PaperStep& step) { return step.their_step_pct; }),
      .their_shared_step = GeometricMean(
          steps,
          [](const PaperStep& step) { return step.their_shared_step_pct; }),
      .their_active = GeometricMean(
          steps, [](const PaperStep& step) { return step.their_active_pct; })};
}

std::string PaperTable(std::span<const PaperStep> steps) {
  std::string text =
      "| GPU | model | batch | step ms | ours | theirs | theirs, shared | "
      "active ms | ours | ours, no recorder | theirs |\n"
      "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: "
      "| ---: |\n";
  for (const PaperStep& step : steps) {
    text += fmt::format(
        "| {} | {} | {} | {:.2f} | {:+.1f} | {:+.1f} | {:+.1f} | {:.2f} | "
        "{:+.1f} | {:+.1f} | {:+.1f} |\n",
        step.gpu, step.model, step.batch, step.step_ms, step.our_step_pct(),
        step.their_step_pct, step.their_shared_step_pct, step.active_ms,
        step.our_active_pct(), step.our_plain_active_pct(),
        step.their_active_pct);
  }
  const PaperErrors errors = ErrorsOf(steps);
  text += fmt::format(
      "| **GMAE** | | | | **{:.1f}** | {:.1f} | {:.1f} | | **{:.1f}** | "
      "{:.1f} | {:.1f} |\n",
      errors.our_step, errors.their_step, errors.their_shared_step,
      errors.our_active, errors.our_plain_active, errors.their_active);
  return text;
}

}  // namespace stepcast::accuracy

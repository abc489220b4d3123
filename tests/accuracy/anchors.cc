#include "tests/accuracy/anchors.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/stats.h"
#include "hw/device.h"
#include "tests/accuracy/error_pct.h"

namespace stepcast::accuracy {
namespace {

double Summarize(Metric metric, std::span<const Sample> samples,
                 double Sample::*predicted) {
  Errors errors;
  double worst = 0;
  for (const Sample& sample : samples) {
    errors.Add(sample.*predicted, sample.measured_us);
    worst = std::max(worst,
                     std::abs(ErrorPct(sample.*predicted, sample.measured_us)));
  }
  const ErrorSummary summary = errors.Summary();
  switch (metric) {
    case Metric::kGmae:
      return summary.gmae_pct;
    case Metric::kMape:
      return summary.mape_pct;
    case Metric::kWorst:
      break;
  }
  return worst;
}

std::string_view Name(Metric metric) {
  switch (metric) {
    case Metric::kGmae:
      return "GMAE";
    case Metric::kMape:
      return "MAPE";
    case Metric::kWorst:
      break;
  }
  return "worst";
}

}  // namespace

Comparison Compare(std::string name, Metric metric, double limit_pct,
                   std::vector<Sample> samples) {
  Comparison comparison{
      .name = std::move(name),
      .metric = metric,
      .limit_pct = limit_pct,
      .n = samples.size(),
      .value_pct = Summarize(metric, samples, &Sample::predicted_us),
      .formula_pct = Summarize(metric, samples, &Sample::formula_us)};
  comparison.samples = std::move(samples);
  return comparison;
}

Result<Sample> Price(std::string label, std::span<const ir::KernelShape> shapes,
                     double measured_us, const cost::KernelModels& models) {
  Sample sample{.label = std::move(label), .measured_us = measured_us};
  for (const ir::KernelShape& shape : shapes) {
    const auto estimate = models.Price(shape);
    if (!estimate) {
      return Fail(ErrorCode::kUnsupported,
                  fmt::format("no price for: {}", ir::ShapeText(shape)));
    }
    sample.predicted_us += estimate->p50_us;
    sample.formula_us += estimate->base.time_us;
  }
  return sample;
}

Result<cost::KernelModels> LoadModels(std::string_view device,
                                      const Setting& setting) {
  ASSIGN_OR_RETURN(const hw::Device found, hw::FindDevice(device));
  return cost::KernelModels::Load(found, setting.store);
}

Result<learn::CsvTable> LoadTable(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(std::string text, ReadFile(path));
  return learn::CsvTable::Parse(std::move(text), path.string());
}

std::string ComparisonTable(std::span<const Comparison> comparisons) {
  std::string text =
      "| compared | n | metric | limit % | reached % | formula alone % | |\n"
      "|---|---:|---|---:|---:|---:|---|\n";
  for (const Comparison& comparison : comparisons) {
    fmt::format_to(std::back_inserter(text),
                   "| {} | {} | {} | {:g} | {:.1f} | {:.1f} | {} |\n",
                   comparison.name, comparison.n, Name(comparison.metric),
                   comparison.limit_pct, comparison.value_pct,
                   comparison.formula_pct,
                   comparison.holds() ? "holds" : "missed");
  }
  return text;
}

std::string SampleTable(const Comparison& comparison) {
  std::string text = fmt::format(
      "{}\n\n| | measured us | predicted us | error % | formula alone % |\n"
      "|---|---:|---:|---:|---:|\n",
      comparison.name);
  for (const Sample& sample : comparison.samples) {
    fmt::format_to(std::back_inserter(text),
                   "| {} | {:.1f} | {:.1f} | {:+.1f} | {:+.1f} |\n",
                   sample.label, sample.measured_us, sample.predicted_us,
                   ErrorPct(sample.predicted_us, sample.measured_us),
                   ErrorPct(sample.formula_us, sample.measured_us));
  }
  if (!comparison.note.empty()) {
    text += "\n" + comparison.note + "\n";
  }
  return text;
}

}  // namespace stepcast::accuracy

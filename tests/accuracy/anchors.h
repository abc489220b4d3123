// Kernel models against published times and recorded traces: what is compared,
// how far off it may be, and how far off it is.
#ifndef STEPCAST_TESTS_ACCURACY_ANCHORS_H_
#define STEPCAST_TESTS_ACCURACY_ANCHORS_H_

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cost/kernel_models.h"
#include "cost/profile.h"
#include "learn/measured/csv.h"

namespace stepcast::accuracy {

/// The V100 of Lin et al., with its clock locked.
inline constexpr std::string_view kAuthorsDevice = "v100-sxm-16gb@1297MHz";

/// A measured time, what the models say, and what the formula alone says.
struct Sample {
  std::string label;
  double measured_us = 0;
  double predicted_us = 0;
  double formula_us = 0;
};

/// How the errors of many samples become one number.
enum class Metric { kGmae, kMape, kWorst };

/// One statement: the metric of these samples is at most the limit.
struct Comparison {
  std::string name;
  Metric metric = Metric::kWorst;
  double limit_pct = 0;
  size_t n = 0;
  double value_pct = 0;
  double formula_pct = 0;
  std::vector<Sample> samples{};
  std::string note{};  // What is left out, and why.

  bool holds() const { return n > 0 && value_pct <= limit_pct; }
};

/// Where the measured data is, and which fitted models are used.
struct Setting {
  std::filesystem::path data;
  cost::ProfileStore store{};
};

/// Works out the numbers from the samples.
Comparison Compare(std::string name, Metric metric, double limit_pct,
                   std::vector<Sample> samples);

/// A sample of several kernels timed together; nothing if one has no price.
Result<Sample> Price(std::string label, std::span<const ir::KernelShape> shapes,
                     double measured_us, const cost::KernelModels& models);

/// The models of a device by name.
Result<cost::KernelModels> LoadModels(std::string_view device,
                                      const Setting& setting);
Result<learn::CsvTable> LoadTable(const std::filesystem::path& path);

// The comparisons, by where their times are from.
Result<std::vector<Comparison>> CompareGemmSamples(const Setting& setting);
Result<std::vector<Comparison>> CompareAuthorsTraces(const Setting& setting);
Result<std::vector<Comparison>> CompareEmbeddings(const Setting& setting);
Result<std::vector<Comparison>> CompareTracedLookups(const Setting& setting);
Result<std::vector<Comparison>> CompareSmallOps(const Setting& setting);

/// A table of comparisons, and one of the samples of a comparison, as Markdown.
std::string ComparisonTable(std::span<const Comparison> comparisons);
std::string SampleTable(const Comparison& comparison);

}  // namespace stepcast::accuracy

#endif  // STEPCAST_TESTS_ACCURACY_ANCHORS_H_

// The authors' kernel traces of DLRM on V100: the time of each family of
// kernels in a step, and of all of them.
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "learn/measured/authors_kernels.h"
#include "learn/measured/authors_trace.h"
#include "tests/accuracy/anchors.h"

namespace stepcast::accuracy {
namespace {

constexpr double kActiveLimitPct = 4;
constexpr double kFamilyLimitPct = 10;
// Families below this share of a trace are not judged apart.
constexpr double kLeastShare = 0.02;

struct Trace {
  std::string_view day;
  bool is_default = false;  // Else as MLPerf has it.
};
constexpr std::array kTraces = {Trace{.day = "2021-04-09", .is_default = false},
                                Trace{.day = "2021-05-04", .is_default = true},
                                Trace{.day = "2021-05-14", .is_default = false},
                                Trace{.day = "2021-08-22", .is_default = true}};

void AddTo(Sample& sum, const Sample& part) {
  sum.measured_us += part.measured_us;
  sum.predicted_us += part.predicted_us;
  sum.formula_us += part.formula_us;
}

Result<std::vector<learn::TracedKernels>> LoadKernels(const Trace& trace,
                                                      const Setting& setting) {
  const std::string file =
      fmt::format("trace_v100_{}_DLRM_{}_b2048_kernels.csv", trace.day,
                  trace.is_default ? "default" : "MLPerf");
  ASSIGN_OR_RETURN(const learn::CsvTable table,
                   LoadTable(setting.data / "authors" / file));
  ASSIGN_OR_RETURN(const auto rows, learn::ReadAuthorsTrace(table));
  return learn::KernelsOf(rows, trace.is_default ? learn::AuthorsDefault()
                                                 : learn::AuthorsMlPerf());
}

}  // namespace

Result<std::vector<Comparison>> CompareAuthorsTraces(const Setting& setting) {
  std::vector<Sample> totals;
  std::vector<Sample> families;
  for (const Trace& trace : kTraces) {
    ASSIGN_OR_RETURN(const auto kernels, LoadKernels(trace, setting));
    ASSIGN_OR_RETURN(cost::KernelModels models,
                     LoadModels(kAuthorsDevice, setting));
    models.SetLatency(learn::SmallestKernelUs(kernels));
    Sample total{.label = fmt::format("{} {}", trace.day,
                                      trace.is_default ? "default" : "MLPerf")};
    std::map<std::string_view, Sample> sums;
    for (const learn::TracedKernels& traced : kernels) {
      ASSIGN_OR_RETURN(const Sample sample,
                       Price("", traced.shapes, traced.time_us, models));
      AddTo(total, sample);
      AddTo(sums[ir::FamilyName(traced.shapes.front())], sample);
    }
    for (auto& [family, sum] : sums) {
      if (sum.measured_us >= kLeastShare * total.measured_us) {
        sum.label = fmt::format("{} {}", total.label, family);
        families.push_back(std::move(sum));
      }
    }
    totals.push_back(std::move(total));
  }
  return std::vector<Comparison>{
      Compare("DLRM steps of Lin et al., V100: GPU active time", Metric::kWorst,
              kActiveLimitPct, std::move(totals)),
      Compare("the same, families above 2 % of it", Metric::kWorst,
              kFamilyLimitPct, std::move(families))};
}

}  // namespace stepcast::accuracy

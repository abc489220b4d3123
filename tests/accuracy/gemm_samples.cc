// The authors' matrix products on V100, timed kernel by kernel.
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "tests/accuracy/anchors.h"

namespace stepcast::accuracy {
namespace {

constexpr std::array<std::string_view, 6> kColumns = {
    "batch", "M", "K", "N", "kernel", "mean_us"};

// cuBLAS stores by columns: its "tn" is a weight stored [n,k], its "nt" the
// gradient of one. Products by a vector are named otherwise; which pass they
// belong to follows from where the 1 is.
ir::Gemm WithLayout(ir::Gemm gemm, std::string_view kernel) {
  const bool is_vector = kernel.find("gemv") != std::string_view::npos;
  gemm.transpose_b = kernel.ends_with("_tn") || (is_vector && gemm.n == 1);
  gemm.transpose_a = kernel.ends_with("_nt") || (is_vector && gemm.m == 1);
  return gemm;
}

}  // namespace

Result<std::vector<Comparison>> CompareGemmSamples(const Setting& setting) {
  ASSIGN_OR_RETURN(
      const learn::CsvTable table,
      LoadTable(setting.data / "authors" / "measured_gemm_samples_v100.csv"));
  ASSIGN_OR_RETURN(const cost::KernelModels models,
                   LoadModels(kAuthorsDevice, setting));
  ASSIGN_OR_RETURN(const auto at, table.FindColumns(kColumns));
  std::vector<Sample> samples;
  for (size_t i = 0; i < table.row_count(); ++i) {
    const auto cells = table.row(i);
    std::array<int64_t, 4> sizes{};
    for (size_t c = 0; c < sizes.size(); ++c) {
      sizes[c] = learn::CellInt(cells[at[c]]).value_or(0);
    }
    const auto [batch, m, k, n] = sizes;
    const std::string_view kernel = cells[at[4]];
    const ir::KernelShape shape = WithLayout(
        {.batch = batch, .m = m, .n = n, .k = k, .dtype = ir::DType::kFp32},
        kernel);
    ASSIGN_OR_RETURN(
        Sample sample,
        Price(fmt::format("{} m={} n={} k={} {}", batch, m, n, k, kernel),
              {&shape, 1}, learn::CellNumber(cells[at[5]]).value_or(0),
              models));
    samples.push_back(std::move(sample));
  }
  constexpr double kLimitPct = 8;
  return std::vector<Comparison>{Compare("matrix products of Lin et al., V100",
                                         Metric::kGmae, kLimitPct,
                                         std::move(samples))};
}

}  // namespace stepcast::accuracy

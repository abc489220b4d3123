// Any bytes as a CSV of measured kernels, and a price for whatever it holds.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "cost/kernel_models.h"
#include "hw/device.h"
#include "learn/measured/kernel_rows.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using stepcast::cost::KernelModels;
  static const KernelModels models =
      KernelModels::Load(stepcast::hw::FindDevice("t4").value(),
                         stepcast::cost::ProfileStore())
          .value();
  static const auto rules = stepcast::trace::Rules::Load().value();
  std::string text(reinterpret_cast<const char*>(data), size);
  stepcast::learn::KernelRows rows;
  // The name decides between softmax and layer norm, which look alike.
  const char* const source =
      size % 2 == 0 ? "softmax/x.csv" : "layernorm/x.csv";
  const auto status =
      stepcast::learn::AddKernelRows(std::move(text), source, rules, rows);
  if (!status) {
    CHECK(!status.error().message.empty());
    return 0;
  }
  for (const auto& row : rows.rows) {
    const auto estimate = models.Price(row.shape);
    if (estimate) {
      CHECK(std::isfinite(estimate->p50_us) && estimate->p50_us > 0);
      CHECK(estimate->p10_us <= estimate->p90_us);
    }
  }
  return 0;
}

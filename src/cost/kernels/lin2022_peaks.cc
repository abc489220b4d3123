#include "cost/kernels/lin2022_peaks.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace stepcast::cost {
namespace {

struct Measured {
  std::string_view gpu{};  // How its name begins.
  double gflops = 0;
  double dram_gbs = 0;
  double l2_gbs = 0;
  double pcie_gbs = 0;
};
constexpr std::array kMeasured = {
    Measured{"v100", 15441.5, 804.497, 2847.5, 8.1},
    Measured{"a100", 15026.6, 1391.10, 2270.9, 8.1},
    Measured{"quadro-gv100", 13035.9, 601.05, 2466.7, 5.0},
    Measured{"titan-xp", 10768.6, 438.70, 1406.5, 3.43},
    Measured{"p100", 9343.7, 543.41, 1591.3, 7.62},
};

// Bytes a clock that an SM takes from L2, and the share of PCIe's rate that
// copies see: near to the figures above.
constexpr double kL2BytesPerClock = 24;
constexpr double kPcieShare = 0.5;

}  // namespace

Lin2022Peaks Lin2022PeaksOf(const Machine& machine) {
  const auto* const found =
      std::ranges::find_if(kMeasured, [&](const Measured& measured) {
        return machine.device.name.starts_with(measured.gpu);
      });
  if (found != kMeasured.end()) {
    return {.dram_rate = found->dram_gbs * 1e3,
            .l2_rate = found->l2_gbs * 1e3,
            .pcie_rate = found->pcie_gbs * 1e3,
            .flop_rate = found->gflops * 1e3};
  }
  return {.dram_rate = machine.copy_rate(),
          .l2_rate = kL2BytesPerClock * machine.sm_count() *
                     machine.device.clock_ghz * 1e3,
          .pcie_rate = kPcieShare * machine.device.pcie_gbs * 1e3,
          .flop_rate = machine.vector_rate()};
}

}  // namespace stepcast::cost

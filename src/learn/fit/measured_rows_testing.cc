#include "learn/fit/measured_rows_testing.h"

#include <cstdint>

#include "base/check.h"
#include "cost/kernels/family.h"
#include "hw/device.h"
#include "hw/usual_shares.h"

namespace stepcast::learn {

KernelRows MadeSoftmaxRows(const std::vector<std::string>& gpus,
                           const cost::Constants& constants) {
  KernelRows rows;
  rows.gpus = gpus;
  rows.ops = {"softmax"};
  for (size_t gpu = 0; gpu < gpus.size(); ++gpu) {
    rows.tables.push_back("softmax/" + gpus[gpu] + ".csv");
    rows.kinds.emplace_back("softmax");
    auto device = hw::FindDevice(gpus[gpu]);
    CHECK(device.has_value());
    cost::Machine machine{.device = *device, .constants = constants};
    hw::ApplyShareRule(hw::ShareRule(), machine.device);
    uint32_t place = 0;
    for (int64_t count = 500; count <= 64000; count = count * 3 / 2) {
      for (int64_t columns = 48; columns <= 12000; columns = columns * 4 / 3) {
        ir::Softmax shape;
        shape.rows = count;
        shape.columns = columns;
        shape.dtype = ir::DType::kFp32;
        KernelRow row;
        row.shape = shape;
        row.time_us =
            cost::FindFamily(row.shape)->base(row.shape, machine).time_us;
        row.timing = Timing::kProfiler;
        row.gpu = static_cast<uint16_t>(gpu);
        row.table = static_cast<uint16_t>(gpu);
        row.place = place++;
        rows.rows.push_back(row);
      }
    }
  }
  return rows;
}

}  // namespace stepcast::learn

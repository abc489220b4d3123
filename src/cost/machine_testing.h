// GPUs by name, for tests.
#ifndef STEPCAST_COST_MACHINE_TESTING_H_
#define STEPCAST_COST_MACHINE_TESTING_H_

#include <string_view>

#include "cost/machine.h"
#include "hw/device.h"

namespace stepcast::cost {

inline Machine On(std::string_view gpu) {
  return Machine{.device = hw::FindDevice(gpu).value()};
}

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_MACHINE_TESTING_H_

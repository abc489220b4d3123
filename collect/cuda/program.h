// A whole program but for its device: options, sweep, tables, exit status.
#ifndef STEPCAST_COLLECT_CUDA_PROGRAM_H_
#define STEPCAST_COLLECT_CUDA_PROGRAM_H_

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <vector>

#include "collect/cuda/budget.h"
#include "collect/cuda/device.h"
#include "collect/cuda/options.h"

namespace stepcast::collect {

/// The two programs.
ProgramText KernelBenchText();
ProgramText NcclBenchText();

/// Opens the device of that number; null and `why` if there is none.
using DeviceOpener =
    std::function<std::unique_ptr<Device>(int number, std::string& why)>;

/// Where a program writes and what it takes the time from.
struct Surroundings {
  std::ostream& out;
  std::ostream& err;
  bool is_terminal = false;
  Clock clock{};
};

/// Exit status: 0 the sweep or the budget is over, 1 the device or disk failed,
/// 2 the user can mend it.
int RunProgram(const ProgramText& program,
               const std::vector<std::string>& words, const DeviceOpener& open,
               const Surroundings& around);

}  // namespace stepcast::collect

#endif  // STEPCAST_COLLECT_CUDA_PROGRAM_H_

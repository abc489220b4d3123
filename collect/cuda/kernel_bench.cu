// Measures a GPU's kernels, copies and launches: CSV files for stepcast.
#include <iostream>
#include <string>
#include <vector>

#include <unistd.h>

#include "collect/cuda/cuda_device.h"
#include "collect/cuda/program.h"

int main(int count, char** words) {
  namespace collect = stepcast::collect;
  return collect::RunProgram(collect::KernelBenchText(),
                             std::vector<std::string>(words + 1, words + count),
                             collect::OpenCudaDevice,
                             {std::cout, std::cerr, isatty(STDERR_FILENO) != 0,
                              collect::SteadyClock()});
}

// Names of device kernels as a profiler writes them, long and repetitive.
#ifndef STEPCAST_TESTS_TESTING_KERNEL_NAMES_H_
#define STEPCAST_TESTS_TESTING_KERNEL_NAMES_H_

#include <cstddef>
#include <string_view>

namespace stepcast::testing {

enum class KernelFamily {
  kGemm,
  kElementwise,
  kReduce,
  kEmbeddingForward,
  kEmbeddingBackward,
  kSort,
  kConcat,
  kIndex,
  kOptimizer,
  kAllToAll,
  kAllReduce,
};

/// The name of a kernel of this family; `which` picks one of several, in turn.
/// The text lives as long as the program.
std::string_view KernelName(KernelFamily family, size_t which);

/// The same for AMD devices, where the libraries have names of their own.
std::string_view HipKernelName(KernelFamily family, size_t which);

}  // namespace stepcast::testing

#endif  // STEPCAST_TESTS_TESTING_KERNEL_NAMES_H_

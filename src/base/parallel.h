// Independent work over several threads.
#ifndef STEPCAST_BASE_PARALLEL_H_
#define STEPCAST_BASE_PARALLEL_H_

#include <cstddef>
#include <functional>

namespace stepcast {

/// Calls work(0) .. work(count - 1), each once, on up to `threads` threads
/// (0: one per core). Each call writes only its own slot, so the result does
/// not depend on the number of threads.
void ParallelFor(size_t count, size_t threads,
                 const std::function<void(size_t)>& work);

}  // namespace stepcast

#endif  // STEPCAST_BASE_PARALLEL_H_

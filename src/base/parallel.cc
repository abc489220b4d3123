#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace stepcast {

void ParallelFor(size_t count, size_t threads,
                 const std::function<void(size_t)>& work) {
  if (threads == 0) {
    threads = std::max<size_t>(1, std::thread::hardware_concurrency());
  }
  threads = std::min(threads, count);
  if (threads <= 1) {
    for (size_t index = 0; index < count; ++index) {
      work(index);
    }
    return;
  }
  std::atomic<size_t> next = 0;
  const auto run = [&] {
    for (size_t index = next++; index < count; index = next++) {
      work(index);
    }
  };
  std::vector<std::jthread> pool;
  pool.reserve(threads - 1);
  for (size_t i = 1; i < threads; ++i) {
    pool.emplace_back(run);
  }
  run();
}

}  // namespace stepcast

// Writes Kineto traces of a made-up training job, of any size and in the layout
// of PyTorch's own writer: for tests, benchmarks and fuzz seeds.
#ifndef STEPCAST_TESTS_TESTING_KINETO_GENERATOR_H_
#define STEPCAST_TESTS_TESTING_KINETO_GENERATOR_H_

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tests/testing/training_job.h"

namespace stepcast::testing {

enum class KinetoDialect { k2021, k2022, k2024 };

struct KinetoOptions {
  JobOptions job{};
  KinetoDialect dialect = KinetoDialect::k2022;
  int64_t steps = 2;
  /// If above 0: as many steps as make the text at least this long.
  int64_t target_bytes = 0;
  bool shapes = true;
};

/// What the trace holds, counted while it was written.
struct KinetoFacts {
  int64_t steps = 0;
  int64_t ops = 0;
  int64_t annotations = 0;
  int64_t python = 0;
  int64_t calls = 0;
  int64_t kernels = 0;
  int64_t copies = 0;  // Memcpy and memset.
  int64_t orphans = 0;
  int64_t flows = 0;
  int64_t metadata = 0;
  int64_t instants = 0;
  int64_t bytes = 0;
};

/// Passes the text to `sink` in parts; never holds more than a step.
KinetoFacts WriteKineto(const KinetoOptions& options,
                        const std::function<void(std::string_view)>& sink);

/// The text as one string.
std::string MakeKineto(const KinetoOptions& options,
                       KinetoFacts* facts = nullptr);

/// Writes a file, through gzip if asked to.
Result<KinetoFacts> WriteKinetoFile(const std::filesystem::path& path,
                                    const KinetoOptions& options, bool gzip);

}  // namespace stepcast::testing

#endif  // STEPCAST_TESTS_TESTING_KINETO_GENERATOR_H_

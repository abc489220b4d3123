#include "tests/testing/trace_file.h"

#include <system_error>

#include "base/check.h"

namespace stepcast::testing {

TraceFile::TraceFile(std::string_view name, const KinetoOptions& options)
    : path_(std::filesystem::temp_directory_path() / name) {
  const auto facts = WriteKinetoFile(path_, options, false);
  CHECK(facts.has_value()) << facts.error().message;
  events_ = facts->ops + facts->annotations + facts->calls + facts->kernels +
            facts->copies;
}

TraceFile::~TraceFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

KinetoOptions DlrmLikeSteps(int64_t steps) {
  KinetoOptions options;
  options.job.layers = 8;
  options.job.tables = 26;
  options.steps = steps;
  return options;
}

}  // namespace stepcast::testing

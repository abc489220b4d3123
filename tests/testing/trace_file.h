// A made-up Kineto trace in a file, for benchmarks.
#ifndef STEPCAST_TESTS_TESTING_TRACE_FILE_H_
#define STEPCAST_TESTS_TESTING_TRACE_FILE_H_

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "tests/testing/kineto_generator.h"

namespace stepcast::testing {

/// The file goes away with it.
class TraceFile {
 public:
  /// `name` is that of the file, among the temporary ones.
  TraceFile(std::string_view name, const KinetoOptions& options);
  ~TraceFile();
  TraceFile(const TraceFile&) = delete;
  TraceFile& operator=(const TraceFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// Ops, annotations, calls, kernels and copies.
  int64_t events() const { return events_; }

 private:
  std::filesystem::path path_;
  int64_t events_ = 0;
};

/// Steps of about 1,450 events, like those of the recorded DLRM jobs.
KinetoOptions DlrmLikeSteps(int64_t steps);

}  // namespace stepcast::testing

#endif  // STEPCAST_TESTS_TESTING_TRACE_FILE_H_

// What a trace file says about itself.
#ifndef STEPCAST_INGEST_TRACE_INFO_H_
#define STEPCAST_INGEST_TRACE_INFO_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/units.h"

namespace stepcast::ingest {

/// One device as the profiler describes it.
struct DeviceInfo {
  int64_t number = -1;
  std::string name;  // "Tesla V100-SXM2-32GB"
  int64_t sm_count = 0;
  std::string compute_capability;  // "7.0"
  int64_t memory_bytes = 0;
};

struct TraceInfo {
  std::string path;     // As given by the user.
  std::string format;   // Name in the list of formats: "kineto", "torch-et".
  std::string dialect;  // Kineto: "2021", "2022", "2024"; otherwise "".
  std::string schema;   // "1", "1.0.1", "1.1.1-chakra.0.0.4"
  std::optional<int64_t> rank;
  std::optional<int64_t> world_size;
  std::string backend;  // "nccl"
  std::vector<DeviceInfo> devices;
  /// Time 0 of the events is this far behind the epoch.
  Duration base_time{};
  uint64_t text_bytes = 0;  // Uncompressed.
};

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_TRACE_INFO_H_

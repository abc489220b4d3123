// One thing to measure: a kernel, copy, launch or collective with its sizes.
#ifndef STEPCAST_COLLECT_CUDA_POINT_H_
#define STEPCAST_COLLECT_CUDA_POINT_H_

#include <cstdint>
#include <string>

// These headers are also read by nvcc, whose older releases know C++17 only.
namespace stepcast::collect {

enum class Kind {
  kGemm,          // op: the layout, tn, nn or nt.
  kElementwise,   // op: copy or add, on memory that no cache holds.
  kEmbeddingBag,  // op: fwd or bwd.
  kMemcpy,        // op: htod, dtoh or dtod.
  kBandwidth,     // op: read, write or copy, again and again in one place.
  kLaunch,        // op: what is launched.
  kCollective,    // op: all_reduce, ...
};

/// Fields that a kind does not use stay as they are here.
struct Point {
  Kind kind = Kind::kGemm;
  std::string op{};
  std::string dtype{};        // fp32, tf32, fp16, bf16.
  std::string host_memory{};  // Of a copy: pinned or pageable.
  std::string pooling{};      // Of a bag: sum, or none: one row per id.
  double alpha = 0;           // Exponent of the ids' power law; 0: uniform.
  int64_t batch = 1;
  int64_t m = 0;
  int64_t n = 0;
  int64_t k = 0;
  int64_t rows = 0;  // Of a table, or of a plane of numbers.
  int64_t dim = 0;   // Columns of either.
  int64_t lookups = 0;
  int64_t bytes = 0;
  int64_t ranks = 0;
};

/// The folder of the CSV files.
const char* Name(Kind kind);

/// A name that is the same in every run and has no tab, comma or blank.
std::string PointId(const Point& point);

/// Bytes of a number; 0 for a type we do not know.
int64_t SizeOf(const std::string& dtype);

/// "uniform" or "power-law-1.05".
std::string DistributionName(double alpha);

}  // namespace stepcast::collect

#endif  // STEPCAST_COLLECT_CUDA_POINT_H_

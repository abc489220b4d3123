#include "collect/cuda/point.h"

#include <cstdio>

namespace stepcast::collect {

const char* Name(Kind kind) {
  switch (kind) {
    case Kind::kGemm:
      return "gemm";
    case Kind::kElementwise:
      return "elementwise";
    case Kind::kEmbeddingBag:
      return "embedding_bag";
    case Kind::kMemcpy:
      return "memcpy";
    case Kind::kBandwidth:
      return "bandwidth";
    case Kind::kLaunch:
      return "launch";
    case Kind::kCollective:
      return "collective";
  }
  return "";
}

std::string PointId(const Point& point) {
  std::string id = std::string(Name(point.kind)) + "/" + point.op;
  for (const std::string* word :
       {&point.dtype, &point.host_memory, &point.pooling}) {
    id += "/" + *word;
  }
  id += "/" + DistributionName(point.alpha);
  for (const int64_t size :
       {point.batch, point.m, point.n, point.k, point.rows, point.dim,
        point.lookups, point.bytes, point.ranks}) {
    id += "/" + std::to_string(size);
  }
  return id;
}

int64_t SizeOf(const std::string& dtype) {
  if (dtype == "fp32" || dtype == "tf32") {
    return 4;
  }
  return dtype == "fp16" || dtype == "bf16" ? 2 : 0;
}

std::string DistributionName(double alpha) {
  if (alpha <= 0) {
    return "uniform";
  }
  char text[32] = "";
  std::snprintf(text, sizeof(text), "power-law-%.2f", alpha);
  return text;
}

}  // namespace stepcast::collect

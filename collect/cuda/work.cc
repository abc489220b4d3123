#include "collect/cuda/work.h"

#include <algorithm>
#include <cmath>

namespace stepcast::collect {
namespace {

constexpr int64_t kMostCopies = 8;
// Ids are 64 bits wide.
constexpr double kIdBytes = 8;
// Until a kind is known, taken to do this much, far below the GPUs of data/gpus
// so that little is left out: 1 TFLOP/s, 100 GB/s in memory, and 5 GB/s over
// the link to a host or to other GPUs. In units a microsecond.
constexpr double kSlowFlopUs = 1e6;
constexpr double kSlowMemoryUs = 1e5;
constexpr double kSlowLinkUs = 5e3;
// Times below this share of the longest are mostly overhead and tell nothing of
// speed.
constexpr double kTelling = 0.02;

double Number(int64_t value) {
  return static_cast<double>(value);
}

Work GemmWork(const Point& p) {
  const double batch = Number(p.batch);
  const double m = Number(p.m);
  const double n = Number(p.n);
  const double k = Number(p.k);
  Work work;
  work.flop = 2 * batch * m * n * k;
  work.moved_bytes = Number(SizeOf(p.dtype)) * batch * (m * k + k * n + m * n);
  work.held_bytes = work.moved_bytes;
  return work;
}

Work BagWork(const Point& p) {
  const double ids = Number(p.batch) * Number(p.lookups);
  const double row = Number(p.dim * SizeOf(p.dtype));
  const double out = p.pooling == "none" ? ids : Number(p.batch);
  // A backward pass reads and writes each row it adds to.
  const double touched = p.op == "bwd" ? 2 * ids : ids;
  Work work;
  work.flop = ids * Number(p.dim);
  work.moved_bytes = row * (touched + out) + kIdBytes * ids;
  work.held_bytes = work.moved_bytes + row * Number(p.rows);
  return work;
}

std::string SpeedKey(const Point& point) {
  return std::string(Name(point.kind)) + "/" + point.op + "/" + point.dtype +
         "/" + point.host_memory + "/" + std::to_string(point.ranks);
}

double Amount(const Point& point) {
  const Work work = WorkOf(point);
  return point.kind == Kind::kGemm ? std::max(work.flop, work.moved_bytes)
                                   : work.moved_bytes;
}

}  // namespace

Work WorkOf(const Point& point) {
  Work work;
  switch (point.kind) {
    case Kind::kGemm:
      return GemmWork(point);
    case Kind::kEmbeddingBag:
      return BagWork(point);
    case Kind::kElementwise:
      work.flop = Number(point.rows) * Number(point.dim);
      work.moved_bytes =
          work.flop * Number(SizeOf(point.dtype)) * (point.op == "add" ? 3 : 2);
      break;
    case Kind::kMemcpy:
    case Kind::kCollective:
      work.moved_bytes = 2 * Number(point.bytes);
      break;
    case Kind::kBandwidth:
      work.moved_bytes = Number(point.bytes);
      break;
    case Kind::kLaunch:
      break;
  }
  work.held_bytes = work.moved_bytes;
  return work;
}

int64_t CopiesOf(const Point& point, double rotate_bytes) {
  // Readers of the tables take backward bags as calls with the same ids.
  const bool is_lookup = point.kind == Kind::kEmbeddingBag && point.op == "fwd";
  if (point.kind != Kind::kGemm && point.kind != Kind::kElementwise &&
      !is_lookup) {
    return 1;
  }
  // A table is there once; its calls have ids of their own.
  const double each = std::max(1.0, WorkOf(point).moved_bytes);
  return std::clamp<int64_t>(
      static_cast<int64_t>(std::ceil(rotate_bytes / each)), 1, kMostCopies);
}

void Limits::Learn(const Point& point, double time_us) {
  const double amount = Amount(point);
  if (time_us <= kTelling * longest_us_ || !(amount > 0)) {
    return;
  }
  const double rate = amount / time_us;
  const auto [found, is_new] = rates_.emplace(SpeedKey(point), rate);
  if (!is_new) {
    found->second = std::min(found->second, rate);
  }
}

std::string Limits::ReasonToSkip(const Point& point) const {
  const Work work = WorkOf(point);
  if (work.held_bytes > most_bytes_) {
    return "does not fit";
  }
  const auto rate = rates_.find(SpeedKey(point));
  const bool is_linked =
      !point.host_memory.empty() || point.kind == Kind::kCollective;
  const double slow_us = is_linked ? kSlowLinkUs : kSlowMemoryUs;
  const double expected_us =
      rate != rates_.end()
          ? Amount(point) / rate->second
          : std::max(work.flop / kSlowFlopUs, work.moved_bytes / slow_us);
  return expected_us > longest_us_ ? "takes too long" : "";
}

}  // namespace stepcast::collect

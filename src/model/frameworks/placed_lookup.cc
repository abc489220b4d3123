#include "model/frameworks/placed_lookup.h"

#include <algorithm>
#include <cmath>

#include "model/frameworks/exchange.h"
#include "model/tables/embedding_stats.h"

namespace stepcast::model {
namespace {

constexpr int64_t kIdBytes = 8;

// Rows of the batch that an update touches: distinct ones where ids are known,
// all lookups where they are not.
double UpdatedRows(const TableGroup& group, int64_t batch, uint64_t seed) {
  const double lookups = group.pooling * static_cast<double>(batch);
  const double rows =
      group.ids.kind == IdKind::kUnknown
          ? lookups
          : EmbeddingStats(group.ids, group.rows, seed).UniqueRows(lookups);
  return static_cast<double>(group.count) *
         std::min(rows, static_cast<double>(group.rows));
}

// A row's own numbers and its optimizer's, over its own.
double StateFactor(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kSgd:
    case Optimizer::kRowwiseAdagrad:
      return 1;
    case Optimizer::kAdagrad:
      return 2;
    case Optimizer::kAdam:
      return 3;
  }
  return 1;
}

struct HostTraffic {
  int64_t ids = 0;  // Bytes of ids, of vectors, ...
  int64_t vectors = 0;
  int64_t forward = 0;  // ... and through the host's memory.
  int64_t backward = 0;
};

HostTraffic TrafficOf(std::span<const TableGroup> tables, int64_t batch,
                      Optimizer optimizer, uint64_t seed) {
  HostTraffic traffic;
  double read = 0;
  double updated = 0;
  for (const TableGroup& group : tables) {
    const double row = static_cast<double>(group.dim * kFp32Bytes);
    const double lookups =
        group.pooling * static_cast<double>(group.count * batch);
    read += lookups * row;
    updated +=
        2 * StateFactor(optimizer) * row * UpdatedRows(group, batch, seed);
    traffic.ids += std::llround(lookups) * kIdBytes;
    traffic.vectors += batch * group.count * group.dim * kFp32Bytes;
  }
  traffic.forward = std::llround(read) + traffic.vectors + traffic.ids;
  traffic.backward = std::llround(updated) + traffic.vectors + traffic.ids;
  return traffic;
}

}  // namespace

std::vector<std::vector<TableGroup>> ByPlacement(
    std::span<const TableGroup> tables) {
  std::vector<std::vector<TableGroup>> placed;
  for (const TableGroup& table : tables) {
    const auto same =
        std::ranges::find_if(placed, [&](const std::vector<TableGroup>& list) {
          return list.front().placement == table.placement;
        });
    if (same == placed.end()) {
      placed.push_back({table});
    } else {
      same->push_back(table);
    }
  }
  return placed;
}

bool LookedUpByHost(const TableGroup& table) {
  return table.placement == Placement::kHost ||
         table.placement == Placement::kRemote;
}

void FillCache(StepBuilder& step, const ir::EmbeddingBag& bag) {
  if (bag.place != ir::BagPlace::kManagedCache) {
    return;
  }
  {
    const OpScope op(step, "fbgemm::linearize_cache_indices");
    step.Launch(Stream(bag.lookups, 1, ir::DType::kInt64));
  }
  const OpScope op(step, "fbgemm::lru_cache_populate");
  step.Launch(ir::Sort{.kind = ir::SortKind::kUnique,
                       .elements = bag.lookups,
                       .dtype = ir::DType::kInt64});
  step.Launch(Stream(bag.lookups, 1, ir::DType::kInt64));
  step.Launch(ir::Sort{.kind = ir::SortKind::kSort,
                       .elements = bag.lookups,
                       .dtype = ir::DType::kInt64});
}

void FillCacheByHost(StepBuilder& step, std::span<const TableGroup> tables,
                     int64_t batch, uint64_t seed) {
  int64_t lookups = 0;
  int64_t cached = 0;  // Rows.
  double missing = 0;  // Bytes of rows.
  for (const TableGroup& group : tables) {
    const double ids = group.pooling * static_cast<double>(batch);
    const IdDistribution usual{.kind = IdKind::kZipf, .alpha = kClickLogAlpha};
    const EmbeddingStats stats(
        group.ids.kind == IdKind::kUnknown ? usual : group.ids, group.rows,
        seed);
    const double misses =
        ids *
        (1 - stats.HitRate(group.cache * static_cast<double>(group.rows)));
    missing += static_cast<double>(group.count * group.dim * kFp32Bytes) *
               std::min(misses, stats.UniqueRows(ids));
    lookups += group.count * std::llround(ids);
    cached += group.count *
              std::llround(group.cache * static_cast<double>(group.rows));
  }
  const int64_t bytes = std::llround(missing);
  const OpScope op(step, "CachedParamMgr.prepare_ids");
  const auto sort = [&](ir::SortKind kind, int64_t elements) {
    step.Launch(ir::Sort{
        .kind = kind, .elements = elements, .dtype = ir::DType::kInt64});
  };
  sort(ir::SortKind::kUnique, lookups);
  // Which ids are not cached, and which cached rows are not asked for: each
  // torch.isin makes one list distinct and sorts it with the other.
  for (int i = 0; i < 2; ++i) {
    sort(ir::SortKind::kUnique, lookups);
    sort(ir::SortKind::kSort, lookups + cached);
    step.Launch(Stream(lookups + cached, 1, ir::DType::kInt64));
  }
  step.CopyToHost(kIdBytes);
  if (bytes == 0) {
    return;
  }
  // Rows that go are copied and put back, then others are gathered and copied:
  // each row is read and written in the host's memory.
  step.CopyToHost(bytes, /*pinned=*/true);
  step.WorkOnHost(2 * bytes);
  step.WorkOnHost(2 * bytes);
  step.CopyToDevice(bytes, /*pinned=*/true, /*waits=*/true);
}

void LookUpOnHost(Torch& torch, std::span<const TableGroup> tables,
                  int64_t batch, Optimizer optimizer, uint64_t seed) {
  StepBuilder& step = torch.step();
  const HostTraffic traffic = TrafficOf(tables, batch, optimizer, seed);
  const bool remote = tables.front().placement == Placement::kRemote;
  {
    const OpScope op(step, remote ? "RemoteLookup" : "HostLookup");
    if (remote) {
      step.WaitForServer(traffic.ids);
    }
    step.WorkOnHost(traffic.forward);
    if (remote) {
      step.WaitForServer(traffic.vectors);
    }
    step.CopyToDevice(traffic.vectors, /*pinned=*/true, /*waits=*/false);
  }
  torch.OnBackward([&torch, traffic, remote] {
    const NodeScope node(
        torch, remote ? "RemoteLookupBackward" : "HostLookupBackward");
    torch.step().CopyToHost(traffic.vectors, /*pinned=*/true);
    if (remote) {
      torch.step().WaitForServer(traffic.vectors);
    }
    torch.step().WorkOnHost(traffic.backward);
  });
}

}  // namespace stepcast::model

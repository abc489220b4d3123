#include "learn/fit/collective_points.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "base/stats.h"
#include "hw/cluster.h"
#include "hw/device.h"

namespace stepcast::learn {
namespace {

// A curve must have been measured at as many sizes to be one.
constexpr size_t kLeastSizes = 3;

// Sizes within half an octave on both sides count as one together, but none
// for less than a tenth: 250 sizes of one source must not drown 20 of another,
// and still tell a curve better.
constexpr double kCloseOctaves = 0.5;
constexpr double kLeastWeight = 0.1;

void Weigh(std::vector<SizePoint>& points) {
  for (SizePoint& point : points) {
    const auto close = std::ranges::count_if(points, [&](const SizePoint& p) {
      return std::abs(std::log2(p.wire_bytes / point.wire_bytes)) <
             kCloseOctaves;
    });
    point.weight =
        std::max(kLeastWeight,
                 1.0 / static_cast<double>(std::max<std::ptrdiff_t>(close, 1)));
  }
}

const hw::Node* LargestNaming(std::span<const hw::Node> platforms,
                              const std::string& system) {
  const hw::Node* found = nullptr;
  for (const hw::Node& platform : platforms) {
    // Platforms may name systems of like GPUs; only those of their own count.
    const bool own = system.starts_with(platform.gpu + "/");
    if (own && std::ranges::count(platform.collectives, system) > 0 &&
        (found == nullptr || platform.devices > found->devices)) {
      found = &platform;
    }
  }
  return found;
}

struct OddSystem {
  std::string_view system;
  bool network_only = false;
  std::string_view why;
};
constexpr std::array kOdd = {
    OddSystem{"l40s/single-node", false,
              "from four cards on it runs at a sixth of PCIe and less"},
    OddSystem{"a40/a40_pairwise_nvlink", false,
              "its bridge runs at a fourteenth of its rate"},
    OddSystem{"a100-sxm-80gb/a100_dgx", true,
              "its adapters' rate is only known from these rows"},
    OddSystem{"h100-sxm-80gb/example-cluster00", true,
              "its adapters' rate is only known from these rows"},
};

}  // namespace

cost::CollectiveLoad MeasuredCurve::LoadFor(double wire_bytes) const {
  cost::CollectiveLoad load = cost::EvenLoad(kind, group, wire_bytes);
  load.adds_bytes = adds_bytes;
  return load;
}

cost::CollectiveLoad LoadOf(const CollectiveRow& row) {
  const cost::RankGroup group{.ranks = row.ranks, .nodes = row.nodes};
  cost::CollectiveLoad load = cost::EvenLoad(
      row.kind, group, row.bytes * cost::WirePerByte(row.kind, row.ranks));
  const bool adds = row.kind == ir::CollectiveKind::kAllReduce ||
                    row.kind == ir::CollectiveKind::kReduceScatter;
  load.adds_bytes = adds && ir::SizeOf(row.dtype) == 1;
  return load;
}

std::vector<MeasuredCurve> GroupCurves(const CollectiveRows& rows) {
  using Key = std::tuple<uint16_t, int, int, int, bool>;
  std::map<Key, std::map<double, std::vector<double>>> times;
  for (const CollectiveRow& row : rows.rows) {
    if (PartOf(row) == Part::kTest) {
      continue;
    }
    const cost::CollectiveLoad load = LoadOf(row);
    times[{row.system, static_cast<int>(row.kind), row.nodes, row.ranks,
           load.adds_bytes}][load.wire_bytes]
        .push_back(row.time_us);
  }
  std::vector<MeasuredCurve> curves;
  for (const auto& [key, sizes] : times) {
    if (sizes.size() < kLeastSizes) {
      continue;
    }
    MeasuredCurve curve{
        .system = std::get<0>(key),
        .kind = static_cast<ir::CollectiveKind>(std::get<1>(key)),
        .group = {.ranks = std::get<3>(key), .nodes = std::get<2>(key)},
        .adds_bytes = std::get<4>(key)};
    for (const auto& [bytes, measured] : sizes) {
      curve.points.push_back(
          {.wire_bytes = bytes, .log_us = std::log(Quantile(measured, 0.5))});
      for (const double us : measured) {
        curve.row_bytes.push_back(bytes);
        curve.row_us.push_back(us);
      }
    }
    curve.rows = curve.row_us.size();
    Weigh(curve.points);
    curves.push_back(std::move(curve));
  }
  return curves;
}

Result<std::vector<hw::Cluster>> ClustersOf(const CollectiveRows& rows,
                                            std::span<const hw::Node> more) {
  ASSIGN_OR_RETURN(const std::vector<hw::Node> known, hw::LoadPlatforms());
  std::vector<hw::Cluster> clusters;
  for (const std::string& system : rows.systems) {
    const hw::Node* platform = LargestNaming(more, system);
    if (platform == nullptr) {
      platform = LargestNaming(known, system);
    }
    if (platform == nullptr) {
      return Fail(ErrorCode::kNotFound,
                  fmt::format("no platform names '{}' in 'collectives'; give "
                              "--platform a file that does",
                              system));
    }
    ASSIGN_OR_RETURN(const hw::Device device, hw::FindDevice(platform->gpu));
    ASSIGN_OR_RETURN(hw::Cluster cluster,
                     hw::MakeCluster(*platform, device, platform->devices, 1));
    clusters.push_back(std::move(cluster));
  }
  return clusters;
}

std::string_view WhyOdd(std::string_view system, bool over_network) {
  for (const OddSystem& odd : kOdd) {
    if (odd.system == system && (over_network || !odd.network_only)) {
      return odd.why;
    }
  }
  return {};
}

}  // namespace stepcast::learn

#include "timeline/predicted_plan.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include "timeline/segment_key.h"
#include "timeline/silent_waits.h"

namespace stepcast::timeline {
namespace {

// A segment stalled if it took a millisecond, which is what silent waits begin
// at, and three times the mean of its kind: a choice, above what ranks differ
// by in what they do alike. Means leave stalls out (api/workload.cc, by the
// same limits).
constexpr Duration kStall = std::chrono::milliseconds(1);
constexpr int kStallTimes = 3;

// Looks every name up once.
class Prices {
 public:
  Prices(const ir::GraphData& data, const cost::OverheadTable& table,
         const PlanOptions& options)
      : data_(data), table_(table), options_(options) {}

  struct Price {
    Duration time{};
    cost::OverheadSource source = cost::OverheadSource::kMissing;
  };
  const Price& Of(const SegmentKey& key) {
    const auto found = prices_.find(key);
    if (found != prices_.end()) {
      return found->second;
    }
    const cost::Overhead overhead =
        table_.Lookup(key.part, KeyText(data_, key));
    const double us = options_.profiled ? overhead.row.mean_us
                                        : table_.WithoutProfiler(overhead.row);
    const Price price{.time = FromMicroseconds(us * options_.slowness),
                      .source = overhead.source};
    return prices_.emplace(key, price).first->second;
  }

 private:
  const ir::GraphData& data_;
  const cost::OverheadTable& table_;
  const PlanOptions options_;
  std::map<SegmentKey, Price> prices_;
};

void Count(const ir::GraphData& data, const SegmentKey& key,
           const Prices::Price& price, OverheadCoverage& coverage) {
  OverheadCoverage::Share& share = coverage[price.source];
  ++share.segments;
  share.time += price.time;
  if (price.source != cost::OverheadSource::kExact) {
    OverheadCoverage::Share& name = coverage.not_exact[fmt::format(
        "{} {}", Name(key.part), KeyText(data, key))];
    ++name.segments;
    name.time += price.time;
  }
}

// An execution trace does not record launches: every op that does work gets one
// (trace/build/build_graph.cc), called so.
constexpr std::string_view kExpectedLaunch = "launch";

// The time of launches that an op makes beyond those in the graph: on the host
// that the table is of, it had so many segments between launches. `after` is
// the op's segment after its last launch.
class MoreLaunches {
 public:
  MoreLaunches(const ir::GraphData& data, const cost::OverheadTable& table,
               const PlanOptions& options)
      : data_(data), table_(table), options_(options) {}

  Duration After(std::span<const HostSegment> segments, size_t after) const {
    size_t launches = 0;
    Duration launch{};
    for (size_t i = after; i-- > 0 && segments[i].op == segments[after].op;) {
      if (segments[i].kind == cost::HostKind::kBeforeLaunch) {
        break;
      }
      if (segments[i].kind == cost::HostKind::kCall) {
        ++launches;
        launch = segments[i].duration;
        if (data_.strings.view(data_.calls[segments[i].call].name) !=
            kExpectedLaunch) {
          return {};
        }
      }
    }
    const std::string_view name =
        data_.strings.view(data_.ops[segments[after].op].name);
    const auto before = table_.Lookup(cost::HostKind::kBeforeLaunch, name);
    const auto between = table_.Lookup(cost::HostKind::kBetweenLaunches, name);
    if (before.source != cost::OverheadSource::kExact ||
        between.source != cost::OverheadSource::kExact ||
        before.row.count <= 0) {
      return {};
    }
    const double more = static_cast<double>(between.row.count) /
                            static_cast<double>(before.row.count) +
                        1 - static_cast<double>(launches);
    const double us = options_.profiled ? between.row.mean_us
                                        : table_.WithoutProfiler(between.row);
    return FromMicroseconds(std::max(more, 0.0) *
                            (us * options_.slowness + ToMicroseconds(launch)));
  }

 private:
  const ir::GraphData& data_;
  const cost::OverheadTable& table_;
  const PlanOptions options_;
};

// Which segments of each thread are silent waits; only measured times tell.
std::vector<std::vector<bool>> SilentSegments(const ir::Graph& graph,
                                              const HostPlan& plan) {
  std::vector<std::vector<bool>> silent;
  for (const std::vector<HostSegment>& segments : plan.threads) {
    silent.emplace_back(segments.size());
  }
  if (graph.is_timed()) {
    for (const SilentWait& wait : FindSilentWaits(graph.data(), plan)) {
      silent[wait.thread.value][wait.segment] = true;
    }
  }
  return silent;
}

}  // namespace

HostPlan PredictedPlan(const ir::Graph& graph, const cost::OverheadTable& table,
                       const PlanOptions& options, OverheadCoverage* coverage) {
  const ir::GraphData& data = graph.data();
  HostPlan plan = !graph.is_timed() ? OrderedPlan(data)
                  : options.steady  ? SteadyPlan(data)
                                    : MeasuredPlan(data);
  const std::vector<std::vector<bool>> silent = SilentSegments(graph, plan);
  OverheadCoverage unused;
  OverheadCoverage& counted = coverage != nullptr ? *coverage : unused;
  Prices prices(data, table, options);
  const MoreLaunches more(data, table, options);
  for (const ir::ThreadId thread : data.threads.ids()) {
    const std::vector<SegmentKey> keys = KeysOf(data, plan, thread);
    const std::vector<bool> opening = OpeningSegments(data, plan, thread);
    std::vector<HostSegment>& segments = plan.threads[thread];
    for (size_t i = 0; i < segments.size(); ++i) {
      HostSegment& segment = segments[i];
      if (silent[thread.value][i]) {
        ++counted.kept.segments;
        counted.kept.time += segment.duration;
        continue;
      }
      segment.tail = {};
      if (opening[i]) {
        segment.duration = {};
        continue;
      }
      const Prices::Price& price = prices.Of(keys[i]);
      if (options.keep_stalls && segment.duration >= kStall &&
          segment.duration > price.time * kStallTimes) {
        ++counted.kept.segments;
        counted.kept.time += segment.duration;
        continue;
      }
      segment.duration = price.time;
      Count(data, keys[i], price, counted);
      if (segment.kind == cost::HostKind::kAfterLaunch && !graph.is_timed()) {
        segment.duration += more.After(segments, i);
      }
      if (keys[i].word == KeyWord::kBlocking) {
        SegmentKey tail = keys[i];
        tail.part = cost::OverheadPart::kSyncTail;
        segment.tail = prices.Of(tail).time;
      }
    }
  }
  return plan;
}

}  // namespace stepcast::timeline

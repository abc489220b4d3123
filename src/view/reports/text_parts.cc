#include "view/reports/text_parts.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/text/join.h"
#include "base/text/text_table.h"
#include "view/reports/breakdown.h"

namespace stepcast::view {
namespace {

using engine::LimitKind;

// ", mostly by memory": what most of the kernels' time is bound by.
std::string KernelsText(const engine::StepLimits& limits) {
  constexpr double kMost = 0.5;
  if (!limits.kernels) {
    return "";
  }
  const engine::KernelBounds& kernels = *limits.kernels;
  return kernels.compute > kMost   ? ", mostly by arithmetic"
         : kernels.memory > kMost  ? ", mostly by memory"
         : kernels.latency > kMost ? ", mostly by the latency of kernels"
                                   : "";
}

std::string BoundText(const engine::StepLimits& limits, bool server) {
  switch (limits.bound) {
    case LimitKind::kHost:
      return "host-bound";
    case LimitKind::kLaunch:
      return "launch-bound";
    case LimitKind::kKernels:
      return server ? "bound by its operators"
                    : fmt::format("GPU-bound{}", KernelsText(limits));
    case LimitKind::kCopies:
      return "bound by copies";
    case LimitKind::kCollectives:
      return "communication-bound";
    case LimitKind::kRanks:
      return limits.why.empty() ? fmt::format("held up by rank {}", limits.rank)
                                : fmt::format("held up by rank {} ({})",
                                              limits.rank, limits.why);
    case LimitKind::kData:
      break;
  }
  return "bound by loading data";
}

// What is free, if a step gets shorter by its slack.
struct FreePart {
  Duration slack{};
  std::string_view what{};
};

// What limits the step comes first, then the largest of the others.
std::vector<FreePart> FreeParts(const engine::StepLimits& limits, bool server) {
  const auto slack = [&](LimitKind kind) {
    const engine::Limit* const limit = limits.Find(kind);
    return limit == nullptr ? Duration{} : limit->slack;
  };
  std::vector<FreePart> parts = {
      {limits.device_slack,
       server ? "operators took no time" : "the GPU took no time"},
      {limits.host_slack, "the host took no time"},
      {slack(LimitKind::kCollectives), "collectives took no time"},
      {slack(LimitKind::kRanks), "no rank took longer than the median one"},
      {slack(LimitKind::kData), "loading data took no time"}};
  const size_t first = [&]() -> size_t {
    switch (limits.bound) {
      case LimitKind::kKernels:
      case LimitKind::kCopies:
        return 0;
      case LimitKind::kHost:
      case LimitKind::kLaunch:
        return 1;
      case LimitKind::kCollectives:
        return 2;
      case LimitKind::kRanks:
        return 3;
      case LimitKind::kData:
        break;
    }
    return 4;
  }();
  std::swap(parts[0], parts[first]);
  std::stable_sort(
      parts.begin() + 1, parts.end(),
      [](const FreePart& a, const FreePart& b) { return a.slack > b.slack; });
  return parts;
}

// "kernels' time: 61 % bound by arithmetic, ..."
std::string BoundsText(const engine::StepLimits& limits) {
  // With hardly any sizes there is nothing to tell.
  constexpr double kLeastKnown = 0.1;
  if (!limits.kernels || limits.kernels->compute + limits.kernels->memory +
                                 limits.kernels->latency <
                             kLeastKnown) {
    return "";
  }
  const engine::KernelBounds& kernels = *limits.kernels;
  return fmt::format(
      "kernels by time: {} arithmetic, {} memory, {} latency, {} of unknown "
      "sizes",
      PercentText(kernels.compute), PercentText(kernels.memory),
      PercentText(kernels.latency), PercentText(kernels.unknown));
}

std::string_view LimitText(LimitKind kind, bool server) {
  switch (kind) {
    case LimitKind::kHost:
      return "host, besides launches";
    case LimitKind::kLaunch:
      return "launches and gaps";
    case LimitKind::kKernels:
      return server ? "operators" : "kernels";
    case LimitKind::kCopies:
      return "copies and memsets";
    case LimitKind::kCollectives:
      return "collectives";
    case LimitKind::kRanks:
      return "longer than the median rank";
    case LimitKind::kData:
      break;
  }
  return "loading data";
}

}  // namespace

std::string Verdict(const engine::StepLimits& limits,
                    const engine::RankAccount& account, bool server) {
  const std::vector<FreePart> parts = FreeParts(limits, server);
  std::string text = fmt::format(
      "{}: {} shorter if {}, {} if {}; {} {} of the step",
      BoundText(limits, server), PercentText(parts[0].slack, account.step),
      parts[0].what, PercentText(parts[1].slack, account.step), parts[1].what,
      server ? "the processors are active" : "the GPU is active",
      PercentText(account.gpu_active, account.step));
  if (const auto kernels = KernelTimes(account); !kernels.empty()) {
    text += fmt::format(", most of its kernels are {}", kernels.front().first);
  }
  return text;
}

void AddLimits(const engine::StepLimits& limits, Duration step, bool server,
               Doc& doc) {
  doc.blocks.emplace_back(
      Facts{{{.key = "limits.bound"}, std::string(Name(limits.bound))},
            {{.key = "limits.rank"}, limits.rank},
            {{.key = "limits.why"}, limits.why},
            {{.key = "limits.host_slack_us"}, limits.host_slack},
            {{.key = "limits.device_slack_us"}, limits.device_slack}});
  if (limits.kernels) {
    const engine::KernelBounds& kernels = *limits.kernels;
    doc.blocks.emplace_back(
        Facts{{{.key = "limits.kernels.compute"}, Share{kernels.compute}},
              {{.key = "limits.kernels.memory"}, Share{kernels.memory}},
              {{.key = "limits.kernels.latency"}, Share{kernels.latency}},
              {{.key = "limits.kernels.unknown"}, Share{kernels.unknown}}});
  }
  Table table{.key = "limits.parts",
              .title = "what limits the step",
              .caption = BoundsText(limits),
              .about =
                  "Slack: how much shorter the step gets if this part alone "
                  "takes no time. Parts run at the same time, so their times "
                  "may exceed the step.",
              .columns = {{.key = "part"},
                          {.label = "part"},
                          {.key = "time_us", .label = "time"},
                          {.key = "slack_us", .label = "slack"},
                          {.label = "of the step"}}};
  for (const engine::Limit& limit : limits.limits) {
    table.rows.push_back({std::string(Name(limit.kind)),
                          std::string(LimitText(limit.kind, server)),
                          limit.time, limit.slack, ShareOf(limit.slack, step)});
  }
  doc.blocks.emplace_back(std::move(table));
}

std::string AlikeText(std::span<const engine::RankAccount> accounts) {
  if (accounts.size() == 1 && accounts.front().alike > 1) {
    return fmt::format("rank {} stands for all {}, which are alike",
                       accounts.front().rank,
                       WithThousands(accounts.front().alike));
  }
  constexpr size_t kMost = 8;
  std::vector<std::string> texts;
  size_t more = 0;
  for (const engine::RankAccount& account : accounts) {
    if (account.alike > 1 && texts.size() == kMost) {
      ++more;
    } else if (account.alike > 1) {
      texts.push_back(fmt::format("rank {} {}{} alike", account.rank,
                                  texts.empty() ? "stands for " : "for ",
                                  WithThousands(account.alike)));
    }
  }
  if (more > 0) {
    texts.push_back(fmt::format("{} more likewise", more));
  }
  return Join(texts, ", ");
}

std::string RankName(const engine::RankAccount& account) {
  return account.alike > 1
             ? fmt::format("rank {} × {}", account.rank, account.alike)
             : fmt::format("rank {}", account.rank);
}

std::string MillisecondsText(Duration time) {
  return fmt::format("{:.3f}", ToMilliseconds(time));
}

std::string MillisecondsText(double us) {
  return fmt::format("{:.3f}", us / 1e3);
}

std::string PercentText(double share) {
  return fmt::format("{:.1f} %", share * 100);
}

std::string PercentText(Duration part, Duration whole) {
  if (whole <= Duration{}) {
    return "-";
  }
  return PercentText(static_cast<double>(part.count()) /
                     static_cast<double>(whole.count()));
}

std::string BytesText(Bytes bytes) {
  if (bytes.count <= 0) {
    return "-";
  }
  constexpr std::array<std::string_view, 5> kUnits = {"B", "kB", "MB", "GB",
                                                      "TB"};
  auto value = static_cast<double>(bytes.count);
  size_t unit = 0;
  while (value >= 1000 && unit + 1 < kUnits.size()) {
    value /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 1, kUnits[unit]);
}

std::string CountText(int64_t count, std::string_view singular) {
  return fmt::format("{} {}{}", WithThousands(count), singular,
                     count == 1 ? "" : "s");
}

std::string CountText(int64_t count, std::string_view singular,
                      std::string_view plural) {
  return fmt::format("{} {}", WithThousands(count),
                     count == 1 ? singular : plural);
}

}  // namespace stepcast::view

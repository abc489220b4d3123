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

using engine::PathKind;

struct Bound {
  Duration time{};
  std::string text{};
};

// The path begins on the rank that the others waited for.
std::string LateStart(const PathSummary& path) {
  return path.hops.size() > 1
             ? fmt::format("held up by rank {}, which starts late",
                           path.hops.front().rank)
             : "held up before its step began";
}

}  // namespace

std::string Verdict(const PathSummary& path, const engine::RankAccount& account,
                    std::string_view active) {
  const auto on_path = [&](PathKind kind) {
    return path.kinds[static_cast<size_t>(kind)];
  };
  // Launching and coming back from a wait are the host's as well: a faster GPU
  // would not shorten them.
  const std::array<Bound, 7> bounds = {{
      {on_path(PathKind::kHost) + on_path(PathKind::kLaunch) +
           on_path(PathKind::kSync),
       "bound by the host"},
      {on_path(PathKind::kKernel), "bound by kernels"},
      {on_path(PathKind::kCollective), "bound by communication"},
      {on_path(PathKind::kCopy), "bound by copies"},
      {path.waits.step_start, LateStart(path)},
      {path.waits.thread_start, "held up by a thread that starts late"},
      {path.waits.step_before, "held up by work of the step before"},
  }};
  const Bound& most = *std::ranges::max_element(bounds, {}, &Bound::time);
  std::string text =
      fmt::format("{}: {} of the critical path; {} {} of the step", most.text,
                  PercentText(most.time, path.length), active,
                  PercentText(account.gpu_active, account.step));
  if (const auto kernels = KernelTimes(account); !kernels.empty()) {
    text += fmt::format(", most of its kernels are {}", kernels.front().first);
  }
  return text;
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

#include "report/step_details_text.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/text_table.h"
#include "ir/names.h"
#include "report/text_parts.h"

namespace stepcast::report {
namespace {

using engine::CollectiveBlame;

// How many rows are shown; the JSON has them all.
constexpr size_t kCollectives = 12;
constexpr size_t kHops = 12;
constexpr size_t kLongest = 10;
constexpr size_t kUnexplained = 5;
constexpr size_t kPathNameWidth = 60;

std::string MoreText(size_t all, size_t shown) {
  return shown < all ? fmt::format("  and {} more\n", all - shown) : "";
}

std::string HopText(const PathHop& hop,
                    const std::map<ir::CollectiveId, size_t>& indices) {
  std::vector<std::string> parts;
  for (const PathShare& share : hop.most) {
    constexpr int kTenth = 10;
    if (share.time * kTenth >= hop.end - hop.begin) {
      parts.push_back(
          fmt::format("{} {}", MillisecondsText(share.time),
                      ElideMiddle(Printable(share.what), kPathNameWidth)));
    }
  }
  std::string text = Joined(parts);
  if (hop.collective) {
    const auto found = indices.find(*hop.collective);
    text += found == indices.end()
                ? "; the next waits for it"
                : fmt::format("; the next waits for it in #{}", found->second);
  }
  return text;
}

std::string HopTable(const StepDetails& details) {
  std::map<ir::CollectiveId, size_t> indices;
  for (size_t i = 0; i < details.collectives.size(); ++i) {
    indices[details.collectives[i].id] = i;
  }
  TextTable table({Align::kRight, Align::kRight, Align::kRight, Align::kLeft},
                  "  ");
  table.AddRow({"at ms", "ms", "on rank", "mostly"});
  const std::vector<PathHop>& hops = details.path.hops;
  const size_t shown = std::min(hops.size(), kHops);
  for (size_t i = 0; i < shown; ++i) {
    table.AddRow({MillisecondsText(hops[i].begin),
                  MillisecondsText(hops[i].end - hops[i].begin),
                  fmt::format("{}", hops[i].rank), HopText(hops[i], indices)});
  }
  return table.ToString() + MoreText(hops.size(), shown);
}

}  // namespace

std::string StepText(const std::optional<int64_t>& step) {
  return step ? fmt::format("step {}", *step) : "the step";
}

std::string CollectiveText(const StepDetails& details) {
  if (details.collectives.empty()) {
    return "";
  }
  // Of many, those that cost most, in their order.
  std::vector<size_t> shown(details.collectives.size());
  for (size_t i = 0; i < shown.size(); ++i) {
    shown[i] = i;
  }
  if (shown.size() > kCollectives) {
    std::ranges::stable_sort(shown, [&](size_t a, size_t b) {
      return details.collectives[a].start_skew >
             details.collectives[b].start_skew;
    });
    shown.resize(kCollectives);
    std::ranges::sort(shown);
  }
  TextTable table({Align::kRight, Align::kLeft, Align::kRight, Align::kRight,
                   Align::kRight, Align::kLeft},
                  "  ");
  table.AddRow({"#", "kind", "own us", "start skew us", "last rank",
                "why the last rank came late"});
  for (const size_t i : shown) {
    const CollectiveBlame& item = details.collectives[i];
    table.AddRow({fmt::format("{}", i), std::string(ir::Name(item.kind)),
                  MicrosecondsText(item.own), MicrosecondsText(item.start_skew),
                  fmt::format("{}", item.last_rank), Printable(item.blame)});
  }
  return fmt::format(
      "\ncollectives of {}; own: once all ranks are there; start skew: how "
      "long the first rank waits\n{}{}",
      StepText(details.step), table.ToString(),
      MoreText(details.collectives.size(), shown.size()));
}

std::string PathText(const StepDetails& details) {
  const PathSummary& path = details.path;
  std::string text = fmt::format(
      "\nwhat decided the length of {}: {} ms to the end of rank {}: {}\n",
      StepText(details.step), MillisecondsText(path.length), details.path_rank,
      PathKindsText(path.kinds, path.length));
  if (path.hops.size() > 1) {
    text += HopTable(details);
  }
  TextTable table(
      {Align::kRight, Align::kRight, Align::kRight, Align::kLeft, Align::kLeft},
      "  ");
  table.AddRow({"ms", "share", "times", "kind", "longest on this path"});
  const size_t shown = std::min(path.longest.size(), kLongest);
  for (size_t i = 0; i < shown; ++i) {
    const PathShare& share = path.longest[i];
    table.AddRow({MillisecondsText(share.time),
                  PercentText(share.time, path.length),
                  WithThousands(static_cast<int64_t>(share.times)),
                  std::string(Name(share.kind)),
                  ElideMiddle(Printable(share.what), kPathNameWidth)});
  }
  return text + table.ToString();
}

std::string UnexplainedText(const StepDetails& details) {
  std::string text;
  if (details.unexplained.empty()) {
    text =
        fmt::format("\nnothing of {} is unexplained\n", StepText(details.step));
  } else {
    TextTable table({Align::kRight, Align::kRight, Align::kRight, Align::kLeft},
                    "  ");
    table.AddRow({"us", "rank", "at ms", "what"});
    const size_t shown = std::min(details.unexplained.size(), kUnexplained);
    for (size_t i = 0; i < shown; ++i) {
      const engine::Unexplained& item = details.unexplained[i];
      table.AddRow({MicrosecondsText(item.time), fmt::format("{}", item.rank),
                    MillisecondsText(item.at),
                    ElideMiddle(Printable(item.what), 2 * kPathNameWidth)});
    }
    text = fmt::format(
        "\nunexplained in {}: time that nothing in the trace "
        "gives a cause for\n{}{}",
        StepText(details.step), table.ToString(),
        MoreText(details.unexplained.size(), shown));
  }
  if (details.unplaced > 0) {
    text += fmt::format(
        "  {} without a time left out\n",
        CountText(static_cast<int64_t>(details.unplaced), "op or call"));
  }
  return text;
}

}  // namespace stepcast::report

#include "api/input.h"

#include <charconv>
#include <filesystem>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/diagnostics.h"
#include "base/join.h"
#include "hw/device.h"
#include "hw/gpu_names.h"
#include "ingest/build_graph.h"

namespace stepcast::api {
namespace {

std::vector<std::filesystem::path> Paths(
    const std::vector<std::string>& names) {
  return {names.begin(), names.end()};
}

Status KeepRank(int64_t rank, ingest::Loaded& loaded) {
  std::vector<std::string> known;
  for (const ingest::RankTrace& trace : loaded.ranks) {
    known.push_back(fmt::format("{}", trace.rank));
  }
  std::erase_if(loaded.ranks, [&](const ingest::RankTrace& trace) {
    return trace.rank != rank;
  });
  if (loaded.ranks.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("--rank is {}; expected one of those found: {}",
                            rank, Join(known, ", ")));
  }
  return {};
}

}  // namespace

Result<Input> LoadInput(const scenario::Scenario& scenario,
                        const Options& options, bool allow_duplicates) {
  if (scenario.workload.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "no file given; expected one or more traces");
  }
  ASSIGN_OR_RETURN(const auto rank, ParseNumber("--rank", scenario.rank, 0));
  options.Tell("reading traces");
  Input input;
  ASSIGN_OR_RETURN(input.rules, ingest::Rules::Load(Paths(scenario.rules)));
  ASSIGN_OR_RETURN(input.loaded,
                   ingest::Load(Paths(scenario.workload), input.rules,
                                {.threads = options.threads,
                                 .allow_duplicates = allow_duplicates}));
  if (rank) {
    RETURN_IF_ERROR(KeepRank(*rank, input.loaded));
  }
  RETURN_IF_ERROR(options.Check());
  return input;
}

Result<TraceInput> LoadTrace(const scenario::Scenario& scenario,
                             const Options& options) {
  ASSIGN_OR_RETURN(Input input,
                   LoadInput(scenario, options, /*allow_duplicates=*/false));
  ASSIGN_OR_RETURN(const auto step, ParseNumber("--step", scenario.step, 0));
  Diagnostics diagnostics;
  ASSIGN_OR_RETURN(ir::Graph graph,
                   ingest::BuildGraph(input.loaded.ranks, input.rules,
                                      {.step = step}, diagnostics));
  return TraceInput{.input = std::move(input), .graph = std::move(graph)};
}

Result<std::string> RecordedGpu(const ir::Graph& graph) {
  const std::vector<std::string>& names = hw::GpuNames();
  for (const ir::Rank& rank : graph.data().ranks) {
    if (auto nearest = hw::NearestGpu(graph.text(rank.gpu), names)) {
      return *std::move(nearest);
    }
  }
  return Fail(ErrorCode::kInvalidInput,
              "the trace does not name a GPU we know; expected --gpu NAME");
}

Result<std::optional<int64_t>> ParseNumber(std::string_view option,
                                           const std::string& text,
                                           int64_t least) {
  if (text.empty()) {
    return std::nullopt;
  }
  int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || stop != end || number < least) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{} is '{}'; expected a whole number, {} or more",
                            option, text, least));
  }
  return number;
}

}  // namespace stepcast::api

#include "ingest/load.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/parallel.h"
#include "ingest/execution_steps.h"
#include "ingest/find_inputs.h"
#include "ingest/formats.h"
#include "ingest/oddities.h"
#include "ingest/rank_name.h"

namespace stepcast::ingest {
namespace {

// One file, read and linked.
struct Part {
  enum class Kind { kProfiler, kExecution, kGraph };

  std::string name;
  Kind kind = Kind::kGraph;
  std::optional<LinkedTrace> profiler{};
  std::optional<ExecutionTrace> execution{};
  std::optional<ir::Graph> graph{};
  std::optional<int64_t> rank{};
  Diagnostics diagnostics{};
};

std::string_view KindName(Part::Kind kind) {
  switch (kind) {
    case Part::Kind::kProfiler:
      return "profiler traces";
    case Part::Kind::kExecution:
      return "execution traces";
    case Part::Kind::kGraph:
      return "graphs";
  }
  return "";
}

Result<Part> ReadPart(const TraceInput& input, const Rules& rules) {
  Part part{.name = input.name};
  auto read = input.in_memory
                  ? ReadTrace(input.bytes, input.name, part.diagnostics)
                  : ReadTrace(input.path, part.diagnostics);
  if (!read) {
    return tl::unexpected(std::move(read).error());
  }
  if (read->profiler) {
    part.kind = Part::Kind::kProfiler;
    part.rank = read->profiler->info.rank;
    part.profiler = Link(*std::move(read->profiler), rules, part.diagnostics);
  } else if (read->execution) {
    part.kind = Part::Kind::kExecution;
    part.rank = read->execution->info.rank;
    part.execution = std::move(read->execution);
    part.execution->steps = FindExecutionSteps(*part.execution, rules);
  } else {
    part.graph = std::move(read->graph);
  }
  if (!part.rank) {
    part.rank = RankFromName(input.name);
  }
  return part;
}

// Reads all files; what turns out to be no trace is left out if it was only
// found in a directory. The first failure in order counts.
Result<std::vector<Part>> ReadParts(const std::vector<TraceInput>& inputs,
                                    const Rules& rules, size_t threads,
                                    Diagnostics& diagnostics) {
  std::vector<std::optional<Result<Part>>> slots(inputs.size());
  ParallelFor(inputs.size(), threads,
              [&](size_t i) { slots[i] = ReadPart(inputs[i], rules); });
  std::vector<Part> parts;
  for (size_t i = 0; i < slots.size(); ++i) {
    Result<Part>& part = *slots[i];
    if (part) {
      parts.push_back(*std::move(part));
    } else if (inputs[i].listed &&
               part.error().code == ErrorCode::kUnsupported) {
      diagnostics.Add(kIgnoredFile, inputs[i].name);
    } else {
      return tl::unexpected(std::move(part).error());
    }
  }
  if (parts.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{}: none of the {} files there is a trace",
                            inputs.front().name, inputs.size()));
  }
  return parts;
}

// Gives a rank to files that tell none: the free numbers in order of names.
void GuessRanks(std::vector<Part>& parts, Diagnostics& diagnostics) {
  std::map<Part::Kind, std::set<int64_t>> taken;
  std::map<Part::Kind, int64_t> counts;
  for (const Part& part : parts) {
    ++counts[part.kind];
    if (part.rank) {
      taken[part.kind].insert(*part.rank);
    }
  }
  for (Part& part : parts) {
    if (part.rank) {
      continue;
    }
    int64_t rank = 0;
    while (!taken[part.kind].insert(rank).second) {
      ++rank;
    }
    part.rank = rank;
    if (counts[part.kind] > 1) {
      diagnostics.Add(kRankGuessed,
                      fmt::format("{} as rank {}", part.name, rank));
    }
  }
}

// A lone pair of files belongs together even if only one tells its rank.
void JoinLonePair(std::vector<Part>& parts) {
  if (parts.size() != 2 || parts[0].kind == parts[1].kind ||
      parts[0].kind == Part::Kind::kGraph ||
      parts[1].kind == Part::Kind::kGraph) {
    return;
  }
  Part& profiler = parts[parts[0].kind == Part::Kind::kProfiler ? 0 : 1];
  Part& execution = parts[parts[0].kind == Part::Kind::kProfiler ? 1 : 0];
  const bool told = profiler.profiler->trace.info.rank.has_value();
  if (told || !execution.execution->info.rank) {
    execution.rank = profiler.rank;
  } else {
    profiler.rank = execution.rank;
  }
}

bool HasKind(const RankTrace& rank, Part::Kind kind) {
  switch (kind) {
    case Part::Kind::kProfiler:
      return rank.profiler.has_value();
    case Part::Kind::kExecution:
      return rank.execution.has_value();
    case Part::Kind::kGraph:
      return rank.graph.has_value();
  }
  return false;
}

void AddPart(RankTrace& rank, Part part) {
  rank.rank = *part.rank;
  rank.paths.push_back(std::move(part.name));
  rank.diagnostics.Merge(part.diagnostics);
  switch (part.kind) {
    case Part::Kind::kProfiler:
      rank.profiler = std::move(part.profiler);
      return;
    case Part::Kind::kExecution:
      rank.execution = std::move(part.execution);
      return;
    case Part::Kind::kGraph:
      rank.graph = std::move(part.graph);
      return;
  }
}

Result<std::vector<RankTrace>> GroupByRank(std::vector<Part> parts,
                                           bool allow_duplicates) {
  std::ranges::stable_sort(parts, {}, [](const Part& part) {
    return std::pair(*part.rank, part.kind);
  });
  std::vector<RankTrace> ranks;
  for (Part& part : parts) {
    const bool same_rank = !ranks.empty() && ranks.back().rank == *part.rank &&
                           part.kind != Part::Kind::kGraph &&
                           !ranks.back().graph;
    if (same_rank && !HasKind(ranks.back(), part.kind)) {
      AddPart(ranks.back(), std::move(part));
      continue;
    }
    if (!ranks.empty() && ranks.back().rank == *part.rank &&
        !allow_duplicates) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{} and {} are both {} of rank {}; expected one "
                              "a rank",
                              ranks.back().paths.back(), part.name,
                              KindName(part.kind), *part.rank));
    }
    AddPart(ranks.emplace_back(), std::move(part));
  }
  return ranks;
}

std::optional<int64_t> WorldSize(const RankTrace& rank) {
  if (rank.profiler && rank.profiler->trace.info.world_size) {
    return rank.profiler->trace.info.world_size;
  }
  return rank.execution ? rank.execution->info.world_size : std::nullopt;
}

void CountMissing(const std::vector<RankTrace>& ranks,
                  Diagnostics& diagnostics) {
  std::set<int64_t> present;
  int64_t world = 0;
  for (const RankTrace& rank : ranks) {
    present.insert(rank.rank);
    world = std::max(world, WorldSize(rank).value_or(0));
  }
  // With gaps the job had at least as many ranks as the largest number tells.
  if (ranks.size() > 1) {
    world = std::max(world, *present.rbegin() + 1);
  }
  const auto missing = world - static_cast<int64_t>(present.size());
  if (missing <= 0) {
    return;
  }
  for (int64_t rank = 0, shown = 0; rank < world && shown < 3; ++rank) {
    if (!present.contains(rank)) {
      diagnostics.Add(kMissingRanks, fmt::format("rank {}", rank));
      ++shown;
    }
  }
  diagnostics.Add(kMissingRanks, {},
                  missing - diagnostics.count(kMissingRanks));
}

}  // namespace

Result<Loaded> Load(std::span<const std::filesystem::path> paths,
                    const Rules& rules, const LoadOptions& options) {
  Loaded loaded;
  ASSIGN_OR_RETURN(const auto inputs, FindInputs(paths));
  ASSIGN_OR_RETURN(auto parts, ReadParts(inputs, rules, options.threads,
                                         loaded.diagnostics));
  JoinLonePair(parts);
  GuessRanks(parts, loaded.diagnostics);
  ASSIGN_OR_RETURN(loaded.ranks,
                   GroupByRank(std::move(parts), options.allow_duplicates));
  ParallelFor(loaded.ranks.size(), options.threads, [&](size_t i) {
    RankTrace& rank = loaded.ranks[i];
    if (rank.profiler && rank.execution) {
      rank.pairing =
          Pair(*rank.profiler, *rank.execution, rules, rank.diagnostics);
    }
  });
  CountMissing(loaded.ranks, loaded.diagnostics);
  return loaded;
}

}  // namespace stepcast::ingest

#include "trace/read/load.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/files/tar.h"
#include "base/parallel.h"
#include "base/result.h"
#include "trace/build/phases.h"
#include "trace/build/profiler_graph.h"
#include "trace/link/execution_steps.h"
#include "trace/read/formats.h"
#include "trace/read/oddities.h"

namespace stepcast::trace {
namespace {

// Ranks of the largest jobs have six digits; longer numbers are dates or
// process ids.
constexpr size_t kMostDigits = 6;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

std::optional<int64_t> NumberAt(std::string_view text, size_t at) {
  size_t end = at;
  while (end < text.size() && IsDigit(text[end])) {
    ++end;
  }
  if (end == at || end - at > kMostDigits) {
    return std::nullopt;
  }
  int64_t number = 0;
  std::from_chars(text.data() + at, text.data() + end, number);
  return number;
}

// The number after the last "rank" or "worker", with one separator or none.
std::optional<int64_t> NumberAfter(std::string_view text,
                                   std::string_view word) {
  for (size_t at = text.rfind(word); at != std::string_view::npos;
       at = at == 0 ? std::string_view::npos : text.rfind(word, at - 1)) {
    size_t next = at + word.size();
    if (next < text.size() &&
        std::string_view("-_.=").find(text[next]) != std::string_view::npos) {
      ++next;
    }
    if (const auto number = NumberAt(text, next)) {
      return number;
    }
  }
  return std::nullopt;
}

// The last number on its own between separators: dlrm_eg_3_plus. The parts of a
// version (1.0.1) do not count.
std::optional<int64_t> LoneNumber(std::string_view name) {
  const auto separates = [&](size_t at) {
    return at >= name.size() ||
           std::string_view("-_.").find(name[at]) != std::string_view::npos;
  };
  const auto digit_at = [&](size_t at) {
    return at < name.size() && IsDigit(name[at]);
  };
  std::optional<int64_t> found;
  for (size_t at = 0; at < name.size(); ++at) {
    if (!IsDigit(name[at])) {
      continue;
    }
    size_t end = at;
    while (digit_at(end)) {
      ++end;
    }
    const bool in_version =
        (end < name.size() && name[end] == '.' && digit_at(end + 1)) ||
        (at >= 2 && name[at - 1] == '.' && digit_at(at - 2));
    if (separates(end) && (at == 0 || separates(at - 1)) && !in_version) {
      const auto number = NumberAt(name, at);
      found = number ? number : found;
    }
    at = end;
  }
  return found;
}

}  // namespace

std::optional<int64_t> RankFromName(std::string_view path) {
  std::string lower(path);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) {
    return static_cast<char>(std::tolower(c));
  });
  const size_t slash = lower.rfind('/');
  const std::string_view name = std::string_view(lower).substr(
      slash == std::string::npos ? 0 : slash + 1);
  for (const std::string_view word : {"rank", "worker"}) {
    if (const auto number = NumberAfter(name, word)) {
      return number;
    }
  }
  if (const auto number = LoneNumber(name)) {
    return number;
  }
  // A folder a rank: rank3/trace.json.
  return NumberAfter(lower, "rank");
}

namespace {

// The trace files after the paths a user gives.

// A file on disk, or a member of an archive already in memory.
struct TraceInput {
  std::string name;  // For messages: "run.tar.gz/rank0.json".
  std::filesystem::path path{};
  std::string bytes{};
  bool in_memory = false;
  bool listed = false;  // Found in a directory or archive, not named.
};

// Directories are searched with their subfolders, archives (.tar, .tar.gz)
// opened; found files come in the order of their names, hidden ones left out.
Result<std::vector<TraceInput>> FindInputs(
    std::span<const std::filesystem::path> paths);

namespace fs = std::filesystem;

constexpr size_t kTarHead = 512;

// A guard against pointing at a home directory by mistake.
constexpr size_t kMostFiles = 100'000;

Result<std::vector<TraceInput>> ListDirectory(const fs::path& directory) {
  std::vector<TraceInput> inputs;
  std::error_code error;
  fs::recursive_directory_iterator entry(directory, error);
  for (; !error && entry != fs::recursive_directory_iterator();
       entry.increment(error)) {
    if (entry->path().filename().string().starts_with(".")) {
      entry.disable_recursion_pending();
      continue;
    }
    if (entry->is_regular_file(error)) {
      inputs.push_back({.name = entry->path().string(),
                        .path = entry->path(),
                        .listed = true});
    }
    if (inputs.size() > kMostFiles) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{}: holds more than {} files; expected a "
                              "directory with one trace per rank",
                              directory.string(), kMostFiles));
    }
  }
  if (error) {
    return Fail(ErrorCode::kIo,
                fmt::format("{}: cannot list: {}", directory.string(),
                            error.message()));
  }
  std::ranges::sort(inputs, {}, &TraceInput::name);
  return inputs;
}

Result<bool> IsArchive(const fs::path& path) {
  ASSIGN_OR_RETURN(const auto source, OpenFile(path));
  std::array<char, kTarHead> head{};
  size_t filled = 0;
  while (filled < head.size()) {
    const auto got = source->Read(std::span(head).subspan(filled));
    if (!got || *got == 0) {
      break;  // The reader of the file will say what is wrong with it.
    }
    filled += *got;
  }
  return SniffTar(std::string_view(head.data(), filled));
}

Result<std::vector<TraceInput>> OpenArchive(const fs::path& path) {
  ASSIGN_OR_RETURN(const auto source, OpenFile(path));
  auto members = ReadTar(*source);
  if (!members) {
    return Prefixed(path.string(), std::move(members).error());
  }
  std::vector<TraceInput> inputs;
  for (TarMember& member : *members) {
    inputs.push_back({.name = path.string() + "/" + member.name,
                      .bytes = std::move(member.bytes),
                      .in_memory = true,
                      .listed = true});
  }
  std::ranges::sort(inputs, {}, &TraceInput::name);
  return inputs;
}

Result<std::vector<TraceInput>> Expand(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) {
    return ListDirectory(path);
  }
  ASSIGN_OR_RETURN(const bool is_archive, IsArchive(path));
  if (is_archive) {
    return OpenArchive(path);
  }
  std::vector<TraceInput> single;
  single.push_back({.name = path.string(), .path = path});
  return single;
}

Result<std::vector<TraceInput>> FindInputs(std::span<const fs::path> paths) {
  std::vector<TraceInput> inputs;
  for (const fs::path& path : paths) {
    ASSIGN_OR_RETURN(auto found, Expand(path));
    if (found.empty()) {
      return Fail(
          ErrorCode::kInvalidInput,
          fmt::format("{}: holds no files; expected traces", path.string()));
    }
    std::ranges::move(found, std::back_inserter(inputs));
  }
  return inputs;
}

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

// Graphs of torch.compile in the execution trace of a processor.
void CountCompiledNodes(const ExecutionTrace& trace, const Rules& rules,
                        Diagnostics& diagnostics) {
  const auto count =
      std::ranges::count_if(trace.nodes, [&](const ExecutionNode& node) {
        return node.kind == NodeKind::kAnnotation &&
               rules.IsCompiledRange(trace.strings.view(node.name));
      });
  if (count > 0 && IsHostOnly(trace)) {
    diagnostics.Add(kCompiledKernels, {}, count);
  }
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
    CountRangesWithoutPhase(PhaseInputs(*part.profiler),
                            part.profiler->trace.strings, rules,
                            part.diagnostics);
  } else if (read->execution) {
    part.kind = Part::Kind::kExecution;
    part.rank = read->execution->info.rank;
    part.execution = std::move(read->execution);
    part.execution->steps = FindExecutionSteps(*part.execution, rules);
    CountCompiledNodes(*part.execution, rules, part.diagnostics);
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
void InferRanks(std::vector<Part>& parts, Diagnostics& diagnostics) {
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
      diagnostics.Add(kRankInferred,
                      fmt::format("{} as rank {}", part.name, rank));
    }
  }
}

// A lone pair of files belongs together even if only one names its rank.
void JoinLonePair(std::vector<Part>& parts) {
  if (parts.size() != 2 || parts[0].kind == parts[1].kind ||
      parts[0].kind == Part::Kind::kGraph ||
      parts[1].kind == Part::Kind::kGraph) {
    return;
  }
  Part& profiler = parts[parts[0].kind == Part::Kind::kProfiler ? 0 : 1];
  Part& execution = parts[parts[0].kind == Part::Kind::kProfiler ? 1 : 0];
  const bool reported = profiler.profiler->trace.info.rank.has_value();
  if (reported || !execution.execution->info.rank) {
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
  // With gaps the job had at least as many ranks as the largest number implies.
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
  InferRanks(parts, loaded.diagnostics);
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

}  // namespace stepcast::trace

#include "cli/options.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "cli/progress.h"

namespace stepcast::cli {
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
                            rank, fmt::join(known, ", ")));
  }
  return {};
}

}  // namespace

void AddInputOptions(OptionParser& parser, InputOptions& options) {
  parser.Add("FILE", options.files,
             "traces, directories or archives of ranks; an execution\n"
             "trace and a profiler trace of one run go together",
             "");
  parser.Add("--rank", options.rank, "use this rank alone", "N");
  parser.AddRepeated(
      "--rules", options.rules,
      "rule file to ask before the built-in ones; may be repeated", "FILE");
  parser.Add("--threads", options.threads,
             "threads to use; 0, the default: one a core", "N");
}

Result<Input> LoadInput(const InputOptions& options, bool allow_duplicates) {
  if (options.files.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "no file given; expected one or more traces");
  }
  ASSIGN_OR_RETURN(const auto threads,
                   ParseNumber("--threads", options.threads, 0));
  ASSIGN_OR_RETURN(const auto rank, ParseNumber("--rank", options.rank, 0));
  const Progress progress("reading traces");
  Input input;
  input.threads = static_cast<size_t>(threads.value_or(0));
  ASSIGN_OR_RETURN(input.rules, ingest::Rules::Load(Paths(options.rules)));
  ASSIGN_OR_RETURN(input.loaded,
                   ingest::Load(Paths(options.files), input.rules,
                                {.threads = input.threads,
                                 .allow_duplicates = allow_duplicates}));
  if (rank) {
    RETURN_IF_ERROR(KeepRank(*rank, input.loaded));
  }
  return input;
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

}  // namespace stepcast::cli

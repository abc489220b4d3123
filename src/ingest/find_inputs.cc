#include "ingest/find_inputs.h"

#include <algorithm>
#include <array>
#include <memory>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "base/tar.h"

namespace stepcast::ingest {
namespace {

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
                              "directory with one trace a rank",
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

}  // namespace

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

}  // namespace stepcast::ingest

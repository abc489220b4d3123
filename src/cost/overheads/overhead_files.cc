#include "cost/overheads/overhead_files.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/embedded.h"
#include "base/file.h"
#include "base/nearest.h"

namespace stepcast {

std::span<const EmbeddedFile> OverheadFileTexts();

namespace cost {
namespace {

constexpr std::string_view kFolder = "overheads/";
constexpr std::string_view kSuffix = ".toml";

std::string_view NameOf(const EmbeddedFile& file) {
  std::string_view name = file.name;
  name.remove_prefix(kFolder.size());
  name.remove_suffix(kSuffix.size());
  return name;
}

const EmbeddedFile* Find(std::string_view name) {
  for (const EmbeddedFile& file : OverheadFileTexts()) {
    if (NameOf(file) == name) {
      return &file;
    }
  }
  return nullptr;
}

}  // namespace

std::vector<std::string> OverheadNames() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : OverheadFileTexts()) {
    names.emplace_back(NameOf(file));
  }
  std::ranges::sort(names);
  return names;
}

Result<OverheadData> LoadOwnOverheads(std::string_view name) {
  if (name.ends_with(kSuffix)) {
    const std::filesystem::path path(name);
    ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    return ParseOverheads(text, path.string());
  }
  if (const EmbeddedFile* file = Find(name)) {
    return ParseOverheads(file->text, file->name);
  }
  const std::vector<std::string> names = OverheadNames();
  const std::vector<std::string_view> views(names.begin(), names.end());
  const auto nearest = Nearest(name, views);
  return Fail(
      ErrorCode::kNotFound,
      nearest ? fmt::format("unknown overheads '{}'; did you mean {}?", name,
                            *nearest)
              : fmt::format("unknown overheads '{}'; expected a .toml file or "
                            "one of: {}",
                            name, fmt::join(names, ", ")));
}

Result<OverheadData> LoadOverheads(std::string_view name) {
  ASSIGN_OR_RETURN(OverheadData data, LoadOwnOverheads(name));
  if (name == kSharedOverheads) {
    return data;
  }
  ASSIGN_OR_RETURN(const OverheadData shared,
                   LoadOwnOverheads(kSharedOverheads));
  return Completed(std::move(data), shared);
}

}  // namespace cost
}  // namespace stepcast

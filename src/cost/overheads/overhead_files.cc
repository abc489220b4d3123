#include "cost/overheads/overhead_files.h"

#include <algorithm>
#include <filesystem>
#include <span>

#include <fmt/format.h>

#include "base/embedded.h"
#include "base/file.h"

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

Result<OverheadData> LoadOverheads(std::string_view name) {
  const EmbeddedFile* shared = Find(kSharedOverheads);
  CHECK(shared != nullptr);
  if (name == kSharedOverheads) {
    return ParseOverheads(shared->text, shared->name);
  }
  ASSIGN_OR_RETURN(const OverheadData others,
                   ParseOverheads(shared->text, shared->name));
  if (name.ends_with(kSuffix)) {
    const std::filesystem::path path(name);
    ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
    ASSIGN_OR_RETURN(OverheadData data, ParseOverheads(text, path.string()));
    return Completed(std::move(data), others);
  }
  const EmbeddedFile* file = Find(name);
  if (file == nullptr) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("unknown overheads '{}'; expected a .toml file or "
                            "one of: {}",
                            name, fmt::join(OverheadNames(), ", ")));
  }
  ASSIGN_OR_RETURN(OverheadData data, ParseOverheads(file->text, file->name));
  return Completed(std::move(data), others);
}

}  // namespace cost
}  // namespace stepcast

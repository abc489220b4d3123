#include "cost/collectives/collective_store.h"

#include <span>
#include <system_error>

#include <fmt/format.h>

#include "base/embedded.h"
#include "base/file.h"

namespace stepcast {

std::span<const EmbeddedFile> CollectiveFileTexts();

namespace cost {

Result<std::optional<CollectiveStore::Text>> CollectiveStore::Find(
    std::string_view name) const {
  for (const std::filesystem::path& directory : directories_) {
    const std::filesystem::path path = directory / name;
    std::error_code error;
    if (std::filesystem::is_regular_file(path, error)) {
      ASSIGN_OR_RETURN(std::string text, ReadFile(path));
      return Text{.source = path.string(), .text = std::move(text)};
    }
  }
  const std::string built_in = fmt::format("collectives/{}", name);
  for (const EmbeddedFile& file : CollectiveFileTexts()) {
    if (file.name == built_in) {
      return Text{.source = built_in, .text = std::string(file.text)};
    }
  }
  return std::optional<Text>();
}

Result<CollectiveConstants> CollectiveStore::LoadConstants() const {
  ASSIGN_OR_RETURN(const std::optional<Text> file,
                   Find("collective_constants.toml"));
  if (!file) {
    return CollectiveConstants{};
  }
  return ParseCollectiveConstants(file->text, file->source);
}

Result<std::optional<CollectiveProfile>> CollectiveStore::Load(
    std::string_view system) const {
  ASSIGN_OR_RETURN(const std::optional<Text> file,
                   Find(fmt::format("{}.toml", system)));
  if (!file) {
    return std::optional<CollectiveProfile>();
  }
  ASSIGN_OR_RETURN(CollectiveProfile profile,
                   ParseCollectiveProfile(file->text, file->source));
  return std::optional<CollectiveProfile>(std::move(profile));
}

}  // namespace cost
}  // namespace stepcast

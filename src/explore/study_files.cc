#include "explore/study_files.h"

#include <algorithm>
#include <filesystem>
#include <span>

#include "base/embedded.h"
#include "base/file.h"
#include "base/nearest.h"

namespace stepcast {

std::span<const EmbeddedFile> StudyFileTexts();

namespace explore {
namespace {

std::string NameOf(const EmbeddedFile& file) {
  return std::filesystem::path(file.name).stem().string();
}

}  // namespace

std::vector<std::string> StudyNames() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : StudyFileTexts()) {
    names.push_back(NameOf(file));
  }
  std::ranges::sort(names);
  return names;
}

Result<Study> FindStudy(std::string_view text, int64_t limit) {
  if (text.ends_with(".toml")) {
    const std::filesystem::path path(text);
    ASSIGN_OR_RETURN(const std::string content, ReadFile(path));
    return ParseStudy(content, path.string(), limit);
  }
  std::string name(text);
  std::ranges::replace(name, '-', '_');
  for (const EmbeddedFile& file : StudyFileTexts()) {
    if (NameOf(file) == name) {
      return ParseStudy(file.text, file.name, limit);
    }
  }
  const std::vector<std::string> names = StudyNames();
  const std::vector<std::string_view> views(names.begin(), names.end());
  return Fail(ErrorCode::kNotFound, Unknown("study", text, views));
}

}  // namespace explore
}  // namespace stepcast

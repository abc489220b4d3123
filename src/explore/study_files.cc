#include "explore/study_files.h"

#include <span>

#include "base/files/catalog.h"

namespace stepcast {

std::span<const EmbeddedFile> StudyFileTexts();

namespace explore {
namespace {

// What a study says depends on the files that it names and on the limit.
struct StudyText {
  std::string source;
  std::string text;
};

const Catalog<StudyText>& Studies() {
  static const Catalog<StudyText> studies(
      {.what = "study", .files = StudyFileTexts()},
      [](std::string_view text, std::string_view source) {
        return Result<StudyText>({std::string(source), std::string(text)});
      });
  return studies;
}

}  // namespace

const std::vector<std::string>& StudyNames() {
  return Studies().names();
}

Result<Study> FindStudy(std::string_view text, int64_t limit) {
  ASSIGN_OR_RETURN(const StudyText* study, Studies().Find(text));
  return ParseStudy(study->text, study->source, limit);
}

}  // namespace explore
}  // namespace stepcast

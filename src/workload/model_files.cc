#include "workload/model_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <span>

#include <fmt/format.h>

#include "base/embedded.h"
#include "base/nearest.h"
#include "workload/read_model.h"

namespace stepcast {

std::span<const EmbeddedFile> WorkloadFileTexts();

namespace workload {
namespace {

std::string PlainName(std::string_view text) {
  std::string plain;
  for (const char letter : text) {
    plain += letter == '-' ? '_'
                           : static_cast<char>(std::tolower(
                                 static_cast<unsigned char>(letter)));
  }
  return plain;
}

std::string NameOf(const EmbeddedFile& file) {
  return std::filesystem::path(file.name).stem().string();
}

const EmbeddedFile* FindFile(std::string_view text) {
  const std::string plain = PlainName(text);
  for (const EmbeddedFile& file : WorkloadFileTexts()) {
    if (NameOf(file) == plain) {
      return &file;
    }
  }
  return nullptr;
}

// Whether who wrote it meant a file: no model is called so.
bool IsFileName(std::string_view text) {
  constexpr std::array<std::string_view, 7> kEndings = {
      ".json", ".gz", ".graph", ".et", ".toml", ".tar", ".txt"};
  return std::ranges::any_of(kEndings, [&](std::string_view ending) {
    return text.ends_with(ending);
  });
}

Result<Model> Parse(const EmbeddedFile& file) {
  return ParseModel(file.text, file.name, [](std::string_view name) {
    return Result<std::string>(
        Fail(ErrorCode::kNotFound,
             fmt::format("{}: built-in models name no files", name)));
  });
}

}  // namespace

std::vector<std::string> ModelNames() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : WorkloadFileTexts()) {
    names.push_back(NameOf(file));
  }
  std::ranges::sort(names);
  return names;
}

bool IsModelName(std::string_view text) {
  return FindFile(text) != nullptr;
}

Result<Model> FindModel(std::string_view text) {
  if (text.ends_with(".toml")) {
    return LoadModel(std::filesystem::path(text));
  }
  const EmbeddedFile* const file = FindFile(text);
  if (file != nullptr) {
    return Parse(*file);
  }
  if (IsFileName(text)) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("{}: no such file; expected a file or a model of "
                            "`stepcast list workloads`",
                            text));
  }
  const std::vector<std::string> names = ModelNames();
  const std::vector<std::string_view> views(names.begin(), names.end());
  return Fail(ErrorCode::kNotFound, Unknown("workload", text, views));
}

Result<std::vector<Model>> LoadModels() {
  std::vector<Model> models;
  for (const EmbeddedFile& file : WorkloadFileTexts()) {
    ASSIGN_OR_RETURN(Model model, Parse(file));
    models.push_back(std::move(model));
  }
  std::ranges::sort(models, {}, &Model::name);
  return models;
}

}  // namespace workload
}  // namespace stepcast

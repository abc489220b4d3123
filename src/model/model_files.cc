#include "model/model_files.h"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

#include "base/files/catalog.h"
#include "model/read_model.h"

namespace stepcast {

std::span<const EmbeddedFile> WorkloadFileTexts();

namespace model {
namespace {

const Catalog<Model>& Models() {
  static const Catalog<Model> models(
      {.what = "workload", .files = WorkloadFileTexts()}, &ParseModel);
  return models;
}

// Whether who wrote it meant a file: no model is called so.
bool IsFileName(std::string_view text) {
  constexpr std::array<std::string_view, 6> kEndings = {
      ".json", ".gz", ".graph", ".et", ".tar", ".txt"};
  return std::ranges::any_of(kEndings, [&](std::string_view ending) {
    return text.ends_with(ending);
  });
}

}  // namespace

bool IsModelName(std::string_view text) {
  return Models().NameOf(text).has_value();
}

Result<Model> FindModel(std::string_view text) {
  if (IsFileName(text)) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("{}: no such file; expected a file or a model of "
                            "`stepcast list workloads`",
                            text));
  }
  ASSIGN_OR_RETURN(const Model* model, Models().Find(text));
  return *model;
}

Result<std::vector<Model>> LoadModels() {
  ASSIGN_OR_RETURN(const auto all, Models().All());
  std::vector<Model> models;
  models.reserve(all.size());
  for (const Model* model : all) {
    models.push_back(*model);
  }
  return models;
}

}  // namespace model
}  // namespace stepcast

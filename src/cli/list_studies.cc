#include "cli/list_studies.h"

#include <fmt/format.h>

#include "api/ask.h"
#include "base/json_write.h"
#include "base/text_table.h"
#include "cli/output.h"
#include "explore/study_files.h"

namespace stepcast::cli {
namespace {

std::vector<std::string> AxesOf(const explore::Study& study) {
  std::vector<std::string> axes;
  for (const explore::Axis& axis : study.axes) {
    axes.push_back(fmt::format("{} {}", axis.values.size(), axis.name));
  }
  return axes;
}

}  // namespace

Result<std::string> StudiesText() {
  TextTable table({Align::kLeft, Align::kRight, Align::kLeft, Align::kLeft});
  table.AddRow({"name", "rows", "axes", "title"});
  for (const std::string& name : explore::StudyNames()) {
    ASSIGN_OR_RETURN(const explore::Study study, explore::FindStudy(name));
    table.AddRow({name, fmt::format("{}", explore::RowCount(study)),
                  fmt::format("{}", fmt::join(AxesOf(study), " x ")),
                  study.title});
  }
  return table.ToString();
}

Result<std::string> StudiesJson() {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(api::Version());
  json.Key("studies").BeginArray();
  for (const std::string& name : explore::StudyNames()) {
    ASSIGN_OR_RETURN(const explore::Study study, explore::FindStudy(name));
    json.BeginObject();
    json.Key("name").String(name);
    json.Key("title").String(study.title);
    json.Key("rows").Int(explore::RowCount(study));
    json.Key("axes").BeginArray();
    for (const explore::Axis& axis : study.axes) {
      json.String(axis.name);
    }
    json.EndArray();
    json.Key("source").String(study.source);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

}  // namespace stepcast::cli

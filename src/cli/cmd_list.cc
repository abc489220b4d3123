// stepcast list: what is built in.
#include <algorithm>

#include <fmt/format.h>

#include "base/json_write.h"
#include "base/text_table.h"
#include "cli/commands.h"
#include "cli/nearest.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/output_formats.h"
#include "ingest/formats.h"

namespace stepcast::cli {
namespace {

using Align = TextTable::Align;

std::string FormatsText() {
  TextTable table({Align::kLeft, Align::kLeft, Align::kLeft, Align::kLeft});
  for (const ingest::TraceFormat& format : ingest::Formats()) {
    table.AddRow({"read", std::string(format.name), "",
                  std::string(format.description)});
  }
  for (const OutputFormat& format : OutputFormats()) {
    table.AddRow({"write", std::string(format.name),
                  std::string(format.extensions),
                  std::string(format.description)});
  }
  return table.ToString();
}

std::string FormatsJson() {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(Version());
  json.Key("read").BeginArray();
  for (const ingest::TraceFormat& format : ingest::Formats()) {
    json.BeginObject();
    json.Key("name").String(format.name);
    json.Key("description").String(format.description);
    json.EndObject();
  }
  json.EndArray();
  json.Key("write").BeginArray();
  for (const OutputFormat& format : OutputFormats()) {
    json.BeginObject();
    json.Key("name").String(format.name);
    json.Key("extensions").String(format.extensions);
    json.Key("description").String(format.description);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

// One kind of thing that can be listed.
struct Listing {
  std::string_view name;
  std::string (*text)() = nullptr;
  std::string (*json)() = nullptr;
};

constexpr Listing kListings[] = {
    {.name = "formats", .text = FormatsText, .json = FormatsJson}};

}  // namespace

Status RunList(const Words& words) {
  OptionParser parser("list", "Lists what is built in, one line each.",
                      "  stepcast list formats\n"
                      "  stepcast list formats --json");
  std::vector<std::string> names;
  bool json = false;
  parser.app().add_option("WHAT", names,
                          "formats: that can be read and "
                          "written");
  parser.app().add_flag("--json", json, "print one JSON object instead");
  ASSIGN_OR_RETURN(const bool go_on, parser.Parse(words));
  if (!go_on) {
    return {};
  }
  std::vector<std::string_view> known;
  for (const Listing& listing : kListings) {
    known.push_back(listing.name);
  }
  if (names.size() != 1) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("list takes one word, not {}; expected {}",
                            names.size(), OneOf(known)));
  }
  for (const Listing& listing : kListings) {
    if (listing.name == names.front()) {
      return Print(json ? listing.json() : listing.text());
    }
  }
  return Fail(ErrorCode::kInvalidInput, Unknown("word", names.front(), known));
}

}  // namespace stepcast::cli

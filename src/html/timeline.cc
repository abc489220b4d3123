#include "html/timeline.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/json_write.h"
#include "html/escape.h"
#include "html/overview.h"

namespace stepcast::html {

uint32_t Timeline::Intern(std::string_view text) {
  const auto [place, added] = numbers_.try_emplace(
      std::string(text), static_cast<uint32_t>(texts_.size()));
  if (added) {
    texts_.emplace_back(text);
  }
  return place->second;
}

Duration Timeline::Length() const {
  Duration length = std::max(least_length, Duration{1});
  for (const Row& row : rows) {
    for (const Slice& slice : row.slices) {
      length = std::max(length, slice.start + slice.duration);
    }
  }
  return length;
}

// Starts are differences to the slice before: short numbers.
std::string Timeline::Json() const {
  JsonWriter json(JsonWriter::Style::kCompact);
  json.BeginObject();
  json.Key("length").Int(Length().count());
  json.Key("linked").Bool(linked);
  json.Key("marks").BeginArray();
  for (const Mark& mark : marks) {
    json.BeginObject();
    json.Key("at").Int(mark.at.count());
    json.Key("name").String(mark.name);
    json.EndObject();
  }
  json.EndArray();
  json.Key("texts").BeginArray();
  for (const std::string& text : texts_) {
    json.String(text);
  }
  json.EndArray();
  json.Key("rows").BeginArray();
  for (const Row& row : rows) {
    json.BeginObject();
    json.Key("group").String(row.group);
    json.Key("name").String(row.name);
    json.Key("slices").BeginArray();
    Duration last{};
    for (const Slice& slice : row.slices) {
      json.Int((slice.start - last).count());
      json.Int(slice.duration.count());
      json.Int(slice.name);
      json.Int(slice.style);
      last = slice.start;
    }
    json.EndArray().EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

std::string Timeline::LegendHtml() const {
  std::set<std::string_view> used;
  for (const Row& row : rows) {
    for (const Slice& slice : row.slices) {
      used.insert(texts_[slice.style]);
    }
  }
  std::string spans;
  for (const StyleName& style : legend) {
    if (used.contains(style.style)) {
      spans += fmt::format("<span><i class=\"part {}\"></i>{}</span> ",
                           Escape(style.style), Escape(style.name));
    }
  }
  return spans.empty() ? ""
                       : fmt::format("<p class=\"legend\">{}</p>\n", spans);
}

std::string Timeline::ToHtml() const {
  return fmt::format(
      "<div class=\"timeline\">\n{}{}"
      "<script type=\"application/json\" class=\"timeline-data\">{}</script>\n"
      "</div>\n",
      LegendHtml(), OverviewHtml(*this), EscapeScript(Json()));
}

}  // namespace stepcast::html

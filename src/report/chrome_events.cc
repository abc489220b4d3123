#include "report/chrome_events.h"

#include <fmt/format.h>

#include "base/join.h"

namespace stepcast::report {

void WriteTime(JsonWriter& json, std::string_view key, Duration time) {
  constexpr int kNanoseconds = 3;  // The finest that times have.
  json.Key(key).Fixed(ToMicroseconds(time), kNanoseconds);
}

void ChromeEvents::NameProcess(int64_t process, std::string_view name) {
  AddMetadata("process", {.process = process}, name, process);
}

void ChromeEvents::NameThread(const Track& track, std::string_view name) {
  AddMetadata("thread", track, name, track.thread);
}

void ChromeEvents::AddArrow(int64_t id, const ArrowEnd& from,
                            const ArrowEnd& to) {
  AddArrowEnd("s", id, from);
  AddArrowEnd("f", id, to);
}

std::string ChromeEvents::ToString() const {
  return fmt::format("[\n{}\n]", Join(events_, ",\n"));
}

JsonWriter ChromeEvents::Begin(std::string_view phase, std::string_view name,
                               const Track& track) {
  JsonWriter json(JsonWriter::Style::kCompact);
  json.BeginObject();
  json.Key("ph").String(phase);
  json.Key("name").String(name);
  json.Key("pid").Int(track.process);
  json.Key("tid").Int(track.thread);
  return json;
}

JsonWriter ChromeEvents::BeginComplete(const CompleteEvent& event) {
  JsonWriter json = Begin("X", event.name, event.track);
  json.Key("cat").String(event.category);
  WriteTime(json, "ts", event.start);
  WriteTime(json, "dur", event.duration);
  json.Key("args").BeginObject();
  return json;
}

void ChromeEvents::Finish(JsonWriter& json) {
  json.EndObject();
  events_.push_back(json.Take());
}

void ChromeEvents::AddMetadata(std::string_view what, const Track& track,
                               std::string_view name, int64_t order) {
  JsonWriter label = Begin("M", fmt::format("{}_name", what), track);
  label.Key("args").BeginObject().Key("name").String(name).EndObject();
  Finish(label);
  JsonWriter place = Begin("M", fmt::format("{}_sort_index", what), track);
  place.Key("args").BeginObject().Key("sort_index").Int(order).EndObject();
  Finish(place);
}

void ChromeEvents::AddArrowEnd(std::string_view phase, int64_t id,
                               const ArrowEnd& end) {
  // The name and category of Kineto's arrows from calls to device events.
  JsonWriter json = Begin(phase, "ac2g", end.track);
  json.Key("cat").String("ac2g");
  json.Key("id").Int(id);
  WriteTime(json, "ts", end.time);
  if (phase == "f") {
    json.Key("bp").String("e");  // Ends at the event around it.
  }
  Finish(json);
}

}  // namespace stepcast::report

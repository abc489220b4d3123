// Documents for programs: JSON and CSV.
#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/json/json_write.h"
#include "base/text/join.h"
#include "scenario/scenario_text.h"
#include "view/write.h"

namespace stepcast::view {
namespace {

// Nanoseconds are the finest that times have; shares are rounded to a
// hundredth of a percent.
constexpr int kJsonTimeDecimals = 3;
constexpr int kJsonShareDecimals = 4;

// Writes the members of an object. Dots in a key lead into objects in it, which
// stay open as long as keys begin alike.
class Members {
 public:
  explicit Members(JsonWriter& json) : json_(json) { json_.BeginObject(); }
  Members(const Members&) = delete;
  Members& operator=(const Members&) = delete;
  ~Members() {
    Leave(0);
    json_.EndObject();
  }

  void Key(std::string_view key) {
    size_t depth = 0;
    for (size_t dot = key.find('.'); dot != std::string_view::npos;
         dot = key.find('.')) {
      const std::string_view name = key.substr(0, dot);
      key.remove_prefix(dot + 1);
      if (depth < open_.size() && open_[depth] != name) {
        Leave(depth);
      }
      if (depth == open_.size()) {
        json_.Key(name).BeginObject();
        open_.emplace_back(name);
      }
      ++depth;
    }
    Leave(depth);
    if (!key.empty()) {
      json_.Key(key);
    }
  }

 private:
  void Leave(size_t depth) {
    for (; open_.size() > depth; open_.pop_back()) {
      json_.EndObject();
    }
  }

  JsonWriter& json_;
  std::vector<std::string> open_;
};

// Larger chunks are not written any faster.
constexpr size_t kChunkSize = size_t{1} << 20;

void WriteRows(JsonWriter& json, const Table& table,
               const Sink& sink = nullptr);

struct JsonMaker {
  JsonWriter& json;
  const Column& column;

  void operator()(std::monostate /*nothing*/) const { json.Null(); }
  void operator()(std::nullptr_t /*null*/) const { json.Null(); }
  void operator()(bool value) const { json.Bool(value); }
  void operator()(int64_t number) const { json.Int(number); }
  void operator()(double number) const {
    column.decimals ? json.Fixed(number, *column.decimals)
                    : json.Double(number);
  }
  void operator()(Duration time) const {
    json.Fixed(ToMicroseconds(time), kJsonTimeDecimals);
  }
  void operator()(Bytes bytes) const { json.Int(bytes.count); }
  void operator()(Share share) const {
    json.Fixed(share.of_one, kJsonShareDecimals);
  }
  void operator()(Percent percent) const {
    json.Fixed(percent.percent, kJsonShareDecimals);
  }
  void operator()(const std::string& word) const { json.String(word); }
  template <typename T>
  void operator()(const std::vector<T>& items) const {
    json.BeginArray();
    for (const T& item : items) {
      (*this)(item);
    }
    json.EndArray();
  }
  void operator()(const std::shared_ptr<const Table>& rows) const {
    WriteRows(json, *rows);
  }
};

void WriteMember(JsonWriter& json, Members& members, const Column& column,
                 const Value& value) {
  if (!column.key.empty() && !std::holds_alternative<std::monostate>(value)) {
    members.Key(column.key);
    if (!column.key.ends_with('.')) {
      std::visit(JsonMaker{.json = json, .column = column}, value);
    }
  }
}

void WriteRows(JsonWriter& json, const Table& table, const Sink& sink) {
  json.BeginArray();
  VisitRows(table, [&](const std::vector<Value>& row) {
    Members members(json);
    for (size_t i = 0; i < row.size() && i < table.columns.size(); ++i) {
      WriteMember(json, members, table.columns[i], row[i]);
    }
    if (sink && json.part_size() >= kChunkSize) {
      sink(json.TakePart());
    }
  });
  json.EndArray();
}

void WriteDoc(JsonWriter& json, const Doc& doc, std::string_view version,
              const Sink& sink);

struct BlockWriter {
  JsonWriter& json;
  Members& members;
  std::string_view version;
  const Sink& sink;

  void operator()(const Facts& facts) const {
    for (const Fact& fact : facts) {
      WriteMember(json, members, fact.column, fact.value);
    }
  }
  void operator()(const Table& table) const {
    if (!table.key.empty()) {
      members.Key(table.key);
      WriteRows(json, table, sink);
    }
  }
  void operator()(const Picture& /*picture*/) const {}
  void operator()(const Text& /*text*/) const {}
  void operator()(const Notes& notes) const {
    members.Key("notes");
    JsonMaker{.json = json, .column = {}}(notes.notes);
  }
  void operator()(const Group& group) const {
    members.Key(group.key);
    json.BeginArray();
    for (const auto& item : group.items) {
      Members inside(json);
      for (const Block& block : item->blocks) {
        std::visit(
            BlockWriter{
                .json = json, .members = inside, .version = {}, .sink = sink},
            block);
      }
    }
    json.EndArray();
  }
  void operator()(const Nested& nested) const {
    members.Key(nested.key);
    WriteDoc(json, *nested.doc, version, sink);
  }
};

void WriteDoc(JsonWriter& json, const Doc& doc, std::string_view version,
              const Sink& sink) {
  Members members(json);
  members.Key("version");
  json.String(version);
  if (doc.asked) {
    scenario::WriteQuestion(json, *doc.asked);
  }
  if (!doc.verdict.empty()) {
    members.Key(doc.verdict_key);
    json.String(doc.verdict);
  }
  for (const Block& block : doc.blocks) {
    std::visit(
        BlockWriter{
            .json = json, .members = members, .version = version, .sink = sink},
        block);
  }
}

// A cell in quotes where it needs them (RFC 4180).
std::string CsvCell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return std::string(text);
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

std::string CsvText(const Value& value, const Column& column) {
  if (std::holds_alternative<std::monostate>(value) ||
      std::holds_alternative<std::nullptr_t>(value)) {
    return "";
  }
  if (const auto* const word = std::get_if<std::string>(&value)) {
    return CsvCell(*word);
  }
  JsonWriter json(JsonWriter::Style::kCompact);
  std::visit(JsonMaker{.json = json, .column = column}, value);
  return CsvCell(json.Take());
}

std::string Joined(void (*write)(const Doc&, const Sink&), const Doc& doc) {
  std::string text;
  write(doc, [&](std::string_view chunk) { text += chunk; });
  return text;
}

}  // namespace

void WriteJson(const Doc& doc, const Sink& sink) {
  JsonWriter json;
  WriteDoc(json, doc, doc.version, sink);
  sink(json.Take());
}

std::string WriteJson(const Doc& doc) {
  return Joined(WriteJson, doc);
}

void WriteCsv(const Doc& doc, const Sink& sink) {
  const Table& table = doc.csv;
  std::vector<std::string> names;
  for (const Column& column : table.columns) {
    if (!column.key.empty()) {
      names.push_back(CsvCell(column.key));
    }
  }
  std::string text = fmt::format("{}\n", Join(names, ","));
  VisitRows(table, [&](const std::vector<Value>& row) {
    std::vector<std::string> cells;
    for (size_t i = 0; i < table.columns.size(); ++i) {
      if (!table.columns[i].key.empty()) {
        cells.push_back(i < row.size() ? CsvText(row[i], table.columns[i])
                                       : "");
      }
    }
    text += fmt::format("{}\n", Join(cells, ","));
    if (text.size() >= kChunkSize) {
      sink(std::exchange(text, {}));
    }
  });
  sink(text);
}

std::string WriteCsv(const Doc& doc) {
  return Joined(WriteCsv, doc);
}

}  // namespace stepcast::view

#include "ingest/classify/collective_record.h"

#include "base/value_text.h"

namespace stepcast::ingest {
namespace {

// The members of a JSON object one by one. Values are found by their brackets
// and quotes alone; what is in them is for ParseValue to judge.
class Members {
 public:
  explicit Members(std::string_view object) : rest_(object) {
    SkipSpace();
    open_ = Take('{');
  }

  struct Member {
    std::string_view key;
    std::string_view value;
  };

  std::optional<Member> Next() {
    SkipSpace();
    if (!open_ || rest_.empty() || rest_.front() == '}') {
      return std::nullopt;
    }
    Take(',');
    SkipSpace();
    const std::string_view key = TakeValue();
    SkipSpace();
    if (key.size() < 2 || key.front() != '"' || !Take(':')) {
      return std::nullopt;
    }
    SkipSpace();
    const std::string_view value = TakeValue();
    if (value.empty()) {
      return std::nullopt;
    }
    return Member{.key = key.substr(1, key.size() - 2), .value = value};
  }

 private:
  void SkipSpace() {
    const size_t at = rest_.find_first_not_of(" \t\n\r");
    rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at);
  }

  bool Take(char c) {
    if (!rest_.starts_with(c)) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }

  // Up to the comma, colon or bracket that ends the value; empty if the text
  // ends first.
  std::string_view TakeValue() {
    int64_t depth = 0;
    bool quoted = false;
    for (size_t at = 0; at < rest_.size(); ++at) {
      const char c = rest_[at];
      if (quoted) {
        at += c == '\\' ? 1 : 0;
        quoted = c != '"';
        continue;
      }
      const bool ends = c == ',' || c == ':' || c == '}' || c == ']';
      if (ends && depth == 0) {
        const std::string_view value = rest_.substr(0, at);
        rest_.remove_prefix(at);
        return Trimmed(value);
      }
      quoted = c == '"';
      depth += c == '[' || c == '{' ? 1 : 0;
      depth -= c == ']' || c == '}' ? 1 : 0;
    }
    rest_ = {};
    return {};
  }

  static std::string_view Trimmed(std::string_view text) {
    const size_t last = text.find_last_not_of(" \t\n\r");
    return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
  }

  std::string_view rest_;
  bool open_ = false;
};

void ReadInt(std::string_view text, int64_t& out) {
  if (const auto value = ParseValue(text); value && value->is_int()) {
    out = value->integer;
  }
}

void ReadString(std::string_view text, std::string& out) {
  if (const auto value = ParseValue(text); value && value->is_string()) {
    out = value->text;
  }
}

// Lists come as JSON or, in most releases, as JSON inside a string.
void ReadInts(std::string_view text, std::vector<int64_t>& out) {
  auto value = ParseValue(text);
  if (value && value->is_string()) {
    value = ParseValue(value->text);
  }
  if (value) {
    out = AsIntList(*value).value_or(std::vector<int64_t>());
  }
}

}  // namespace

std::optional<CollectiveRecord> ParseCollectiveRecord(std::string_view text) {
  CollectiveRecord record;
  Members members(text);
  while (const auto member = members.Next()) {
    const auto& [key, value] = *member;
    if (key == "Collective name") {
      ReadString(value, record.name);
    } else if (key == "dtype") {
      ReadString(value, record.dtype);
    } else if (key == "In msg nelems") {
      ReadInt(value, record.in_elements);
    } else if (key == "Out msg nelems") {
      ReadInt(value, record.out_elements);
    } else if (key == "Group size") {
      ReadInt(value, record.group_size);
    } else if (key == "In split size") {
      ReadInts(value, record.in_splits);
    } else if (key == "Out split size") {
      ReadInts(value, record.out_splits);
    }
  }
  return record.name.empty() ? std::nullopt : std::optional(record);
}

}  // namespace stepcast::ingest

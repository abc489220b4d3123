#include "tests/bench/simdjson_pass.h"

#include <array>
#include <string_view>
#include <utility>

#include <simdjson.h>

#include "base/check.h"

namespace stepcast::bench {
namespace {

namespace ondemand = simdjson::ondemand;

// Calls visit(event) for each element of traceEvents.
template <typename Visit>
void ForEachEvent(const PaddedText& text, Visit visit) {
  ondemand::parser parser;
  ondemand::document document;
  CHECK(
      parser.iterate(text.data(), text.size(), text.capacity()).get(document) ==
      simdjson::SUCCESS);
  for (auto event : document["traceEvents"].get_array()) {
    visit(event.get_object().value_unsafe());
  }
}

bool IsOneOf(ondemand::raw_json_string key, const char* a, const char* b) {
  return key.unsafe_is_equal(a) || key.unsafe_is_equal(b);
}

int64_t ReadArg(ondemand::raw_json_string key, ondemand::value value) {
  if (IsOneOf(key, "External id", "external id") ||
      IsOneOf(key, "Ev Idx", "Sequence number") ||
      IsOneOf(key, "correlation", "stream") ||
      IsOneOf(key, "device", "bytes")) {
    int64_t number = 0;
    return value.get(number) == simdjson::SUCCESS ? number : 0;
  }
  if (IsOneOf(key, "Input Dims", "Input type") ||
      IsOneOf(key, "grid", "block")) {
    ondemand::array array;
    std::string_view raw;
    if (value.get(array) == simdjson::SUCCESS &&
        array.raw_json().get(raw) == simdjson::SUCCESS) {
      return static_cast<int64_t>(raw.size());
    }
  }
  return 0;
}

int64_t ReadField(ondemand::raw_json_string key, ondemand::value value) {
  if (IsOneOf(key, "ph", "cat") || key.unsafe_is_equal("name")) {
    std::string_view string;
    return value.get(string) == simdjson::SUCCESS
               ? static_cast<int64_t>(string.size())
               : 0;
  }
  if (IsOneOf(key, "ts", "dur")) {
    double number = 0;
    return value.get(number) == simdjson::SUCCESS ? static_cast<int64_t>(number)
                                                  : 0;
  }
  if (IsOneOf(key, "pid", "tid")) {
    return static_cast<int64_t>(value.raw_json_token().size());
  }
  int64_t sum = 0;
  ondemand::object args;
  if (key.unsafe_is_equal("args") && value.get(args) == simdjson::SUCCESS) {
    for (auto field : args) {
      const auto arg_key = field.key().value_unsafe();
      sum += ReadArg(arg_key, field.value().value_unsafe());
    }
  }
  return sum;
}

}  // namespace

PaddedText::PaddedText(std::string text)
    : text_(std::move(text)), size_(text_.size()) {
  text_.resize(size_ + simdjson::SIMDJSON_PADDING);
}

int64_t VisitMembers(const PaddedText& text) {
  int64_t members = 0;
  ForEachEvent(text, [&](ondemand::object event) {
    for (auto field : event) {
      members += field.error() == simdjson::SUCCESS ? 1 : 0;
    }
  });
  return members;
}

int64_t ReadFields(const PaddedText& text) {
  int64_t sum = 0;
  ForEachEvent(text, [&](ondemand::object event) {
    for (auto field : event) {
      const auto key = field.key().value_unsafe();
      sum += ReadField(key, field.value().value_unsafe());
    }
  });
  return sum;
}

}  // namespace stepcast::bench

// Any bytes as a JSON document, in reads of any size; every way to look at a
// value.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "base/drip_source_testing.h"
#include "base/json/json_read.h"

namespace {

using stepcast::DripSource;
using stepcast::JsonRecordReader;
using stepcast::JsonValue;

/// Reads every byte a view shows, so that a wrong one is noticed.
size_t Touch(std::string_view text) {
  return static_cast<size_t>(std::ranges::count(text, 'x'));
}

/// Looks at a value in all ways, and into it a few levels deep.
void LookAt(JsonValue value, int depth) {
  std::string buffer;
  size_t touched = Touch(value.raw()) + Touch(value.raw_text());
  if (const auto string = value.raw_string()) {
    touched += Touch(stepcast::JsonUnescape(*string, buffer));
  }
  CHECK(value.is_object() + value.is_array() + value.is_string() +
            value.is_null() <=
        1);
  value.AsInt();
  value.AsDouble();
  stepcast::ParseMicroseconds(value.raw_text());
  CHECK(touched <= value.raw().size() * 3);
  if (depth == 0) {
    return;
  }
  const std::string_view all = value.raw();
  const auto inside = [&](std::string_view part) {
    CHECK(part.data() >= all.data());
    CHECK(part.data() + part.size() <= all.data() + all.size());
  };
  value.ForEachMember([&](std::string_view key, JsonValue member) {
    inside(key);
    inside(member.raw());
    LookAt(member, depth - 1);
  });
  value.ForEachElement([&](JsonValue element) {
    inside(element.raw());
    LookAt(element, depth - 1);
  });
}

struct Reading {
  std::vector<std::string> items{};
  bool failed = false;
  bool truncated = false;

  bool operator==(const Reading&) const = default;
};

Reading Read(std::string_view bytes, size_t step) {
  constexpr std::array<std::string_view, 2> kArrays = {"nodes", "traceEvents"};
  constexpr int kDepth = 3;
  DripSource source(bytes, step);
  JsonRecordReader reader(source, kArrays);
  Reading reading;
  while (true) {
    const auto item = reader.Next();
    CHECK(reader.offset() <= bytes.size());
    if (!item) {
      CHECK(!item.error().message.empty());
      reading.failed = true;
      break;
    }
    if (!item->has_value()) {
      break;
    }
    LookAt((*item)->value, kDepth);
    reading.items.push_back(std::string((*item)->key) + "=" +
                            std::string((*item)->value.raw()));
  }
  CHECK(reader.counts().trailing_bytes <= static_cast<int64_t>(bytes.size()));
  reading.truncated = reader.counts().truncated;
  return reading;
}

}  // namespace

// Whatever the size of the reads, and wherever the first window ends, the same
// must come out.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Reading whole = Read(bytes, SIZE_MAX);
  CHECK(Read(bytes, 1) == whole);
  // Space in front moves the end of the window into the text. In front of a
  // byte order mark it would be no space any more.
  if (size > 0 && !bytes.starts_with('\xEF')) {
    const size_t edge = (data[0] + size_t{data[size / 2]} * 256) % size;
    std::string padded(stepcast::JsonWindow::kFirstSize -
                           std::min(edge, stepcast::JsonWindow::kFirstSize),
                       ' ');
    padded += bytes;
    CHECK(Read(padded, SIZE_MAX) == whole);
    CHECK(Read(padded, 61) == whole);
  }
  return 0;
}

// Any bytes as a study file, and the rows of whatever it describes.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "explore/read_study.h"
#include "explore/row.h"
#include "explore/study.h"
#include "scenario/resolve.h"

namespace {

// Enough rows to meet every value of every axis of small studies.
constexpr int64_t kMostRows = 64;

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace explore = stepcast::explore;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  // Files that a study names are not the fuzzer's to read.
  if (text.find(".toml") != std::string_view::npos) {
    return 0;
  }
  const auto study = explore::ParseStudy(text, "study.toml", kMostRows);
  if (!study) {
    CHECK(study.error().message.starts_with("study.toml:"))
        << study.error().message;
    return 0;
  }
  CHECK(explore::RowCount(*study) <= kMostRows);
  CHECK(!explore::ColumnNames(*study).empty());
  if (const auto checked = explore::CheckRows(*study); !checked) {
    CHECK(checked.error().message.starts_with("study.toml:"))
        << checked.error().message;
    return 0;
  }
  const explore::Designer designer(*study);
  stepcast::scenario::Resolver resolver;
  for (int64_t row = 0; row < explore::RowCount(*study); ++row) {
    const auto asked = explore::ScenarioOf(designer.SettingsOf(row));
    CHECK(asked.has_value() && resolver.Resolve(*asked).has_value());
  }
  return 0;
}

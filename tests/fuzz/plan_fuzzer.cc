// Any bytes as a sharding plan; what is read is written and read again.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/check.h"
#include "plan/plan_json.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace plan = stepcast::plan;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::vector<plan::NamedTable> tables = {
      {.name = "a", .group = {.rows = 10, .dim = 8}},
      {.name = "b", .group = {.rows = 100, .dim = 64}}};
  const plan::Ranks ranks{.count = 4, .nodes = 2};
  const auto read = plan::ReadPlanJson(text, "plan.json", tables, ranks);
  if (!read) {
    CHECK(read.error().message.starts_with("plan.json: "));
    return 0;
  }
  const auto again = plan::ReadPlanJson(
      plan::WritePlanJson(*read, tables, ranks), "again", tables, ranks);
  CHECK(again) << again.error().message;
  CHECK(*again == *read);
  const auto assignment =
      plan::AssignmentOf(*read, {tables[0].group, tables[1].group}, ranks);
  CHECK(assignment.local.size() == 4);
  return 0;
}

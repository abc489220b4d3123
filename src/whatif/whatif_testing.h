// Steps in graph text and changes in words, for tests.
#ifndef STEPCAST_WHATIF_WHATIF_TESTING_H_
#define STEPCAST_WHATIF_WHATIF_TESTING_H_

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "ir/graph_testing.h"
#include "scenario/find_machine.h"
#include "scenario/resolve.h"
#include "whatif/apply.h"
#include "whatif/case.h"
#include "whatif/change.h"

namespace stepcast::whatif {

/// A measured step; `gpu` is what it was recorded on.
inline Case TraceOf(std::string_view text,
                    std::string_view gpu = "v100-sxm-16gb") {
  auto graph = std::make_shared<const ir::Graph>(ir::GraphOf(text));
  auto machine = scenario::MachineOfSteps(gpu, "", graph->data());
  CHECK(machine.has_value()) << machine.error().message;
  auto made = CaseOfTrace(std::move(graph), *std::move(machine), {});
  CHECK(made.has_value()) << made.error().message;
  return *std::move(made);
}

inline std::vector<Change> ChangesOf(
    std::initializer_list<std::string_view> texts) {
  std::vector<Change> changes;
  for (const std::string_view text : texts) {
    auto change = ParseChange(text);
    CHECK(change.has_value()) << change.error().message;
    changes.push_back(*std::move(change));
  }
  return changes;
}

inline Changed After(const Case& before,
                     std::initializer_list<std::string_view> texts) {
  scenario::Resolver resolver;
  auto changed = Apply(before, ChangesOf(texts), resolver);
  CHECK(changed.has_value()) << changed.error().message;
  return *std::move(changed);
}

/// How many microseconds the step gets longer.
inline double DeltaUs(const Case& before,
                      std::initializer_list<std::string_view> texts) {
  return ToMicroseconds(After(before, texts).delta.step);
}

inline std::string ErrorOf(const Case& before, std::string_view text) {
  scenario::Resolver resolver;
  const auto changed = Apply(before, ChangesOf({text}), resolver);
  return changed ? "" : changed.error().message;
}

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_WHATIF_TESTING_H_

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
#include "engine/predictor.h"
#include "ir/graph_text.h"
#include "whatif/apply.h"
#include "whatif/case.h"
#include "whatif/change.h"

namespace stepcast::whatif {

/// A measured step; `gpu` is what it was recorded on.
inline Case TraceOf(std::string_view text, std::string gpu = "v100-sxm-16gb") {
  auto graph = ir::ParseGraph(text);
  CHECK(graph.has_value()) << graph.error().message;
  auto made = CaseOfTrace(std::make_shared<const ir::Graph>(*std::move(graph)),
                          {.gpu = std::move(gpu)}, {});
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
  engine::Predictor predictor;
  auto changed = Apply(before, ChangesOf(texts), predictor);
  CHECK(changed.has_value()) << changed.error().message;
  return *std::move(changed);
}

/// How many microseconds the step gets longer.
inline double DeltaUs(const Case& before,
                      std::initializer_list<std::string_view> texts) {
  return ToMicroseconds(After(before, texts).delta.step);
}

inline std::string ErrorOf(const Case& before, std::string_view text) {
  engine::Predictor predictor;
  const auto changed = Apply(before, ChangesOf({text}), predictor);
  return changed ? "" : changed.error().message;
}

}  // namespace stepcast::whatif

#endif  // STEPCAST_WHATIF_WHATIF_TESTING_H_

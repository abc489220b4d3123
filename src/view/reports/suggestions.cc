#include "view/reports/suggestions.h"

#include <utility>

#include <fmt/format.h>

#include "base/text/join.h"
#include "base/text/text_table.h"
#include "view/reports/text_parts.h"

namespace stepcast::view {
namespace {

// The two things that the critical path spends less on by most.
std::string ReasonOf(const WhatifReport& report) {
  constexpr size_t kMost = 2;
  std::vector<std::string> reasons;
  for (const PathChange& change : report.path) {
    if (change.delta() < Duration{} && reasons.size() < kMost) {
      reasons.push_back(fmt::format("{} ms {}", DeltaText(change.delta()),
                                    Printable(change.what)));
    }
  }
  return Join(reasons, ", ");
}

}  // namespace

SuggestionsReport ReportSuggestions(const whatif::Case& before,
                                    const whatif::Suggestions& suggestions,
                                    const std::string& name) {
  SuggestionsReport report;
  report.before = ReportCase(before, name);
  for (const whatif::Suggestion& suggestion : suggestions.gains) {
    const WhatifReport single =
        ReportWhatif(before, suggestion.changed, {&suggestion.change, 1}, name);
    report.gains.push_back({.change = suggestion.change.text,
                            .delta = suggestion.changed.delta,
                            .confidence = whatif::Name(suggestion.confidence),
                            .bound = suggestion.changed.bound,
                            .reason = ReasonOf(single),
                            .action = suggestion.action,
                            .per_sample = suggestion.per_sample});
  }
  for (const whatif::Combination& pair : suggestions.pairs) {
    PairRow row{.changes = {},
                .delta = pair.changed.delta,
                .confidence = whatif::Name(pair.confidence),
                .bound = pair.changed.bound};
    for (const whatif::Change& change : pair.changes) {
      row.changes.push_back(change.text);
    }
    report.pairs.push_back(std::move(row));
  }
  report.rejected = suggestions.rejected;
  report.notes = suggestions.notes;
  return report;
}

}  // namespace stepcast::view

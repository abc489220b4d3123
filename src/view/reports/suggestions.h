// Changes ranked by what they gain.
#ifndef STEPCAST_VIEW_REPORTS_SUGGESTIONS_H_
#define STEPCAST_VIEW_REPORTS_SUGGESTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "view/reports/whatif.h"
#include "whatif/suggest.h"

namespace stepcast::view {

struct SuggestionRow {
  std::string change;
  whatif::Delta delta;
  std::string_view confidence;
  bool bound = false;
  std::string reason;  // What it takes off the critical path.
  whatif::Action action{};
  bool per_sample = false;  // The gain is that of as many samples.
};

/// Two changes that gain more together.
struct PairRow {
  std::vector<std::string> changes{};
  whatif::Delta delta{};
  std::string_view confidence{};
  bool bound = false;
};

struct SuggestionsReport {
  PredictionReport before;
  std::vector<SuggestionRow> gains;  // The largest first.
  std::vector<PairRow> pairs;        // The same.
  std::vector<whatif::Rejected> rejected;
  std::vector<std::string> notes;
};

SuggestionsReport ReportSuggestions(const whatif::Case& before,
                                    const whatif::Suggestions& suggestions,
                                    const std::string& name);

/// With the timeline of the step as it is, which must live as long as the
/// document.
Doc SuggestionsDoc(const SuggestionsReport& report, const whatif::Case& before);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_REPORTS_SUGGESTIONS_H_

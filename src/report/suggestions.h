// Changes ranked by what they gain.
#ifndef STEPCAST_REPORT_SUGGESTIONS_H_
#define STEPCAST_REPORT_SUGGESTIONS_H_

#include <string>
#include <string_view>
#include <vector>

#include "report/whatif.h"
#include "whatif/suggest.h"

namespace stepcast::report {

struct SuggestionRow {
  std::string change;
  whatif::Delta delta;
  std::string_view confidence;
  bool bound = false;
  std::string reason;  // What it takes off the critical path.
};

struct SuggestionsReport {
  PredictionReport before;
  std::vector<SuggestionRow> gains;  // The largest first.
  std::vector<whatif::Rejected> rejected;
};

SuggestionsReport ReportSuggestions(const whatif::Case& before,
                                    const whatif::Suggestions& suggestions,
                                    const std::string& name);

/// With the timeline of the step as it is, which must live as long as the
/// document.
view::Doc SuggestionsDoc(const SuggestionsReport& report,
                         const whatif::Case& before);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_SUGGESTIONS_H_

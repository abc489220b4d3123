// What the doctor itself finds odd, beside what the readers count.
#ifndef STEPCAST_REPORT_ODDITIES_H_
#define STEPCAST_REPORT_ODDITIES_H_

#include "base/diagnostics.h"

namespace stepcast::report {

inline constexpr DiagnosticKind kNoTimes{
    .name = "no-times",
    .what = "no work has a measured start, as in most execution traces",
    .advice = "give the profiler trace of the same run beside it"};
inline constexpr DiagnosticKind kUnclassified{
    .name = "unclassified-kernels",
    .what = "kernels whose name no rule knows; only their time is used",
    .advice = "add the names to a rule file and give it with --rules"};
inline constexpr DiagnosticKind kNoGraph{
    .name = "no-graph",
    .what = "no execution graph can be built",
    .advice = "see the example"};

inline constexpr DiagnosticKind kNoOrder{.name = "no-order",
                                         .what = "the step cannot be simulated",
                                         .advice = "see the example"};

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_ODDITIES_H_

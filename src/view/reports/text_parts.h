// Texts that several reports for people share.
#ifndef STEPCAST_VIEW_REPORTS_TEXT_PARTS_H_
#define STEPCAST_VIEW_REPORTS_TEXT_PARTS_H_

#include <span>
#include <string>
#include <string_view>

#include "base/units.h"
#include "engine/explain/account.h"
#include "view/reports/path_summary.h"

namespace stepcast::view {

// What a step is bound by, in one line.

/// "bound by the host: 58.4 % of the critical path; the GPU is active 64.3 % of
/// the step, most of its kernels are gemm"
std::string Verdict(const PathSummary& path, const engine::RankAccount& account,
                    std::string_view active = "the GPU is active");

// Ranks of a job that are reported once for several alike.

/// "rank 18 stands for 46 alike", or "rank 0 stands for all 64, which are
/// alike"; empty if every rank is reported.
std::string AlikeText(std::span<const engine::RankAccount> accounts);

/// "rank 3", "rank 18 × 46".
std::string RankName(const engine::RankAccount& account);

/// "14.455": milliseconds with the microseconds as decimals.
std::string MillisecondsText(Duration time);
/// The same of microseconds.
std::string MillisecondsText(double us);

/// "45.6 %" for 0.456.
std::string PercentText(double share);
/// The same for part / whole; "-" if the whole is nothing.
std::string PercentText(Duration part, Duration whole);

/// "1.5 MB", in powers of 1000; "-" for 0.
std::string BytesText(Bytes bytes);

/// "1 step", "3 steps".
std::string CountText(int64_t count, std::string_view singular);
/// The same for words whose plural is not just an "s" more.
std::string CountText(int64_t count, std::string_view singular,
                      std::string_view plural);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_REPORTS_TEXT_PARTS_H_

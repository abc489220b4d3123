// Texts that several reports for people share.
#ifndef STEPCAST_VIEW_REPORTS_TEXT_PARTS_H_
#define STEPCAST_VIEW_REPORTS_TEXT_PARTS_H_

#include <span>
#include <string>
#include <string_view>

#include "base/units.h"
#include "engine/explain/account.h"
#include "engine/explain/limits.h"
#include "view/doc.h"

namespace stepcast::view {

// What a step is bound by, in one line.

/// "host-bound: 38.4 % shorter if the host took no time, 2.1 % if kernels and
/// copies took none; the GPU is active 64.3 % of the step, most of its kernels
/// are gemm". On servers without GPUs, `server`, processors do the work.
std::string Verdict(const engine::StepLimits& limits,
                    const engine::RankAccount& account, bool server = false);

/// The same as a table and for programs.
void AddLimits(const engine::StepLimits& limits, Duration step, bool server,
               Doc& doc);

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

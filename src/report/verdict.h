// What a step is bound by, in one line.
#ifndef STEPCAST_REPORT_VERDICT_H_
#define STEPCAST_REPORT_VERDICT_H_

#include <string>
#include <string_view>

#include "engine/account.h"
#include "report/path_summary.h"

namespace stepcast::report {

/// "bound by the host: 58.4 % of the critical path; the GPU is active 64.3 % of
/// the step, most of its kernels are gemm"
std::string Verdict(const PathSummary& path, const engine::RankAccount& account,
                    std::string_view active = "the GPU is active");

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_VERDICT_H_

// Which ranks of a job are told once for several.
#ifndef STEPCAST_REPORT_ALIKE_TEXT_H_
#define STEPCAST_REPORT_ALIKE_TEXT_H_

#include <span>
#include <string>

#include "engine/account.h"

namespace stepcast::report {

/// "rank 18 stands for 46 alike", or "rank 0 stands for all 64, which are
/// alike"; empty if every rank is told.
std::string AlikeText(std::span<const engine::RankAccount> accounts);

/// "rank 3", "rank 18 × 46".
std::string RankName(const engine::RankAccount& account);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_ALIKE_TEXT_H_

// Parts that the HTML pages of several reports are made of.
#ifndef STEPCAST_REPORT_HTML_PARTS_H_
#define STEPCAST_REPORT_HTML_PARTS_H_

#include <span>
#include <string>

#include "engine/account.h"
#include "engine/price_works.h"
#include "html/page.h"
#include "ir/graph.h"
#include "report/path_summary.h"
#include "report/simulated_slices.h"

namespace stepcast::report {

/// Where each rank's step went.
std::string AccountBars(std::span<const engine::RankAccount> accounts);

/// The critical path, then every rank's threads (ops, calls) and streams.
std::string StepTimeline(const ir::Graph& graph, const SimulatedStep& step);

/// The works of a rank that take most, summed by name; where their times come
/// from, if there are `prices`.
html::Table TopWorks(const ir::Graph& graph, const SimulatedStep& step,
                     const engine::RankAccount& account,
                     const engine::PricedWorks* prices);

/// What the critical path was spent on, the longest first.
html::Table PathTable(const PathSummary& path);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_HTML_PARTS_H_

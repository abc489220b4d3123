// Blocks of the doctor's report: what the files of a rank hold.
#ifndef STEPCAST_VIEW_REPORTS_RANK_BLOCKS_H_
#define STEPCAST_VIEW_REPORTS_RANK_BLOCKS_H_

#include <string>
#include <vector>

#include "trace/inspect/coverage.h"
#include "view/doc.h"
#include "view/reports/doctor.h"

namespace stepcast::view {

/// Everything about one rank; what is odd is for programs.
Doc RankBlocks(const RankReport& rank);

/// The families of kernels and the names that no rule knows.
void AddCoverage(const trace::Coverage& coverage, Doc& doc);

/// What is odd, for programs.
Table DiagnosticTable(const Diagnostics& diagnostics);

/// "verdict", for programs.
Facts VerdictFacts(const InputVerdict& verdict);

/// "kineto 2022, schema 1".
std::string FormatText(const FileFacts& file);

/// "2 x Tesla V100-SXM2-32GB (80 SMs, 34.1 GB)", or "not recorded".
std::string DevicesText(const std::vector<trace::DeviceInfo>& devices);

}  // namespace stepcast::view

#endif  // STEPCAST_VIEW_REPORTS_RANK_BLOCKS_H_

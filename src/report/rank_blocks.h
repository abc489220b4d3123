// Blocks of the doctor's report: what the files of a rank hold.
#ifndef STEPCAST_REPORT_RANK_BLOCKS_H_
#define STEPCAST_REPORT_RANK_BLOCKS_H_

#include <string>
#include <vector>

#include "report/coverage.h"
#include "report/doctor.h"
#include "view/doc.h"

namespace stepcast::report {

/// Everything about one rank; what is odd is for programs.
view::Doc RankBlocks(const RankReport& rank);

/// The families of kernels and the names that no rule knows.
void AddCoverage(const Coverage& coverage, view::Doc& doc);

/// What is odd, for programs.
view::Table DiagnosticTable(const Diagnostics& diagnostics);

/// "verdict", for programs.
view::Facts VerdictFacts(const InputVerdict& verdict);

/// "kineto 2022, schema 1".
std::string FormatText(const FileFacts& file);

/// "2 x Tesla V100-SXM2-32GB (80 SMs, 34.1 GB)", or "not recorded".
std::string DevicesText(const std::vector<ingest::DeviceInfo>& devices);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_RANK_BLOCKS_H_

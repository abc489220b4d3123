// Everything about one rank's files, for people.
#ifndef STEPCAST_REPORT_RANK_TEXT_H_
#define STEPCAST_REPORT_RANK_TEXT_H_

#include <string>

#include "report/doctor.h"

namespace stepcast::report {

/// Path, format, job and GPU; steps; counts; GPU time; pairing. What is odd is
/// left to the caller.
std::string RankText(const RankReport& rank);

/// "kineto 2022, schema 1".
std::string FormatText(const FileFacts& file);

/// "2 x Tesla V100-SXM2-32GB (80 SMs, 34.1 GB)", or "not recorded".
std::string DevicesText(const std::vector<ingest::DeviceInfo>& devices);

/// How the steps were told apart, as a clause: "marked by ProfilerStep".
std::string StepSourceText(const TraceFacts& facts);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_RANK_TEXT_H_

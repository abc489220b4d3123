// The charts of a study.
#ifndef STEPCAST_REPORT_EXPLORED_CHARTS_H_
#define STEPCAST_REPORT_EXPLORED_CHARTS_H_

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "explore/columns.h"
#include "explore/study.h"
#include "view/doc.h"

namespace stepcast::report {

/// "point large, batch 1024": which row it is.
std::string WhatVaries(const explore::Explored& explored,
                       const explore::CellReader& cells);

/// As the study says, or the throughput over its first numbers.
std::vector<explore::ChartSpec> ChartsOf(const explore::Study& study);

/// The rows that a chart is of.
struct ChartSubject {
  const explore::Explored& explored;
  std::span<const int64_t> rows{};
  const std::vector<bool>* marked = nullptr;  // Drawn larger and joined.
};
view::AnyChart DrawChart(const ChartSubject& subject,
                         const explore::ChartSpec& spec);

}  // namespace stepcast::report

#endif  // STEPCAST_REPORT_EXPLORED_CHARTS_H_

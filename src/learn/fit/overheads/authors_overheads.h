// Overheads as the authors of the seed papers published them.
#ifndef STEPCAST_LEARN_FIT_OVERHEADS_AUTHORS_OVERHEADS_H_
#define STEPCAST_LEARN_FIT_OVERHEADS_AUTHORS_OVERHEADS_H_

#include <span>
#include <string>

#include "base/result.h"
#include "cost/overheads/overhead_table.h"
#include "learn/measured/csv.h"

namespace stepcast::learn {

struct AuthorsOptions {
  std::string name = "authors";
};

/// Reads tables of several kinds, known by their columns, into one set:
///   - complete sets of one workload (T1-T5, raw);
///   - T1 and T2 of many workloads, of which those of DLRM count;
///   - means read from figures (T1, T2, T3, T5, without the profiler), with
///     T4 as the papers set it.
/// Of an op that several have, figures win, then complete sets. Quantiles are
/// those of a normal distribution. An unknown kind of table is an error.
Result<cost::OverheadData> ReadAuthorsOverheads(
    std::span<const CsvTable> tables, const AuthorsOptions& options = {});

/// The mean of whole numbers that is printed so with four digits after the
/// point: over the fewest of them that give it.
double UnroundedMean(double printed);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_FIT_OVERHEADS_AUTHORS_OVERHEADS_H_

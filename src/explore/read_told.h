// The parts of study files that say what is told: columns, charts, the Pareto
// front, and how far conclusions hang on uncertain inputs.
#ifndef STEPCAST_EXPLORE_READ_TOLD_H_
#define STEPCAST_EXPLORE_READ_TOLD_H_

#include "base/result.h"
#include "base/toml_read.h"
#include "explore/study.h"

namespace stepcast::explore {

/// Reads them from the file whose axes `study` has.
Status ReadTold(const toml::table& file, Study& study);

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_READ_TOLD_H_

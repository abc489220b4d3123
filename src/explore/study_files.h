// The studies that are built in, and studies from files of the user.
#ifndef STEPCAST_EXPLORE_STUDY_FILES_H_
#define STEPCAST_EXPLORE_STUDY_FILES_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "explore/read_study.h"
#include "explore/study.h"

namespace stepcast::explore {

/// The built-in names, sorted.
const std::vector<std::string>& StudyNames();

/// A study by what the user calls it: a built-in name ("batch_sweep"; "-" and
/// "_" are one) or a path ending in .toml. An unknown name lists near ones.
Result<Study> FindStudy(std::string_view text, int64_t limit = kMostRows);

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_STUDY_FILES_H_

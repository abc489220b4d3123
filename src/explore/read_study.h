// Study files: reading them, with the line of everything that is wrong.
#ifndef STEPCAST_EXPLORE_READ_STUDY_H_
#define STEPCAST_EXPLORE_READ_STUDY_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "explore/study.h"

namespace stepcast::explore {

/// Rows of a study, unless the user says otherwise.
inline constexpr int64_t kMostRows = 1'000'000;

/// Reads the text of a study (docs/formats/study_file.md); `source` is its
/// name in messages. Fails at keys and values that nothing is called, at axes
/// without values, and where there are more than `limit` rows.
Result<Study> ParseStudy(std::string_view text, std::string_view source,
                         int64_t limit = kMostRows);

/// Makes the scenario of every row, and fails at the first that cannot be: a
/// server with GPUs it has not, sizes that do not fit each other.
Status CheckRows(const Study& study);

// The studies that are built in, and studies from files of the user.

/// The built-in names, sorted.
const std::vector<std::string>& StudyNames();

/// A study by what the user calls it: a built-in name ("batch_sweep"; "-" and
/// "_" are one) or a path ending in .toml. An unknown name lists near ones.
Result<Study> FindStudy(std::string_view text, int64_t limit = kMostRows);

}  // namespace stepcast::explore

#endif  // STEPCAST_EXPLORE_READ_STUDY_H_

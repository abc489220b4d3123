// Finding CSV files in what the user names.
#ifndef STEPCAST_MEASUREMENTS_CSV_FILES_H_
#define STEPCAST_MEASUREMENTS_CSV_FILES_H_

#include <filesystem>
#include <vector>

#include "base/result.h"

namespace stepcast::measurements {

/// A file as it is; of a directory all .csv files in it, recursively, by name.
/// A directory without any is an error.
Result<std::vector<std::filesystem::path>> ListCsvFiles(
    const std::filesystem::path& path);

}  // namespace stepcast::measurements

#endif  // STEPCAST_MEASUREMENTS_CSV_FILES_H_

#include "measurements/csv_files.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

namespace stepcast::measurements {

Result<std::vector<std::filesystem::path>> ListCsvFiles(
    const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_directory(path, error)) {
    return std::vector<std::filesystem::path>{path};
  }
  std::vector<std::filesystem::path> files;
  for (auto it = std::filesystem::recursive_directory_iterator(path, error);
       !error && it != std::filesystem::recursive_directory_iterator();
       it.increment(error)) {
    if (it->is_regular_file(error) && it->path().extension() == ".csv") {
      files.push_back(it->path());
    }
  }
  if (error) {
    return Fail(ErrorCode::kIo, fmt::format("cannot list {}: {}", path.string(),
                                            error.message()));
  }
  if (files.empty()) {
    return Fail(ErrorCode::kNotFound,
                fmt::format("no .csv file in {}", path.string()));
  }
  std::ranges::sort(files);
  return files;
}

}  // namespace stepcast::measurements

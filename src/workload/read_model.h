// Reading model files (docs/formats/model_file.md).
#ifndef STEPCAST_WORKLOAD_READ_MODEL_H_
#define STEPCAST_WORKLOAD_READ_MODEL_H_

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "workload/model.h"

namespace stepcast::workload {

/// Gives the text of a file that a model file names.
using ReadText = std::function<Result<std::string>(std::string_view name)>;

/// A model from the text of its file; `source` is the file's name in messages,
/// "file:line: what; expected". `read` gets the names of files with measured
/// ids.
Result<Model> ParseModel(std::string_view text, std::string_view source,
                         const ReadText& read);

/// A model from a file; files with ids are looked for beside it.
Result<Model> LoadModel(const std::filesystem::path& path);

}  // namespace stepcast::workload

#endif  // STEPCAST_WORKLOAD_READ_MODEL_H_

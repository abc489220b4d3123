// Reading model files (docs/formats/model_file.md).
#ifndef STEPCAST_WORKLOAD_READ_MODEL_H_
#define STEPCAST_WORKLOAD_READ_MODEL_H_

#include <string_view>

#include "base/catalog.h"
#include "base/result.h"
#include "workload/model.h"

namespace stepcast::workload {

/// A model from the text of its file; `source` is the file's name in messages,
/// "file:line: what; expected". `read` gets the names of files with measured
/// ids.
Result<Model> ParseModel(std::string_view text, std::string_view source,
                         const ReadBeside& read);

}  // namespace stepcast::workload

#endif  // STEPCAST_WORKLOAD_READ_MODEL_H_

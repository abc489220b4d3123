// Reading model files (docs/formats/model_file.md).
#ifndef STEPCAST_MODEL_READ_MODEL_H_
#define STEPCAST_MODEL_READ_MODEL_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/files/catalog.h"
#include "base/result.h"
#include "model/model.h"

namespace stepcast::model {

/// A model from the text of its file; `source` is the file's name in messages,
/// "file:line: what; expected". `read` gets the names of files with measured
/// ids.
Result<Model> ParseModel(std::string_view text, std::string_view source,
                         const ReadSibling& read);

// The models that are built in, and models from files of the user.

/// Whether `text` is a built-in name.
bool IsModelName(std::string_view text);

/// A model by what the user calls it: a built-in name ("dlrm_mlperf"; "-" and
/// "_" and the case are one) or a path ending in .toml. An unknown name lists
/// near ones.
Result<Model> FindModel(std::string_view text);

/// Every built-in model, by name.
Result<std::vector<Model>> LoadModels();

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_READ_MODEL_H_

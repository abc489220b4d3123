// Reading model files (docs/formats/model_file.md).
#ifndef STEPCAST_MODEL_READ_MODEL_H_
#define STEPCAST_MODEL_READ_MODEL_H_

#include <string_view>

#include "base/files/catalog.h"
#include "base/result.h"
#include "model/model.h"

namespace stepcast::model {

/// A model from the text of its file; `source` is the file's name in messages,
/// "file:line: what; expected". `read` gets the names of files with measured
/// ids.
Result<Model> ParseModel(std::string_view text, std::string_view source,
                         const ReadSibling& read);

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_READ_MODEL_H_

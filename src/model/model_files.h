// The models that are built in, and models from files of the user.
#ifndef STEPCAST_MODEL_MODEL_FILES_H_
#define STEPCAST_MODEL_MODEL_FILES_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/model.h"

namespace stepcast::model {

/// Whether `text` is a built-in name.
bool IsModelName(std::string_view text);

/// A model by what the user calls it: a built-in name ("dlrm_mlperf"; "-" and
/// "_" and the case are one) or a path ending in .toml. An unknown name lists
/// near ones.
Result<Model> FindModel(std::string_view text);

/// Every built-in model, by name.
Result<std::vector<Model>> LoadModels();

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_MODEL_FILES_H_

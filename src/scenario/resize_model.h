// A model with other sizes: what settings change of it.
#ifndef STEPCAST_SCENARIO_RESIZE_MODEL_H_
#define STEPCAST_SCENARIO_RESIZE_MODEL_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/model.h"

namespace stepcast::scenario {

/// `count` tables: the model's own in turn, from the first again where there
/// are not so many.
void SetTableCount(int64_t count, model::Model& model);

/// Columns of all tables. The bottom MLP ends as wide as they are where it did
/// so before.
void SetDim(int64_t dim, model::Model& model);

/// Layers before the last one, each `width` wide.
void SetWidth(int64_t width, std::vector<int64_t>& mlp);

/// `depth` layers before the last one, each as wide as the first was.
void SetDepth(int64_t depth, std::vector<int64_t>& mlp);

/// "512-256-64".
Result<std::vector<int64_t>> ParseMlp(std::string_view text);

/// Fails where sizes do not fit each other: a dot interaction needs vectors of
/// one length.
Status CheckSizes(const model::Model& model);

}  // namespace stepcast::scenario

#endif  // STEPCAST_SCENARIO_RESIZE_MODEL_H_

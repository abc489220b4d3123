// Small models with tables, for tests.
#ifndef STEPCAST_MODEL_MODEL_TESTING_H_
#define STEPCAST_MODEL_MODEL_TESTING_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "model/model.h"

namespace stepcast::model {

/// A DLRM named "made" with 13 dense features.
inline Model MadeModel(int64_t batch, std::vector<int64_t> bottom_mlp,
                       std::vector<int64_t> top_mlp,
                       std::vector<TableGroup> tables) {
  Model model;
  model.name = "made";
  model.batch = batch;
  model.dense_features = 13;
  model.bottom_mlp = std::move(bottom_mlp);
  model.top_mlp = std::move(top_mlp);
  model.tables = std::move(tables);
  return model;
}

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_MODEL_TESTING_H_

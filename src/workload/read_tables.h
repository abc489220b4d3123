// Reading the embedding tables of a model file.
#ifndef STEPCAST_WORKLOAD_READ_TABLES_H_
#define STEPCAST_WORKLOAD_READ_TABLES_H_

#include <vector>

#include "base/result.h"
#include "workload/model.h"
#include "workload/model_keys.h"
#include "workload/read_model.h"

namespace stepcast::workload {

/// What [[tables]] and, for files with all tables alike, the keys beside it
/// (table_rows, embedding_dim, pooling, ids ...) say.
Result<std::vector<TableGroup>> ReadTables(const ModelKeys& keys,
                                           const ReadBeside& read);

}  // namespace stepcast::workload

#endif  // STEPCAST_WORKLOAD_READ_TABLES_H_

// Which tables are worth the GPU's memory, where not all of them fit.
#ifndef STEPCAST_MODEL_TABLES_HYBRID_PLACEMENT_H_
#define STEPCAST_MODEL_TABLES_HYBRID_PLACEMENT_H_

#include "model/model.h"
#include "model/settings.h"
#include "model/tables/placement.h"

namespace stepcast::model {

/// What came of it.
struct HybridTables {
  int64_t near = 0;       // Tables in the GPU's memory.
  double near_bytes = 0;  // With their optimizer's state.
  int64_t far = 0;
  double far_bytes = 0;
};

/// Places every table in the GPU's memory or `far`, so that those in the GPU's
/// take at most `room` bytes and make for as much of the traffic as can be: a
/// knapsack whose items weigh their bytes and are worth the numbers that a
/// sample moves of them, rows read and the vector made of them.
HybridTables PlaceHybrid(double room, Placement far, const Settings& settings,
                         Model& model);

}  // namespace stepcast::model

#endif  // STEPCAST_MODEL_TABLES_HYBRID_PLACEMENT_H_

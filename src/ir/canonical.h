// The one order in which a graph stores its parts.
#ifndef STEPCAST_IR_CANONICAL_H_
#define STEPCAST_IR_CANONICAL_H_

#include "base/result.h"
#include "ir/graph.h"

namespace stepcast::ir {

/// Sorts everything as GraphData describes and renumbers the ids, which must
/// all be in range (VerifyIds); what compares equal keeps its order. Works get
/// their collective from the collectives, double waits become one, shapes
/// without a work go. Fails where parents form a circle or a work is in two
/// collectives.
Status Canonicalize(GraphData& data);

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_CANONICAL_H_

// Writes one rank of an execution graph as a Chakra trace.
#ifndef STEPCAST_TRACE_READ_CHAKRA_WRITE_CHAKRA_H_
#define STEPCAST_TRACE_READ_CHAKRA_WRITE_CHAKRA_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "ir/graph.h"
#include "ir/shape.h"
#include "trace/read/chakra/chakra.pb.h"

namespace stepcast::trace {

// Attributes of Chakra messages that we write.

template <typename Message>
void AddInteger(std::string_view name, int64_t value, Message& message) {
  chakra::Attribute& attribute = *message.add_attributes();
  attribute.set_name(std::string(name));
  attribute.set_int64_value(value);
}

template <typename Message>
void AddText(std::string_view name, std::string_view value, Message& message) {
  chakra::Attribute& attribute = *message.add_attributes();
  attribute.set_name(std::string(name));
  attribute.set_string_value(std::string(value));
}

inline void AddBool(std::string_view name, bool value, chakra::Node& node) {
  chakra::Attribute& attribute = *node.add_attributes();
  attribute.set_name(std::string(name));
  attribute.set_bool_value(value);
}

/// What Chakra wants to know of a collective (comm_type, comm_size), and all
/// that the graph knows under the names of PyTorch's execution traces.
void AddCollective(const ir::Collective& collective, chakra::Node& node);

/// The bytes of an .et file: a node for each op and each activity of `rank`.
///
///   op        control dependency: the op around it
///             data dependencies:  the op before it on the thread; activities
///                                 that the host waited for before it
///   activity  control dependency: the op that launched it
///             data dependencies:  the activity before it on the stream; those
///                                 on other streams that it waits for
///
/// Times are in microseconds as Chakra wants them, those of ops without the ops
/// in them, and exact in the attributes start_time_nanos and duration_nanos,
/// which ReadChakra prefers. Calls of the device runtime have no place in the
/// format. Fails if the rank has neither ops nor activities.
Result<std::string> WriteChakra(const ir::Graph& graph, ir::RankId rank);

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_READ_CHAKRA_WRITE_CHAKRA_H_

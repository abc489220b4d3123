// Attributes of Chakra messages that we write.
#ifndef STEPCAST_INGEST_CHAKRA_ATTRIBUTES_H_
#define STEPCAST_INGEST_CHAKRA_ATTRIBUTES_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "ingest/chakra/chakra.pb.h"
#include "ir/shape.h"

namespace stepcast::ingest {

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

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_CHAKRA_ATTRIBUTES_H_

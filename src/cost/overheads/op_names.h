// When two names of ops mean nearly the same to the host.
#ifndef STEPCAST_COST_OVERHEADS_OP_NAMES_H_
#define STEPCAST_COST_OVERHEADS_OP_NAMES_H_

#include <string_view>

namespace stepcast::cost {

/// The name without what framework releases and call sites change: the
/// engine's prefix, namespaces, trailing digits and a trailing underscore.
/// "autograd::engine::evaluate_function: AddmmBackward0" and "AddmmBackward"
/// give the same, as do "aten::add_" and "aten::add". A part of `name`.
std::string_view PlainOpName(std::string_view name);

/// A word for ops that do alike on the host: "backward", "optimizer",
/// "collective", "lookup", "copy", "view"; empty for the rest.
std::string_view OpFamily(std::string_view name);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_OVERHEADS_OP_NAMES_H_

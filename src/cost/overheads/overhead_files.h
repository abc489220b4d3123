// The tables of overheads that are built in, and those of the user.
#ifndef STEPCAST_COST_OVERHEADS_OVERHEAD_FILES_H_
#define STEPCAST_COST_OVERHEADS_OVERHEAD_FILES_H_

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cost/overheads/overhead_table.h"

namespace stepcast::cost {

/// The set that is pooled over all hosts and workloads.
inline constexpr std::string_view kSharedOverheads = "shared";

/// The built-in names, in order.
const std::vector<std::string>& OverheadNames();

/// A table by what the user calls it: a built-in name or a path that ends in
/// .toml. Parts that it lacks are those of the shared set. An unknown name
/// lists the known ones.
Result<OverheadData> LoadOverheads(std::string_view name);

/// The same without the shared set's parts.
Result<const OverheadData*> FindOwnOverheads(std::string_view name);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_OVERHEADS_OVERHEAD_FILES_H_

// resize-tables: a model with larger tables.
#include <algorithm>
#include <iterator>
#include <string_view>

#include <fmt/format.h>

#include "base/nearest.h"
#include "whatif/changes/all.h"

namespace stepcast::whatif {

Status SetTableSize(const Change& change, scenario::Job& job) {
  ASSIGN_OR_RETURN(const NamedFactor named, ParseNamedFactor(change));
  constexpr std::string_view kWhat[] = {"rows", "dim", "pooling"};
  const std::string_view what = named.name.empty() ? kWhat[0] : named.name;
  if (std::ranges::find(kWhat, what) == std::end(kWhat)) {
    return Fail(ErrorCode::kInvalidInput,
                Unknown("size of tables", what, kWhat));
  }
  return SetNamed(change, fmt::format("{}-factor", what),
                  fmt::format("{}", named.factor), job);
}

}  // namespace stepcast::whatif

// resize-mlp, resize-tables: a model with wider layers, larger tables.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/nearest.h"
#include "whatif/changes/all.h"
#include "workload/model.h"

namespace stepcast::whatif {
namespace {

int64_t Scaled(int64_t size, double factor) {
  return std::max<int64_t>(std::llround(static_cast<double>(size) * factor), 1);
}

Status NeedsTables(const Change& change, std::string_view what,
                   const workload::Model& model) {
  if (model.tables.empty()) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("change {} does not apply: {} has no {}; "
                            "expected a recommendation model",
                            change.kind->name, model.name, what));
  }
  return {};
}

// Nothing has a size of 0.
Status NeedsSize(const Change& change, double factor) {
  if (factor == 0) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("change {} has the factor 0; expected more than 0",
                            change.text));
  }
  return {};
}

}  // namespace

// Layers between the first and the last; those must fit what is around them.
Status SetMlpSize(const Change& change, engine::Request& request) {
  workload::Model& model = request.model;
  RETURN_IF_ERROR(NeedsTables(change, "MLPs between tables", model));
  ASSIGN_OR_RETURN(const double factor, ParseFactor(change, change.value));
  RETURN_IF_ERROR(NeedsSize(change, factor));
  for (std::vector<int64_t>* widths : {&model.bottom_mlp, &model.top_mlp}) {
    for (size_t i = 0; i + 1 < widths->size(); ++i) {
      (*widths)[i] = Scaled((*widths)[i], factor);
    }
  }
  return {};
}

// Rows, columns or pooling of all tables. The bottom MLP ends as wide as the
// tables where it did so before.
Status SetTableSize(const Change& change, engine::Request& request) {
  workload::Model& model = request.model;
  RETURN_IF_ERROR(NeedsTables(change, "tables", model));
  ASSIGN_OR_RETURN(const NamedFactor named, ParseNamedFactor(change));
  RETURN_IF_ERROR(NeedsSize(change, named.factor));
  constexpr std::string_view kWhat[] = {"rows", "dim", "pooling"};
  const std::string_view what = named.name.empty() ? kWhat[0] : named.name;
  if (std::ranges::find(kWhat, what) == std::end(kWhat)) {
    return Fail(ErrorCode::kInvalidInput,
                Unknown("size of tables", what, kWhat));
  }
  const int64_t dim = model.tables.front().dim;
  for (workload::TableGroup& group : model.tables) {
    if (what == "rows") {
      group.rows = Scaled(group.rows, named.factor);
    } else if (what == "dim") {
      group.dim = Scaled(group.dim, named.factor);
    } else {
      // A sample has an id at least.
      group.pooling = std::max(group.pooling * named.factor, 1.0);
    }
  }
  if (!model.bottom_mlp.empty() && model.bottom_mlp.back() == dim) {
    model.bottom_mlp.back() = model.tables.front().dim;
  }
  return {};
}

}  // namespace stepcast::whatif

// fuse-embeddings: lookups table by table become one over all tables.
#include <map>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "model/frameworks/implementations.h"
#include "whatif/changes/all.h"
#include "whatif/fuse.h"

namespace stepcast::whatif {
namespace {

using Group = std::pair<ir::StreamId, ir::Pass>;

void Append(std::vector<int64_t>& list, const std::vector<int64_t>& more,
            int64_t value, int64_t count) {
  if (more.empty()) {
    list.insert(list.end(), static_cast<size_t>(count), value);
  } else {
    list.insert(list.end(), more.begin(), more.end());
  }
}

// One lookup over the tables of all.
ir::EmbeddingBag Joined(const std::vector<const ir::EmbeddingBag*>& bags) {
  ir::EmbeddingBag joined = *bags.front();
  joined.kernel = ir::BagKernel::kTableBatched;
  joined.tables = joined.rows = joined.lookups = joined.unique_rows = 0;
  joined.table_rows.clear();
  joined.table_dims.clear();
  joined.table_lookups.clear();
  int64_t columns = 0;
  bool unique = true;
  for (const ir::EmbeddingBag* bag : bags) {
    joined.tables += bag->tables;
    joined.rows += bag->rows;
    joined.lookups += bag->lookups;
    joined.unique_rows += bag->unique_rows;
    unique = unique && bag->unique_rows > 0;
    columns += bag->dim * bag->tables;
    Append(joined.table_rows, bag->table_rows, bag->rows, bag->tables);
    Append(joined.table_dims, bag->table_dims, bag->dim, bag->tables);
    Append(joined.table_lookups, bag->table_lookups, bag->lookups, bag->tables);
  }
  joined.unique_rows = unique ? joined.unique_rows : 0;
  joined.dim = columns / std::max<int64_t>(joined.tables, 1);
  return joined;
}

}  // namespace

Status SetFusedEmbeddings(const Change& change, scenario::Job& job) {
  RETURN_IF_ERROR(NoValue(change));
  const model::Implementation* const impl = job.request.settings.impl;
  if (impl->fused.empty()) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("change fuse-embeddings does not apply: {} has no "
                            "lookups table by table; expected pytorch-bags",
                            impl->name));
  }
  // The host stays the one it is.
  if (job.names.overheads.empty()) {
    job.names.overheads = impl->overheads;
  }
  return SetNamed(change, "impl", impl->fused, job);
}

Status FuseEmbeddings(const Change& change, StepEditor& editor) {
  RETURN_IF_ERROR(NoValue(change));
  const ir::GraphData& data = editor.data();
  std::map<Group, std::vector<ir::ActivityId>> groups;
  for (const ir::ActivityId id : data.activities.ids()) {
    const auto* bag = std::get_if<ir::EmbeddingBag>(&editor.shape(id));
    if (!editor.times().activities[id].dropped && bag != nullptr &&
        bag->kernel == ir::BagKernel::kPerTable && ir::IsSized(*bag)) {
      groups[{data.activities[id].stream, bag->pass}].push_back(id);
    }
  }
  FusedActivities fused;
  for (const auto& [group, activities] : groups) {
    if (activities.size() < 2) {
      continue;
    }
    std::vector<const ir::EmbeddingBag*> bags;
    for (const ir::ActivityId id : activities) {
      bags.push_back(&std::get<ir::EmbeddingBag>(editor.shape(id)));
    }
    RETURN_IF_ERROR(Fuse(activities, Joined(bags), editor, fused));
  }
  if (fused.groups == 0 &&
      AnyFused(editor, [](ir::ActivityId /*id*/, const ir::KernelShape& shape) {
        return std::holds_alternative<ir::EmbeddingBag>(shape);
      })) {
    return {};
  }
  if (fused.groups == 0) {
    return Fail(ErrorCode::kUnsupported,
                "change fuse-embeddings does not apply: no two lookups go "
                "table by table with sizes known; expected nn.EmbeddingBag "
                "ops in a trace with shapes");
  }
  DropLaunches(fused.dropped, editor);
  editor.Note(fmt::format("{} lookups in {}, in the order of the first",
                          fused.dropped.size() + fused.groups, fused.groups));
  return {};
}

}  // namespace stepcast::whatif

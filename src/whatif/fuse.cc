#include "whatif/fuse.h"

#include <algorithm>
#include <utility>

namespace stepcast::whatif {
namespace {

// How many works calls and top-level ops have put on a device.
struct Launched {
  uint32_t works = 0;
  uint32_t dropped = 0;
  bool all() const { return works > 0 && works == dropped; }
};

}  // namespace

bool AnyFused(
    const StepEditor& editor,
    const std::function<bool(ir::WorkId, const ir::KernelShape&)>& is_so) {
  return std::ranges::any_of(editor.times().fusions, [&](const auto& item) {
    return is_so(item.first, editor.shape(item.first));
  });
}

Status Fuse(std::span<const ir::WorkId> works, const ir::KernelShape& joined,
            StepEditor& editor, FusedWorks& fused) {
  ASSIGN_OR_RETURN(ShapePrices* const prices,
                   editor.PricesOn(editor.machine()));
  Fusion fusion{.shape = editor.AddShape(joined)};
  prices->Want(fusion.shape, joined);
  for (const ir::WorkId id : works) {
    prices->Want(editor.times().works[id].shape, editor.shape(id));
  }
  prices->Fill();
  bool priced = (*prices)[fusion.shape].has_value();
  double duration = 0;
  for (const ir::WorkId id : works) {
    const EditedWork& work = editor.times().works[id];
    priced = priced && (*prices)[work.shape].has_value();
    duration += work.duration / work.ratio;
    const auto parts = editor.WorksIn(id);
    fusion.works.insert(fusion.works.end(), parts.begin(), parts.end());
  }
  if (!priced) {
    return {};
  }
  const ir::WorkId first = works.front();
  editor.times().works[first].duration = duration;
  editor.times().works[first].ratio = 1;
  editor.SetShape(first, fusion.shape);
  editor.times().fusions[first] = std::move(fusion);
  RETURN_IF_ERROR(editor.Reprice({&first, 1}));
  fused.dropped.insert(fused.dropped.end(), works.begin() + 1, works.end());
  ++fused.groups;
  return {};
}

void DropLaunches(const std::vector<ir::WorkId>& works, StepEditor& editor) {
  const ir::GraphData& data = editor.data();
  for (const ir::WorkId id : works) {
    editor.DropWork(id);
  }
  const IdVector<ir::OpId, ir::OpId> tops = timeline::TopLevelOps(data);
  IdVector<ir::CallId, Launched> calls(data.calls.size());
  IdVector<ir::OpId, Launched> ops(data.ops.size());
  for (const ir::WorkId id : data.works.ids()) {
    const ir::CallId call = data.works[id].call;
    if (!call.valid()) {
      continue;
    }
    const uint32_t dropped = editor.times().works[id].dropped ? 1 : 0;
    ++calls[call].works;
    calls[call].dropped += dropped;
    const ir::OpId op = data.calls[call].op;
    if (op.valid() && tops[op].valid()) {
      ++ops[tops[op]].works;
      ops[tops[op]].dropped += dropped;
    }
  }
  for (const ir::ThreadId thread : data.threads.ids()) {
    const auto& pieces = editor.plan().threads[thread];
    for (uint32_t i = 0; i < pieces.size(); ++i) {
      const timeline::HostPiece& piece = pieces[i];
      if (piece.kind != cost::HostKind::kHandOver &&
          ((piece.call.valid() && calls[piece.call].all()) ||
           (piece.op.valid() && ops[piece.op].all()))) {
        editor.DropPiece({.thread = thread, .piece = i});
      }
    }
  }
}

}  // namespace stepcast::whatif

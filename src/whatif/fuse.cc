#include "whatif/fuse.h"

#include <optional>

namespace stepcast::whatif {
namespace {

// How many works calls and top-level ops have put on a device.
struct Launched {
  uint32_t works = 0;
  uint32_t dropped = 0;
  bool all() const { return works > 0 && works == dropped; }
};

}  // namespace

Status Fuse(std::span<const ir::WorkId> works, const ir::KernelShape& joined,
            StepEditor& editor, FusedWorks& fused) {
  ASSIGN_OR_RETURN(const cost::KernelModels* models, editor.Models());
  std::optional<cost::Estimate> from;
  double duration = 0;
  for (const ir::WorkId id : works) {
    const auto price = models->Price(editor.graph().shape(id));
    if (!price) {
      return {};
    }
    if (!from) {
      from = *price;
    } else {
      from->p10_us += price->p10_us;
      from->p50_us += price->p50_us;
      from->p90_us += price->p90_us;
    }
    duration += editor.times().works[id].duration;
  }
  const auto to = models->Price(joined);
  if (!to || !from) {
    return {};
  }
  editor.times().works[works.front()].duration = duration;
  editor.Reprice(works.front(), *from, *to);
  fused.dropped.insert(fused.dropped.end(), works.begin() + 1, works.end());
  ++fused.groups;
  return {};
}

void DropLaunches(const std::vector<ir::WorkId>& works, StepEditor& editor) {
  const ir::GraphData& data = editor.data();
  for (const ir::WorkId id : works) {
    editor.DropWork(id);
  }
  const IdVector<ir::OpId, ir::OpId> tops = cost::TopLevelOps(data);
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
      const cost::HostPiece& piece = pieces[i];
      if (piece.kind != cost::HostKind::kHandOver &&
          ((piece.call.valid() && calls[piece.call].all()) ||
           (piece.op.valid() && ops[piece.op].all()))) {
        editor.DropPiece({.thread = thread, .piece = i});
      }
    }
  }
}

}  // namespace stepcast::whatif

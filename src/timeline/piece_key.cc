#include "timeline/piece_key.h"

#include <algorithm>

#include <fmt/format.h>

#include "ir/names.h"

namespace stepcast::timeline {
namespace {

KeyWord WordOf(ir::CallKind kind) {
  return static_cast<KeyWord>(static_cast<uint8_t>(KeyWord::kCallKind) +
                              static_cast<uint8_t>(kind));
}

std::string CallWord(KeyWord word) {
  if (word == KeyWord::kBlocking) {
    return "blocking";
  }
  return std::string(ir::Name(static_cast<ir::CallKind>(
      static_cast<uint8_t>(word) - static_cast<uint8_t>(KeyWord::kCallKind))));
}

}  // namespace

bool Waits(const ir::GraphData& data, ir::CallId call) {
  return std::ranges::binary_search(data.host_waits, call, {},
                                    &ir::HostWait::call);
}

std::vector<PieceKey> KeysOf(const ir::GraphData& data, const HostPlan& plan,
                             ir::ThreadId thread) {
  const std::vector<HostPiece>& pieces = plan.threads[thread];
  std::vector<PieceKey> keys(pieces.size());
  for (size_t i = 0; i < pieces.size(); ++i) {
    const HostPiece& piece = pieces[i];
    PieceKey& key = keys[i];
    key.part = PartOf(piece.kind);
    if (piece.kind == cost::HostKind::kHandOver) {
      key.word = KeyWord::kFinish;
    } else if (piece.kind == cost::HostKind::kCall) {
      const ir::Call& call = data.calls[piece.call];
      key.word =
          Waits(data, piece.call) ? KeyWord::kBlocking : WordOf(call.kind);
      key.name = call.name;
    } else if (piece.op.valid()) {
      key.name = data.ops[piece.op].name;
    } else {
      const bool call_next =
          i + 1 < pieces.size() && pieces[i + 1].kind == cost::HostKind::kCall;
      key.word = call_next ? KeyWord::kCallNext : KeyWord::kEndNext;
    }
  }
  for (const HandOver& over : plan.hand_overs) {
    if (over.from == thread && keys[over.from_piece].word == KeyWord::kFinish) {
      keys[over.from_piece].word = KeyWord::kStart;
    }
  }
  return keys;
}

std::string KeyText(const ir::GraphData& data, const PieceKey& key) {
  switch (key.word) {
    case KeyWord::kNone:
      return std::string(data.strings.view(key.name));
    case KeyWord::kCallNext:
      return "(call)";
    case KeyWord::kEndNext:
      return "(end)";
    case KeyWord::kStart:
      return "start";
    case KeyWord::kFinish:
      return "finish";
    default:
      return fmt::format("{} {}", CallWord(key.word),
                         data.strings.view(key.name));
  }
}

std::vector<bool> OpeningPieces(const ir::GraphData& data, const HostPlan& plan,
                                ir::ThreadId thread) {
  std::vector<bool> opening(plan.threads[thread].size());
  if (data.threads[thread].role != ir::ThreadRole::kMain && !opening.empty()) {
    opening.front() = true;
  }
  for (const HandOver& over : plan.hand_overs) {
    if (over.to == thread && plan.threads[thread][over.to_piece].kind ==
                                 cost::HostKind::kBetweenOps) {
      opening[over.to_piece] = true;
    }
  }
  return opening;
}

}  // namespace stepcast::timeline

#include "timeline/segment_key.h"

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

std::vector<SegmentKey> KeysOf(const ir::GraphData& data, const HostPlan& plan,
                               ir::ThreadId thread) {
  const std::vector<HostSegment>& segments = plan.threads[thread];
  std::vector<SegmentKey> keys(segments.size());
  for (size_t i = 0; i < segments.size(); ++i) {
    const HostSegment& segment = segments[i];
    SegmentKey& key = keys[i];
    key.part = PartOf(segment.kind);
    if (segment.kind == cost::HostKind::kHandoff) {
      key.word = KeyWord::kFinish;
    } else if (segment.kind == cost::HostKind::kCall) {
      const ir::Call& call = data.calls[segment.call];
      key.word =
          Waits(data, segment.call) ? KeyWord::kBlocking : WordOf(call.kind);
      key.name = call.name;
    } else if (segment.op.valid()) {
      key.name = data.ops[segment.op].name;
    } else {
      const bool call_next = i + 1 < segments.size() &&
                             segments[i + 1].kind == cost::HostKind::kCall;
      key.word = call_next ? KeyWord::kCallNext : KeyWord::kEndNext;
    }
  }
  for (const Handoff& over : plan.handoffs) {
    if (over.from == thread &&
        keys[over.from_segment].word == KeyWord::kFinish) {
      keys[over.from_segment].word = KeyWord::kStart;
    }
  }
  return keys;
}

std::string KeyText(const ir::GraphData& data, const SegmentKey& key) {
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

std::vector<bool> OpeningSegments(const ir::GraphData& data,
                                  const HostPlan& plan, ir::ThreadId thread) {
  std::vector<bool> opening(plan.threads[thread].size());
  if (data.threads[thread].role != ir::ThreadRole::kMain && !opening.empty()) {
    opening.front() = true;
  }
  for (const Handoff& over : plan.handoffs) {
    if (over.to == thread && plan.threads[thread][over.to_segment].kind ==
                                 cost::HostKind::kBetweenOps) {
      opening[over.to_segment] = true;
    }
  }
  return opening;
}

}  // namespace stepcast::timeline

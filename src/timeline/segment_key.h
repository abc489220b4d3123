// Under which name a table of overheads has a segment of the host's time.
#ifndef STEPCAST_TIMELINE_SEGMENT_KEY_H_
#define STEPCAST_TIMELINE_SEGMENT_KEY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/text/string_pool.h"
#include "cost/overheads/overhead_table.h"
#include "ir/graph.h"
#include "timeline/host_plan.h"

namespace stepcast::timeline {

/// The part of a name that is not a string of the graph.
enum class KeyWord : uint8_t {
  kNone,      // An op's name.
  kCallNext,  // T1 before a call outside of all ops.
  kEndNext,   // T1 after the last op.
  kStart,     // A handoff until another thread starts.
  kFinish,    // A handoff after another thread has finished.
  kBlocking,  // A call that waits for the device.
  kCallKind,  // The first of the kinds of ir::CallKind, which follow.
};

struct SegmentKey {
  cost::OverheadPart part = cost::OverheadPart::kBetweenOps;
  KeyWord word = KeyWord::kNone;
  StringId name = StringPool::kEmpty;  // Of the graph.
  // clang-tidy 14 takes the 0 in a rewritten `a < b` for a pointer.
  // NOLINTNEXTLINE(modernize-use-nullptr)
  friend auto operator<=>(const SegmentKey&, const SegmentKey&) = default;
};

/// The keys of a thread's segments, in their order.
std::vector<SegmentKey> KeysOf(const ir::GraphData& data, const HostPlan& plan,
                               ir::ThreadId thread);

/// "aten::add", "launch cudaLaunchKernel", "(end)".
std::string KeyText(const ir::GraphData& data, const SegmentKey& key);

/// Whether the host waits for an activity in the call.
bool Waits(const ir::GraphData& data, ir::CallId call);

/// Whether a thread's segment is there for form's sake: before the first item
/// of a thread that starts with it, with or without a handoff.
std::vector<bool> OpeningSegments(const ir::GraphData& data,
                                  const HostPlan& plan, ir::ThreadId thread);

}  // namespace stepcast::timeline

#endif  // STEPCAST_TIMELINE_SEGMENT_KEY_H_

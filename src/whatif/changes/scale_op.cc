// scale-op: an op, a kernel or a family takes so many times as long.
#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text/nearest.h"
#include "timeline/silent_waits.h"
#include "whatif/changes/all.h"
#include "whatif/select.h"

namespace stepcast::whatif {

// scale-overhead: the host, or the way from it to the device, is so many times
// as slow.

namespace {

// What the device adds, in addition to the kinds of segments.
constexpr std::string_view kLaunch = "launch";
constexpr std::string_view kGap = "gap";
constexpr std::string_view kSyncTail = "sync_tail";

// Segments in which the host only waited do not count as overhead.
IdVector<ir::ThreadId, std::vector<char>> SilentSegments(
    const StepEditor& editor) {
  const ir::GraphData& data = editor.data();
  IdVector<ir::ThreadId, std::vector<char>> silent(data.threads.size());
  for (const ir::ThreadId thread : data.threads.ids()) {
    silent[thread].resize(editor.plan().threads[thread].size());
  }
  if (editor.graph().is_timed()) {
    for (const timeline::SilentWait& wait :
         timeline::FindSilentWaits(data, editor.plan())) {
      silent[wait.thread][wait.segment] = 1;
    }
  }
  return silent;
}

}  // namespace

Status ScaleOverhead(const Change& change, StepEditor& editor) {
  ASSIGN_OR_RETURN(const NamedFactor named, ParseNamedFactor(change));
  std::vector<std::string_view> names;
  for (size_t i = 0; i < cost::kHostKindCount; ++i) {
    names.push_back(cost::Name(static_cast<cost::HostKind>(i)));
  }
  names.insert(names.end(), {kLaunch, kGap, kSyncTail});
  const bool all = named.name.empty();
  if (!all && std::ranges::find(names, named.name) == names.end()) {
    return Fail(ErrorCode::kInvalidInput,
                Unknown("overhead", named.name, names));
  }
  const auto silent = SilentSegments(editor);
  for (const ir::ThreadId thread : editor.data().threads.ids()) {
    const std::vector<timeline::HostSegment>& segments =
        editor.plan().threads[thread];
    for (uint32_t i = 0; i < segments.size(); ++i) {
      EditedSegment& times = editor.times().segments[thread][i];
      if (silent[thread][i] == 0 &&
          (all || named.name == cost::Name(segments[i].kind))) {
        times.duration *= named.factor;
      }
      if (all || named.name == kSyncTail) {
        times.tail *= named.factor;
      }
    }
  }
  for (EditedActivity& activity : editor.times().activities) {
    activity.launch *= named.name == kLaunch ? named.factor : 1;
    activity.gap *= named.name == kGap ? named.factor : 1;
  }
  return {};
}

// drop-op: an op or a kernel is not there at all.

Status DropOp(const Change& change, StepEditor& editor) {
  if (change.value.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "change drop-op has no name; expected drop-op=NAME");
  }
  ASSIGN_OR_RETURN(const Selection selection,
                   Select(editor.graph(), editor.plan(), change.value));
  for (const ir::ActivityId id : selection.activities) {
    editor.DropActivity(id);
  }
  for (const SegmentRef& ref : selection.segments) {
    editor.DropSegment(ref);
  }
  return {};
}

// On the device; an op that puts nothing there takes the host's time.
Status ScaleOp(const Change& change, StepEditor& editor) {
  ASSIGN_OR_RETURN(const NamedFactor named, ParseNamedFactor(change));
  if (named.name.empty()) {
    return Fail(ErrorCode::kInvalidInput,
                "change scale-op has no name; expected scale-op=NAME=FACTOR");
  }
  ASSIGN_OR_RETURN(const Selection selection,
                   Select(editor.graph(), editor.plan(), named.name));
  for (const ir::ActivityId id : selection.activities) {
    editor.ScaleActivity(id, named.factor);
  }
  if (selection.activities.empty()) {
    for (const SegmentRef& ref : selection.segments) {
      if (editor.segment(ref).kind != cost::HostKind::kBetweenOps) {
        editor.times_of(ref).duration *= named.factor;
      }
    }
  }
  return {};
}

}  // namespace stepcast::whatif

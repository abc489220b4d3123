// overlap-comm: communication hidden behind computation: all of it, gradients
// in smaller buckets, or ids exchanged one batch ahead.
#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "base/text/join.h"
#include "ir/graph.h"
#include "ir/names.h"
#include "whatif/changes/all.h"
#include "whatif/step_editor.h"

namespace stepcast::whatif {
namespace {

constexpr std::string_view kBucket = "bucket=";
constexpr std::string_view kPrefetch = "prefetch";
constexpr std::string_view kPrefetchOff = "prefetch=off";
constexpr int64_t kMebibyte = 1'048'576;
constexpr std::string_view kOnServers =
    "a process on servers without GPUs runs its collectives itself, one after "
    "the other; expected GPUs";

// Blanks may stand for '='.
std::string ValueOf(const Change& change) {
  std::string value = change.value;
  std::ranges::replace(value, ' ', '=');
  return value;
}

Result<int64_t> ParseBucket(const Change& change) {
  const std::string text = ValueOf(change).substr(kBucket.size());
  // A terabyte of gradients: far above any model.
  constexpr int64_t kMost = 1'048'576;
  int64_t mebibytes = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, mebibytes);
  if (error != std::errc() || at != end || mebibytes < 1 || mebibytes > kMost) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("change {} has buckets of '{}'; expected a whole "
                            "number of MiB, 1 or more",
                            change.text, text));
  }
  return mebibytes;
}

using IsHidden = std::function<bool(ir::ActivityId activity)>;

// As if what they bring came with the step before: they take their time and
// keep their order. Returns how many waits are gone.
size_t TakeOutWaits(const IsHidden& hidden, StepEditor& editor) {
  const ir::GraphData& data = editor.data();
  std::vector<char>& kept = editor.times().stream_waits;
  if (kept.empty()) {
    kept.assign(data.stream_waits.size(), 1);
  }
  size_t removed = 0;
  for (size_t i = 0; i < data.stream_waits.size(); ++i) {
    if (hidden(data.stream_waits[i].before) &&
        !hidden(data.stream_waits[i].after)) {
      kept[i] = 0;
      ++removed;
    }
  }
  for (const ir::ThreadId thread : data.threads.ids()) {
    const auto& segments = editor.plan().threads[thread];
    for (uint32_t i = 0; i < segments.size(); ++i) {
      if (!segments[i].call.valid()) {
        continue;
      }
      const auto waits = ir::WaitsOf(data, segments[i].call);
      if (!waits.empty() &&
          std::ranges::all_of(waits, [&](const ir::HostWait& wait) {
            return hidden(wait.before);
          })) {
        editor.times().segments[thread][i].waits = false;
        ++removed;
      }
    }
  }
  return removed;
}

Status HideWaits(const Change& change, std::string_view what,
                 const IsHidden& hidden, StepEditor& editor) {
  const size_t removed = TakeOutWaits(hidden, editor);
  if (removed == 0) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("change {} does not apply: nothing waits for {}; "
                            "expected a step of several ranks",
                            change.text, what));
  }
  editor.Note(
      fmt::format("{} waits for {} taken out: all of their time is "
                  "hidden",
                  removed, what));
  editor.MarkBound();
  return {};
}

// Of a sum of gradients only the last bucket is left: the others are done while
// the backward pass goes on.
Status SumInBuckets(const Change& change, StepEditor& editor) {
  ASSIGN_OR_RETURN(const int64_t mebibytes, ParseBucket(change));
  const int64_t limit = mebibytes * kMebibyte;
  CollectiveRepricer repricer(editor);
  bool cuts = false;
  for (const ir::ActivityId id : editor.data().activities.ids()) {
    const auto* first = std::get_if<ir::Collective>(&editor.graph().shape(id));
    if (first == nullptr || first->kind != ir::CollectiveKind::kAllReduce) {
      continue;
    }
    // Of buckets that were asked for before, nothing is left.
    ir::Collective last = std::get<ir::Collective>(editor.shape(id));
    const int64_t bytes = std::min(first->bytes.count, limit);
    const bool halved = last.dtype != first->dtype;
    const int64_t moved = halved ? bytes / 2 : bytes;
    cuts = cuts || first->bytes.count > limit;
    if (first->bytes.count > limit || last.bytes.count != moved) {
      last.bytes.count = moved;
      RETURN_IF_ERROR(repricer.Reprice(id, last));
    }
  }
  if (!cuts || repricer.repriced() == 0) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("change {} does not apply: no all-reduce moves "
                            "more than {} MiB; expected one to cut",
                            change.text, mebibytes));
  }
  editor.Note(
      fmt::format("{} all-reduce kernels take as long as their last bucket; "
                  "the rest is hidden behind the backward pass",
                  repricer.repriced()));
  editor.MarkBound();
  return {};
}

}  // namespace

bool SetsCommunication(const Change& change) {
  const std::string value = ValueOf(change);
  return value.starts_with(kBucket) || value.starts_with(kPrefetch);
}

// How DDP and TorchRec's pipeline are set up.
Status SetCommunication(const Change& change, scenario::Job& job) {
  const std::string value = ValueOf(change);
  if (value.starts_with(kBucket)) {
    return SetNamed(change, "bucket-mib", value.substr(kBucket.size()), job);
  }
  if (value != kPrefetch && value != kPrefetchOff) {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("change {} is not known; expected prefetch or "
                            "prefetch=off",
                            change.text));
  }
  return SetNamed(change, "prefetch", value == kPrefetch ? "on" : "off", job);
}

Status OverlapComm(const Change& change, StepEditor& editor) {
  if (!editor.first_machine().has_gpus()) {
    return Fail(
        ErrorCode::kUnsupported,
        fmt::format("change {} does not apply: {}", change.text, kOnServers));
  }
  if (ValueOf(change).starts_with(kBucket)) {
    return SumInBuckets(change, editor);
  }
  const auto part_of = [&](ir::ActivityId id) {
    return std::get_if<ir::Collective>(&editor.graph().shape(id));
  };
  const std::string value = ValueOf(change);
  if (value == kPrefetchOff) {
    return Fail(ErrorCode::kUnsupported,
                fmt::format("change {} does not apply to a recorded step: its "
                            "ids come when they came; expected a model",
                            change.text));
  }
  if (value == kPrefetch) {
    return HideWaits(
        change, "the distribution of ids",
        [&](ir::ActivityId id) {
          return part_of(id) != nullptr &&
                 PhaseOf(editor.data(), id) == ir::Phase::kSparseDataDist;
        },
        editor);
  }
  const auto kind = ir::FromName<ir::CollectiveKind>(change.value);
  if (!change.value.empty() && !kind) {
    // All but "unknown", the first.
    const auto known =
        std::span(ir::Names<ir::CollectiveKind>::kList).subspan(1);
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("change overlap-comm has the value '{}'; expected "
                            "none, {}, bucket=MIB, prefetch or prefetch=off",
                            change.value, Join(known, ", ")));
  }
  return HideWaits(
      change, "collectives",
      [&](ir::ActivityId id) {
        const ir::Collective* const part = part_of(id);
        return part != nullptr && (!kind || part->kind == *kind);
      },
      editor);
}

}  // namespace stepcast::whatif

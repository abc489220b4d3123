// The lines of the text form, each read into a plain struct.
//
// Every function takes what follows the first word of its line; `label` is
// empty if the line has none, and stands without its '#'.
#ifndef STEPCAST_IR_TEXT_TEXT_STATEMENTS_H_
#define STEPCAST_IR_TEXT_TEXT_STATEMENTS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "ir/text/text_atoms.h"

namespace stepcast::ir {

// What the writer and the parser of the graph's text form must agree on.

inline constexpr std::string_view kGraphTextHeader = "stepcast-graph 1";

/// Levels that are shown by indentation; deeper ones are given as a number.
inline constexpr size_t kMaxIndentedDepth = 32;

/// Ranks are at depth 0, threads at 1, the ops and calls of a thread from here.
inline constexpr size_t kOpDepth = 2;

/// The kind of activity that a shape is when the text does not say.
inline ActivityKind UsualKind(const KernelShape& shape) {
  if (std::holds_alternative<Copy>(shape)) {
    return ActivityKind::kMemcpy;
  }
  if (std::holds_alternative<Collective>(shape)) {
    return ActivityKind::kCollective;
  }
  return ActivityKind::kKernel;
}

/// source "kineto"
Result<std::string> ParseSourceLine(TextLine& line);

/// rank 3 "Tesla V100-SXM2-32GB" device=3 @0+14455
struct RankLine {
  int64_t number = 0;
  std::string gpu{};
  int64_t device = 0;  // Of streams that name none.
  std::optional<Measured> step{};
};
Result<RankLine> ParseRankLine(TextLine& line);

/// streams 7 22 84
Result<std::vector<StreamName>> ParseStreamsLine(TextLine& line);

/// thread main "python"
struct ThreadLine {
  ThreadRole role = ThreadRole::kOther;
  std::string name{};
};
Result<ThreadLine> ParseThreadLine(TextLine& line);

/// op "aten::addmm" phase=forward seq=12 modules "A/B" site "a.py(1): f" @1+2
struct OpLine {
  std::string name{};
  Phase phase = Phase::kUnknown;
  int64_t sequence = Op{}.sequence;
  std::string modules{};
  std::string site{};
  std::optional<Measured> measured{};
  std::string_view label{};
};
Result<OpLine> ParseOpLine(TextLine& line);

/// in fp32[16,13]@gpu#5 int64[16]
Status ParseTensorLine(TextLine& line, std::vector<Tensor>& tensors);

/// call event_sync "cudaEventSynchronize" stream=7 event=#c3 op=#o1 @15+5 #c4
struct CallLine {
  CallKind kind = CallKind::kLaunch;
  std::string name{};
  std::optional<StreamName> stream{};
  std::string_view event{};  // A label.
  std::string_view op{};     // A label.
  bool outside_ops = false;  // "op=none"
  std::optional<Measured> measured{};
  std::string_view label{};
};
Result<CallLine> ParseCallLine(TextLine& line);

/// s7[3]: gemm m=16 n=256 k=13 dtype=fp32 kernel "volta_sgemm" @24+3 #w5
struct ActivityLine {
  StreamName stream{};
  std::optional<uint32_t> place{};  // On the stream.
  KernelShape shape{};
  ActivityKind kind = ActivityKind::kKernel;
  std::string name{};
  std::optional<Measured> measured{};
  std::string_view label{};
};
/// `head` is the first word: "s7[3]:".
Result<ActivityLine> ParseActivityLine(std::string_view head, TextLine& line);

/// wait #w5 -> #w9 inferred
struct WaitLine {
  std::string_view before{};  // Labels.
  std::string_view after{};
  bool inferred = false;
};
Result<WaitLine> ParseWaitLine(TextLine& line);

/// collective all_to_all #w5 #w23
struct CollectiveLine {
  CollectiveKind kind = CollectiveKind::kUnknown;
  std::vector<std::string_view> activities{};  // Labels.
};
Result<CollectiveLine> ParseCollectiveLine(TextLine& line);

}  // namespace stepcast::ir

#endif  // STEPCAST_IR_TEXT_TEXT_STATEMENTS_H_

// Everything odd that the readers can meet in a trace, in one list.
#ifndef STEPCAST_TRACE_READ_ODDITIES_H_
#define STEPCAST_TRACE_READ_ODDITIES_H_

#include "base/diagnostics.h"

namespace stepcast::trace {

inline constexpr DiagnosticKind kTruncated{
    .name = "truncated",
    .what = "the file ends in the middle; what comes before is used",
    .advice = "let the profiler finish writing before the job ends"};
inline constexpr DiagnosticKind kControlCharacters{
    .name = "control-characters",
    .what = "raw control characters inside names, read as spaces",
    .advice = "harmless; newer PyTorch releases escape them"};
inline constexpr DiagnosticKind kInvalidUtf8{
    .name = "invalid-utf8",
    .what = "bytes that are not UTF-8, read as '?'",
    .advice = "harmless unless names matter; check how the file was copied"};
inline constexpr DiagnosticKind kTrailingData{
    .name = "trailing-data",
    .severity = Severity::kInfo,
    .what = "something follows the end of the JSON document; it is ignored",
    .advice = "check that two traces were not written into one file"};
inline constexpr DiagnosticKind kMalformedRecord{
    .name = "malformed-record",
    .what = "events or nodes that are not well-formed JSON objects, left out",
    .advice = "record again; the file was damaged on the way"};
inline constexpr DiagnosticKind kMissingField{
    .name = "missing-field",
    .what = "events or nodes without a field they need, left out",
    .advice = "check what wrote the file; PyTorch's profiler writes them all"};
inline constexpr DiagnosticKind kBadNumber{
    .name = "bad-number",
    .what =
        "numbers that are not finite, negative where that is impossible, "
        "or beyond 64 bits; the event or field is left out",
    .advice = "check what wrote the file"};
inline constexpr DiagnosticKind kDuplicateId{
    .name = "duplicate-id",
    .what = "nodes with an id that another node has; the first one counts",
    .advice = "check that two traces were not merged"};
inline constexpr DiagnosticKind kBadParent{
    .name = "bad-parent",
    .what = "nodes whose parent is missing or part of a cycle, put at the top",
    .advice = "record again with the whole iteration inside start and stop"};
inline constexpr DiagnosticKind kStaleParents{
    .name = "stale-parents",
    .severity = Severity::kInfo,
    .what =
        "nodes of a Chakra file whose control dependencies count from before "
        "its ops were cut around their launches; put at the top",
    .advice =
        "convert the trace again with a newer Chakra to keep the nesting"};
inline constexpr DiagnosticKind kOrphanActivity{
    .name = "orphan-work",
    .severity = Severity::kInfo,
    .what =
        "device events have no launch in the file: they were launched "
        "before the recording began",
    .advice =
        "record one more warm-up step, or ignore them: they belong to "
        "the step before"};
inline constexpr DiagnosticKind kCallOutsideOp{
    .name = "call-outside-op",
    .severity = Severity::kInfo,
    .what = "launches outside any op: library code or Python between ops",
    .advice = "annotate the code with record_function to name it"};
inline constexpr DiagnosticKind kNoSteps{
    .name = "no-steps",
    .what =
        "no ProfilerStep and no optimizer marker; the whole trace is taken "
        "as one step",
    .advice = "call prof.step() after every iteration"};
inline constexpr DiagnosticKind kNoShapes{
    .name = "no-shapes",
    .what = "no op has recorded shapes",
    .advice =
        "record with record_shapes=True, or give the execution trace of "
        "the same run along with this file"};
inline constexpr DiagnosticKind kNoDeviceEvents{
    .name = "no-device-events",
    .what = "the trace holds no device event",
    .advice = "record with ProfilerActivity.CUDA"};
inline constexpr DiagnosticKind kHostOnly{
    .name = "host-only",
    .severity = Severity::kInfo,
    .what =
        "the trace holds ops, but neither device events nor calls that launch "
        "some, as of a processor: replay plays back the host, but cannot "
        "predict GPU time",
    .advice =
        "predict from the execution trace of the run alone; if a GPU did the "
        "work, record with ProfilerActivity.CUDA"};
inline constexpr DiagnosticKind kCompiledKernels{
    .name = "compiled-kernels",
    .what =
        "graphs of torch.compile ran on a processor: their C++ kernels are not "
        "in the file, only what they call of PyTorch",
    .advice =
        "predict from a recording without torch.compile; this one has too "
        "little work"};
inline constexpr DiagnosticKind kRangeWithoutPhase{
    .name = "range-without-phase",
    .severity = Severity::kInfo,
    .what =
        "ranges of a framework with ops that belong to no phase: no rule names "
        "the part of the step that they mark",
    .advice = "add a [[phase]] to a rule file and give it with --rules"};
inline constexpr DiagnosticKind kPftraceLoss{
    .name = "pftrace-loss",
    .severity = Severity::kInfo,
    .what =
        "the format has no rank, world size, device type and direction of "
        "copies, and cuts activities that overlap the next one on their stream",
    .advice = "give a path without .pftrace to the profiler: JSON has it all"};
inline constexpr DiagnosticKind kNoHostOps{
    .name = "no-host-ops",
    .what = "the trace holds no host op: kernels cannot be tied to operators",
    .advice = "record with ProfilerActivity.CPU"};
inline constexpr DiagnosticKind kZeroLengthKernels{
    .name = "zero-length-kernels",
    .severity = Severity::kInfo,
    .what = "kernels last 0 us: the clock's resolution hides short kernels",
    .advice = "use a newer PyTorch (2.2 or later records nanoseconds)"};
inline constexpr DiagnosticKind kOverlappingOps{
    .name = "overlapping-ops",
    .what =
        "host events overlap without nesting; the later one is cut from "
        "its parent",
    .advice = "usually two threads written as one; check thread ids"};
inline constexpr DiagnosticKind kUnknownCall{
    .name = "unknown-call",
    .severity = Severity::kInfo,
    .what = "runtime calls no rule names, taken as calls that launch nothing",
    .advice = "add them to a rule file and give it with --rules"};
inline constexpr DiagnosticKind kDuplicateCorrelation{
    .name = "duplicate-correlation",
    .what = "runtime calls share a correlation id; the first one counts",
    .advice = "check that two traces were not merged"};
inline constexpr DiagnosticKind kPairMismatch{
    .name = "pair-mismatch",
    .what =
        "threads of the execution trace match no iteration of the "
        "profiler trace",
    .advice = "give the two files of one run and rank"};
inline constexpr DiagnosticKind kPairShapes{
    .name = "pair-shapes",
    .what = "ops whose shapes differ between execution and profiler trace",
    .advice = "give the two files of one run and rank"};
inline constexpr DiagnosticKind kUnmatchedCollective{
    .name = "unmatched-collective",
    .what = "collectives that not every rank takes part in",
    .advice = "record the same step on every rank"};
inline constexpr DiagnosticKind kMissingRanks{
    .name = "missing-ranks",
    .what = "ranks of the job have no file here",
    .advice = "copy the traces of all ranks into the directory"};
inline constexpr DiagnosticKind kRankInferred{
    .name = "rank-guessed",
    .severity = Severity::kInfo,
    .what =
        "files that do not say their rank; taken from the file name or "
        "the order of names",
    .advice = "initialise torch.distributed before the profiler starts"};
inline constexpr DiagnosticKind kIgnoredFile{
    .name = "ignored-file",
    .severity = Severity::kInfo,
    .what = "files in the directory that are not traces",
    .advice = "harmless"};

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_READ_ODDITIES_H_

// How long the host takes for what it does, by kind and by name, with what the
// device adds between a call and its work.
#ifndef STEPCAST_COST_OVERHEADS_OVERHEAD_TABLE_H_
#define STEPCAST_COST_OVERHEADS_OVERHEAD_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text/string_pool.h"

namespace stepcast::cost {

/// The five kinds of host overhead of Lin et al. (2022), with the ops that
/// launch nothing and the handing of work between threads distinguished.
enum class HostKind : uint8_t {
  kBetweenOps,       // T1: before an op, or after the last.
  kBeforeLaunch,     // T2: from an op's start to its first call.
  kAfterLaunch,      // T3: from an op's last call to its end.
  kCall,             // T4: a call, without what it blocks.
  kBetweenLaunches,  // T5: between two calls of an op.
  kNoLaunch,         // T5: all of an op that makes no call.
  kHandoff,          // Until another thread starts, or after it has finished.
};
inline constexpr size_t kHostKindCount = 7;
/// "t1", "t2", "t3", "t4", "t5", "no_launch", "handoff".
std::string_view Name(HostKind kind);

/// What a row is about. The first seven are those of HostKind, in its order.
enum class OverheadPart : uint8_t {
  kBetweenOps,       // By the name of the op that comes next.
  kBeforeLaunch,     // By op.
  kAfterLaunch,      // By op.
  kCall,             // By kind and name of the call: "launch cudaLaunchKernel".
  kBetweenLaunches,  // By op.
  kNoLaunch,         // By op.
  kHandoff,          // "start" of the other thread, or its "finish".
  kSyncTail,         // By call: from the end of the awaited work to its return.
  kLaunchLatency,    // By kind of work: from the call's start to the work's,
                     // on an idle stream.
  kActivityGap,      // By kind of work: after the work before on its stream.
  kStreamWait,       // By kind of work: after an activity of another stream.
};
inline constexpr size_t kOverheadPartCount = 11;
/// "t1", ..., "handoff", "sync_tail", "launch_latency", "activity_gap",
/// "stream_wait".
std::string_view Name(OverheadPart part);
constexpr OverheadPart PartOf(HostKind kind) {
  return static_cast<OverheadPart>(kind);
}

/// Measured times of one sort, in microseconds as the profiler saw them.
struct OverheadRow {
  int64_t count = 0;
  double mean_us = 0;
  double std_us = 0;
  double p10_us = 0;
  double p50_us = 0;
  double p90_us = 0;
  double events = 0;  // Of the trace in each, on average.
};

/// The row of several together, by count. Quantiles are those of a mixture of
/// distributions that are straight between p10, p50 and p90.
OverheadRow Pool(std::span<const OverheadRow> rows);

/// The name of a part's row for everything that has none of its own.
inline constexpr std::string_view kPooledName = "*";

using OverheadRows = std::map<std::string, OverheadRow, std::less<>>;

/// The content of a table.
struct OverheadData {
  std::string name;
  /// Where it is from: files, host, framework, samples. Comments of the file.
  std::vector<std::string> provenance;
  /// What the profiler spent on each event of the traces.
  double profiler_us_per_event = 0;
  std::array<OverheadRows, kOverheadPartCount> parts;

  OverheadRows& operator[](OverheadPart part) {
    return parts[static_cast<size_t>(part)];
  }
  const OverheadRows& operator[](OverheadPart part) const {
    return parts[static_cast<size_t>(part)];
  }
};

/// How the row for a name was found.
enum class OverheadSource : uint8_t {
  kExact,    // By this name.
  kSimilar,  // By names that mean nearly the same, or of the same family.
  kPooled,   // Over all names.
  kMissing,  // The table has nothing of the part: all zero.
};
inline constexpr size_t kOverheadSourceCount = 4;
std::string_view Name(OverheadSource source);

struct Overhead {
  OverheadRow row;
  OverheadSource source = OverheadSource::kMissing;
};

/// Immutable; finds a row for every name.
class OverheadTable {
 public:
  explicit OverheadTable(OverheadData data);

  const OverheadData& data() const { return data_; }
  /// The row of the name, else of similar ones, else of all together.
  Overhead Lookup(OverheadPart part, std::string_view name) const;
  Overhead Lookup(HostKind kind, std::string_view name) const {
    return Lookup(PartOf(kind), name);
  }
  /// The mean as it is without a profiler; never negative.
  double WithoutProfiler(const OverheadRow& row) const;

 private:
  struct Index {
    std::vector<OverheadRow> rows;  // Of StringId::value - 1.
    std::vector<bool> present;      // Likewise.
    OverheadRows similar;           // By SimilarName.
    OverheadRows families;          // By FamilyName.
    OverheadRow pooled;
    bool any = false;
  };

  OverheadData data_;
  StringPool names_;
  std::array<Index, kOverheadPartCount> indices_;
};

/// The table with the parts that it lacks taken from another.
OverheadData Completed(OverheadData data, const OverheadData& other);

/// The text form, a TOML file; comments are its provenance.
std::string OverheadText(const OverheadData& data);
/// Fails with `source`, the line and what was expected.
Result<OverheadData> ParseOverheads(std::string_view text,
                                    std::string_view source);

// Reads tables of overheads as we write them, many times as fast as any TOML.

/// The table of a text without a line that OverheadText would not write, but
/// for its comments; nothing for any other, good or bad: the reader of TOML
/// knows what to say of it.
std::optional<OverheadData> ParseOverheadLines(std::string_view text);

/// The columns of a row, in its order.
inline constexpr size_t kOverheadColumnCount = 7;
/// A row of numbers; nothing if they make no sense.
std::optional<OverheadRow> MakeOverheadRow(
    std::span<const double, kOverheadColumnCount> values);

/// The part of a name; nothing if it is none.
std::optional<OverheadPart> FindOverheadPart(std::string_view name);

/// Whether a profiler can take so long for an event.
bool IsProfilerCost(double us_per_event);

// The tables of overheads that are built in, and those of the user.

/// The set that is pooled over all hosts and workloads.
inline constexpr std::string_view kSharedOverheads = "shared";

/// The built-in names, in order.
const std::vector<std::string>& OverheadNames();

/// A table by what the user calls it: a built-in name or a path that ends in
/// .toml. Parts that it lacks are those of the shared set. An unknown name
/// lists the known ones.
Result<OverheadData> LoadOverheads(std::string_view name);

/// The same without the shared set's parts.
Result<const OverheadData*> FindOwnOverheads(std::string_view name);

}  // namespace stepcast::cost

#endif  // STEPCAST_COST_OVERHEADS_OVERHEAD_TABLE_H_

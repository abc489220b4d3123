// The rule files: names of kernels, runtime calls, ops and annotations, which
// drift between releases and therefore live in data, not code.
#ifndef STEPCAST_TRACE_CLASSIFY_RULES_H_
#define STEPCAST_TRACE_CLASSIFY_RULES_H_

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/text/glob.h"
#include "ir/graph.h"
#include "ir/shape.h"

namespace stepcast::trace {

/// The family of ops that launch nothing: views, allocations, queries.
inline constexpr std::string_view kNoFamily = "none";

/// One row of a rule file: names that match get this family.
struct KernelRule {
  std::string match;   // A pattern over the whole name; '*' is any text.
  std::string family;  // "gemm", "elementwise", ... as in ir::FamilyName.
  std::string detail;  // What the family needs to know: "backward", "scan".
};

/// What to make of a runtime call.
struct CallRule {
  std::string match;
  ir::CallKind kind = ir::CallKind::kOther;
  bool relevant = false;  // Whether the graph keeps it.
};

/// The part of a step that an annotation or op marks.
struct PhaseRule {
  std::string match;
  ir::Phase phase = ir::Phase::kUnknown;
};

/// Rows in order of priority, found by name.
template <typename Row>
class RuleTable {
 public:
  void Add(Row row) {
    patterns_.Add(row.match);
    rows_.push_back(std::move(row));
  }
  /// The first row whose pattern matches, or null.
  const Row* Find(std::string_view name) const {
    const auto position = patterns_.FindFirst(name);
    return position ? &rows_[*position] : nullptr;
  }

 private:
  GlobList patterns_;
  std::vector<Row> rows_;
};

class Rules {
 public:
  /// The rules in the binary (data/rules), with the files in `extra` asked
  /// first. Errors name file and line.
  static Result<Rules> Load(std::span<const std::filesystem::path> extra = {});

  /// Adds the tables of one file after those already there. `source` is its
  /// name in errors.
  Status Add(std::string_view text, std::string_view source);

  /// The first rule that matches, or null. Names repeat, so answers should be
  /// remembered by the caller per distinct name.
  const KernelRule* FindKernel(std::string_view name) const;
  const CallRule* FindCall(std::string_view name) const;
  /// The family an op's kernels belong to when only the op is known;
  /// kNoFamily for ops that launch nothing.
  const KernelRule* FindOp(std::string_view name) const;
  /// The phase an annotation or op marks, if it marks one.
  std::optional<ir::Phase> FindPhase(std::string_view name) const;
  /// A range that is one whole step: "ProfilerStep#12".
  bool IsStep(std::string_view name) const;
  /// A range that occurs once a step, near its end: "Optimizer.step#SGD.step".
  bool IsStepEnd(std::string_view name) const;
  /// A range by which a framework marks its own work: "## forward 4 ##".
  bool IsFrameworkRange(std::string_view name) const;
  /// A range that runs the kernels of a compiled graph.
  bool IsCompiledRange(std::string_view name) const;
  /// Nodes that the recorder itself adds to execution traces.
  bool IsRecorderNode(std::string_view name) const;

 private:
  RuleTable<KernelRule> kernels_;
  RuleTable<CallRule> calls_;
  RuleTable<KernelRule> ops_;
  RuleTable<PhaseRule> phases_;
  GlobList steps_;
  GlobList step_ends_;
  GlobList ranges_;
  GlobList compiled_;
  GlobList recorder_nodes_;
};

}  // namespace stepcast::trace

#endif  // STEPCAST_TRACE_CLASSIFY_RULES_H_

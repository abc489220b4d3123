// The rule files: names of kernels, runtime calls, ops and annotations, which
// drift between releases and therefore live in data, not code.
#ifndef STEPCAST_INGEST_RULES_H_
#define STEPCAST_INGEST_RULES_H_

#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "ir/shape.h"

namespace stepcast::ingest {

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

class Rules {
 public:
  /// The rules in the binary (data/rules), with the files in `extra` asked
  /// first. Errors name file and line.
  static Result<Rules> Load(std::span<const std::filesystem::path> extra = {});

  /// The first rule that matches, or null. Names repeat, so answers should be
  /// remembered by the caller per distinct name.
  const KernelRule* FindKernel(std::string_view name) const;
  const CallRule* FindCall(std::string_view name) const;
  /// The family an op's kernels belong to when only the op is known.
  const KernelRule* FindOp(std::string_view name) const;
  /// The phase an annotation or op marks, if it marks one.
  std::optional<ir::Phase> FindPhase(std::string_view name) const;
  /// A range that is one whole step: "ProfilerStep#12".
  bool IsStep(std::string_view name) const;
  /// A range that occurs once a step, near its end: "Optimizer.step#SGD.step".
  bool IsStepEnd(std::string_view name) const;
  /// Nodes that the recorder itself adds to execution traces.
  bool IsRecorderNode(std::string_view name) const;

 private:
  struct PhaseRule {
    std::string match;
    ir::Phase phase = ir::Phase::kUnknown;
  };

  std::vector<KernelRule> kernels_;
  std::vector<CallRule> calls_;
  std::vector<KernelRule> ops_;
  std::vector<PhaseRule> phases_;
  std::vector<std::string> steps_;
  std::vector<std::string> step_ends_;
  std::vector<std::string> recorder_nodes_;
};

}  // namespace stepcast::ingest

#endif  // STEPCAST_INGEST_RULES_H_

// What was odd in the input: counted, with first examples and advice.
#ifndef STEPCAST_BASE_DIAGNOSTICS_H_
#define STEPCAST_BASE_DIAGNOSTICS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepcast {

/// kInfo: worth knowing. kWarning: part of the input is unusable or doubtful.
enum class Severity { kInfo, kWarning };

/// One kind of oddity. Kinds are constants; each module lists its own in one
/// file. Two kinds are the same when their names are.
struct DiagnosticKind {
  std::string_view name;  // "orphan-work": stable, in JSON.
  Severity severity = Severity::kWarning;
  std::string_view what;    // "device events have no launch in the file"
  std::string_view advice;  // "record one more warm-up step"
};

/// How often a kind was seen, and where first.
struct Diagnostic {
  static constexpr size_t kMaxExamples = 3;

  DiagnosticKind kind;
  int64_t count = 0;
  std::vector<std::string> examples{};
};

/// Collects oddities in order of first appearance. Not thread-safe: one per
/// input file, merged afterwards in file order.
class Diagnostics {
 public:
  /// Counts `count` more of `kind`; keeps `where` if it is among the first.
  void Add(const DiagnosticKind& kind, std::string_view where = {},
           int64_t count = 1);
  void Merge(const Diagnostics& other);

  const std::vector<Diagnostic>& list() const { return list_; }
  int64_t count(const DiagnosticKind& kind) const;

 private:
  Diagnostic& Find(const DiagnosticKind& kind);

  std::vector<Diagnostic> list_;
};

}  // namespace stepcast

#endif  // STEPCAST_BASE_DIAGNOSTICS_H_

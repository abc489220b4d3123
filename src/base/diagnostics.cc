#include "base/diagnostics.h"

#include <algorithm>

namespace stepcast {

void Diagnostics::Add(const DiagnosticKind& kind, std::string_view where,
                      int64_t count) {
  if (count <= 0) {
    return;
  }
  Diagnostic& diagnostic = Find(kind);
  diagnostic.count += count;
  if (!where.empty() && diagnostic.examples.size() < Diagnostic::kMaxExamples) {
    diagnostic.examples.emplace_back(where);
  }
}

void Diagnostics::Merge(const Diagnostics& other) {
  for (const Diagnostic& theirs : other.list_) {
    Add(theirs.kind, {}, theirs.count);
    Diagnostic& ours = Find(theirs.kind);
    for (const std::string& example : theirs.examples) {
      if (ours.examples.size() < Diagnostic::kMaxExamples) {
        ours.examples.push_back(example);
      }
    }
  }
}

int64_t Diagnostics::count(const DiagnosticKind& kind) const {
  const auto found = std::ranges::find(
      list_, kind.name, [](const Diagnostic& item) { return item.kind.name; });
  return found == list_.end() ? 0 : found->count;
}

Diagnostic& Diagnostics::Find(const DiagnosticKind& kind) {
  const auto found = std::ranges::find(
      list_, kind.name, [](const Diagnostic& item) { return item.kind.name; });
  if (found != list_.end()) {
    return *found;
  }
  list_.push_back(Diagnostic{.kind = kind});
  return list_.back();
}

}  // namespace stepcast

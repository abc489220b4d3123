#include "ingest/launchers.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include "ingest/classify/sizers.h"

namespace stepcast::ingest {
namespace {

// Sets of families: a bit for each row of AllSizers, one for ops that no rule
// names.
constexpr uint32_t kUnnamed = uint32_t{1} << 31;
constexpr uint32_t kAll = ~uint32_t{0};

// What an op does itself, and what inside it shows that it does not.
struct OpTraits {
  uint32_t family = 0;    // Empty: launches nothing.
  uint32_t excluded = 0;  // Families of ops inside that do its work.
};

OpTraits TraitsOf(const KernelRule* rule) {
  if (rule == nullptr) {
    // Unknown: its own work only if nothing inside works.
    return {.family = kUnnamed, .excluded = kAll};
  }
  if (rule->family == kNoFamily) {
    return {};
  }
  const auto sizers = AllSizers();
  const auto row =
      std::ranges::find(sizers, rule->family, &FamilySizer::family);
  if (row == sizers.end()) {
    return {.family = kUnnamed, .excluded = kAll};
  }
  const uint32_t bit = uint32_t{1} << (row - sizers.begin());
  // Where there is no kernel for a whole list of tensors, PyTorch calls the
  // op for one tensor after the other.
  const bool is_list =
      rule->family == "optimizer_step" || rule->family == "concat";
  return {.family = bit, .excluded = is_list ? kAll : bit};
}

}  // namespace

std::vector<bool> FindLaunchers(const ExecutionTrace& trace,
                                const Rules& rules) {
  std::vector<std::optional<OpTraits>> known(trace.strings.size());
  std::vector<uint32_t> inside(trace.nodes.size(), 0);
  std::vector<bool> launches(trace.nodes.size(), false);
  // Children come behind their parents, so they are seen first from the back.
  for (size_t i = trace.nodes.size(); i-- > 0;) {
    const ExecutionNode& node = trace.nodes[i];
    uint32_t families = inside[i];
    if (node.kind == NodeKind::kOp) {
      std::optional<OpTraits>& traits = known[node.name.value];
      if (!traits) {
        traits = TraitsOf(rules.FindOp(trace.strings.view(node.name)));
      }
      launches[i] = traits->family != 0 && (inside[i] & traits->excluded) == 0;
      families |= launches[i] ? traits->family : 0;
    }
    if (node.parent < i) {
      inside[node.parent] |= families;
    }
  }
  return launches;
}

}  // namespace stepcast::ingest

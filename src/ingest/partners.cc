#include "ingest/partners.h"

#include <optional>
#include <string_view>
#include <unordered_map>

#include "ingest/classify/request.h"

namespace stepcast::ingest {
namespace {

constexpr int64_t kNoNumber = -1;

// Whether an op looks up embeddings, asked once for each distinct name.
class LookupNames {
 public:
  LookupNames(const StringPool& strings, const Rules& rules)
      : strings_(strings), rules_(rules), known_(strings.size()) {}

  bool Contains(StringId name) {
    std::optional<bool>& entry = known_[name.value];
    if (!entry) {
      const KernelRule* rule = rules_.FindOp(strings_.view(name));
      entry = rule != nullptr && rule->family == "embedding_bag" &&
              PassOf(rule->detail) == ir::Pass::kForward;
    }
    return *entry;
  }

 private:
  const StringPool& strings_;
  const Rules& rules_;
  std::vector<std::optional<bool>> known_;
};

// The two sides of one of autograd's nodes.
struct Sides {
  uint32_t forward = kNoEvent;
  uint32_t backward = kNoEvent;
  bool is_lookup = false;
};

// The engine's own range around a node; it has no arguments.
bool IsEngine(std::string_view name) {
  return name.starts_with("autograd::engine::");
}

class PartnerFinder {
 public:
  PartnerFinder(const std::vector<PhaseInput>& events,
                const StringPool& strings, const std::vector<ir::Phase>& phases,
                const Rules& rules)
      : events_(events),
        strings_(strings),
        phases_(phases),
        lookups_(strings, rules),
        numbers_(events.size(), kNoNumber) {}

  std::vector<uint32_t> Run() {
    FindNumbers();
    for (uint32_t i = 0; i < events_.size(); ++i) {
      if (numbers_[i] != kNoNumber) {
        Add(i, sides_[numbers_[i]]);
      }
    }
    std::vector<uint32_t> partners(events_.size(), kNoEvent);
    for (uint32_t i = 0; i < events_.size(); ++i) {
      if (numbers_[i] != kNoNumber) {
        const Sides& sides = sides_[numbers_[i]];
        partners[i] = IsBackward(i) ? sides.forward : sides.backward;
      }
    }
    return partners;
  }

 private:
  bool IsBackward(uint32_t event) const {
    return phases_[event] == ir::Phase::kBackward;
  }

  // From the back, so that the number of the next op is known.
  void FindNumbers() {
    int64_t next = kNoNumber;
    for (size_t i = events_.size(); i-- > 0;) {
      const PhaseInput& event = events_[i];
      if (i + 1 < events_.size() && events_[i + 1].thread != event.thread) {
        next = kNoNumber;
      }
      if (!event.is_op) {
        continue;
      }
      if (event.sequence >= 0) {
        numbers_[i] = event.sequence;
        next = event.sequence;
      } else if (next > 0 && lookups_.Contains(event.name)) {
        numbers_[i] = next - 1;
      }
    }
  }

  void Add(uint32_t event, Sides& sides) {
    if (!IsBackward(event)) {
      // Ops around the one that autograd recorded show its number too; the
      // innermost is the last in pre-order. So do ops before a lookup.
      const bool is_lookup = lookups_.Contains(events_[event].name);
      if (is_lookup || !sides.is_lookup) {
        sides.forward = event;
        sides.is_lookup = is_lookup;
      }
    } else if (sides.backward == kNoEvent ||
               IsEngine(strings_.view(events_[sides.backward].name))) {
      sides.backward = event;
    }
  }

  const std::vector<PhaseInput>& events_;
  const StringPool& strings_;
  const std::vector<ir::Phase>& phases_;
  LookupNames lookups_;
  std::vector<int64_t> numbers_;
  std::unordered_map<int64_t, Sides> sides_;
};

}  // namespace

std::vector<uint32_t> FindPartners(const std::vector<PhaseInput>& events,
                                   const StringPool& strings,
                                   const std::vector<ir::Phase>& phases,
                                   const Rules& rules) {
  return PartnerFinder(events, strings, phases, rules).Run();
}

}  // namespace stepcast::ingest

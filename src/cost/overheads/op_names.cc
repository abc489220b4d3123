#include "cost/overheads/op_names.h"

#include <algorithm>
#include <array>
#include <span>

#include "base/text/ascii.h"

namespace stepcast::cost {
namespace {

constexpr std::string_view kEngine = "autograd::engine::evaluate_function: ";

// Words that, as a part of a plain name, put an op into a family; the first
// family that fits.
struct FamilyWords {
  std::string_view name;
  std::span<const std::string_view> parts;
};
constexpr std::array<std::string_view, 2> kOptimizer = {"Optimizer.", "optim"};
constexpr std::array<std::string_view, 9> kCollective = {
    "record_param_comms", "nccl",      "allreduce",
    "all_reduce",         "alltoall",  "All2All",
    "allgather",          "broadcast", "reduce_scatter"};
constexpr std::array<std::string_view, 4> kLookup = {
    "lookup_", "LookupFunction", "embedding", "EmbeddingBag"};
constexpr std::array<std::string_view, 2> kBackward = {"Backward", "backward"};

constexpr std::array kFamilyWords = {FamilyWords{"optimizer", kOptimizer},
                                     FamilyWords{"collective", kCollective},
                                     FamilyWords{"lookup", kLookup},
                                     FamilyWords{"backward", kBackward}};

// Ops that move data, and ops that only make another view of it: their plain
// names, whole.
constexpr std::array<std::string_view, 6> kCopies = {
    "to", "_to_copy", "copy", "contiguous", "clone", "pin_memory"};
constexpr std::array<std::string_view, 20> kViews = {
    "view",    "reshape",    "t",      "transpose", "permute",
    "slice",   "select",     "expand", "unsqueeze", "squeeze",
    "detach",  "as_strided", "narrow", "alias",     "flatten",
    "view_as", "expand_as",  "split",  "unbind",    "_reshape_alias"};

bool HasName(std::span<const std::string_view> list, std::string_view name) {
  return std::ranges::find(list, name) != list.end();
}

}  // namespace

std::string_view PlainOpName(std::string_view name) {
  if (name.starts_with(kEngine)) {
    name.remove_prefix(kEngine.size());
  }
  // Not the "::" inside of template arguments or after a space.
  const size_t head = std::min(name.find_first_of("<( "), name.size());
  const size_t space = name.substr(0, head).rfind("::");
  if (space != std::string_view::npos && space + 2 < name.size()) {
    name.remove_prefix(space + 2);
  }
  size_t size = name.size();
  while (size > 1 && IsDigit(name[size - 1])) {
    --size;
  }
  if (size > 1 && name[size - 1] == '_') {
    --size;
  }
  return name.substr(0, size);
}

std::string_view OpFamily(std::string_view name) {
  const std::string_view plain = PlainOpName(name);
  for (const FamilyWords& family : kFamilyWords) {
    for (const std::string_view part : family.parts) {
      if (plain.find(part) != std::string_view::npos) {
        return family.name;
      }
    }
  }
  return HasName(kCopies, plain)  ? "copy"
         : HasName(kViews, plain) ? "view"
                                  : "";
}

}  // namespace stepcast::cost

#include "trace/read/layouts.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/text/value_text.h"
#include "trace/classify/sizers.h"

namespace stepcast::trace {
namespace {

// A tensor by its id and its storage's: either alone is used again.
using TensorKey = std::pair<int64_t, int64_t>;

std::optional<TensorKey> KeyOf(const Value& tensor) {
  const std::span<const Value> items = tensor.items;
  if (items.size() < 2 || !items[0].is_int() || !items[1].is_int()) {
    return std::nullopt;
  }
  return TensorKey{items[0].integer, items[1].integer};
}

// The elements of a column are contiguous, and rows are a stride apart.
bool IsTransposed(const Value& strides) {
  const auto list = AsIntList(strides);
  return list && list->size() >= 2 && (*list)[list->size() - 2] == 1 &&
         list->back() > 1;
}

class LayoutFinder {
 public:
  explicit LayoutFinder(const ExecutionTrace& trace) : trace_(trace) {}

  std::vector<FactorLayout> Run() {
    std::vector<FactorLayout> layouts;
    layouts.reserve(trace_.nodes.size());
    for (const ExecutionNode& node : trace_.nodes) {
      const std::string_view name = trace_.strings.view(node.name);
      FactorLayout layout;
      if (name == "aten::as_strided") {
        NoteView(node.arguments);
      } else if (const auto factors = FactorsOf(name)) {
        layout = {.a_transposed = IsFactorTransposed(node, factors->first),
                  .b_transposed = IsFactorTransposed(node, factors->second)};
      }
      layouts.push_back(layout);
    }
    return layouts;
  }

 private:
  std::optional<Value> Parse(StringId text) const {
    return ParseValue(trace_.strings.view(text));
  }

  // as_strided(tensor, size, stride, offset).
  void NoteView(const RawArguments& arguments) {
    constexpr size_t kStride = 2;
    const auto inputs = Parse(arguments.values);
    const auto outputs = Parse(arguments.out_values);
    if (!inputs || inputs->items.size() <= kStride || !outputs ||
        outputs->items.empty()) {
      return;
    }
    if (const auto key = KeyOf(outputs->items[0])) {
      transposed_[*key] = IsTransposed(inputs->items[kStride]);
    }
  }

  bool IsFactorTransposed(const ExecutionNode& node, size_t input) const {
    if (const auto strides = Parse(node.arguments.strides);
        strides && input < strides->items.size()) {
      return IsTransposed(strides->items[input]);
    }
    const auto values = Parse(node.arguments.values);
    if (!values || input >= values->items.size()) {
      return false;
    }
    const auto key = KeyOf(values->items[input]);
    const auto found = key ? transposed_.find(*key) : transposed_.end();
    return found != transposed_.end() && found->second;
  }

  const ExecutionTrace& trace_;
  std::map<TensorKey, bool> transposed_;  // By the last view of each tensor.
};

}  // namespace

std::vector<FactorLayout> FindLayouts(const ExecutionTrace& trace) {
  return LayoutFinder(trace).Run();
}

}  // namespace stepcast::trace

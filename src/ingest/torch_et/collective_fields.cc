#include "ingest/torch_et/collective_fields.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/join.h"
#include "base/json_write.h"
#include "base/value_text.h"

namespace stepcast::ingest {
namespace {

// Positions from the collective's name.
constexpr size_t kTensorsBefore = 4;
constexpr size_t kGroupBefore = 2;
constexpr size_t kRankBefore = 1;
constexpr size_t kInSplitsBehind = 1;
constexpr size_t kOutSplitsBehind = 2;
constexpr size_t kRankStartBehind = 3;
constexpr size_t kRankStrideBehind = 4;
constexpr size_t kGroupSizeBehind = 5;

// A tensor: id, storage, offset, elements, bytes per element, device.
constexpr size_t kTensorElements = 3;
constexpr size_t kTensorElementBytes = 4;
constexpr size_t kTensorDevice = 5;

bool IsTensor(const Value& value) {
  return value.is_list() && value.items.size() == kTensorDevice + 1 &&
         value.items[kTensorElements].is_int() &&
         value.items[kTensorElements].integer >= 0 &&
         value.items[kTensorElementBytes].is_int() &&
         value.items[kTensorDevice].is_string();
}

// A tensor, or a list of nothing but tensors.
std::optional<TensorExtent> ExtentOf(const Value& value) {
  if (IsTensor(value)) {
    return TensorExtent{
        .elements = value.items[kTensorElements].integer,
        .element_bytes = value.items[kTensorElementBytes].integer};
  }
  if (!value.is_list() || value.items.empty()) {
    return std::nullopt;
  }
  TensorExtent sum;
  for (const Value& item : value.items) {
    if (!IsTensor(item) ||
        __builtin_add_overflow(
            sum.elements, item.items[kTensorElements].integer, &sum.elements)) {
      return std::nullopt;
    }
    sum.element_bytes = item.items[kTensorElementBytes].integer;
  }
  return sum;
}

// "float" of "Tensor(float)" and of "GenericList[Tensor(float)]".
std::string_view ElementType(std::string_view type) {
  constexpr std::string_view kOpen = "Tensor(";
  const size_t at = type.find(kOpen);
  if (at == std::string_view::npos) {
    return {};
  }
  type.remove_prefix(at + kOpen.size());
  return type.substr(0, type.find(')'));
}

std::string_view ElementTypeAt(std::string_view types, size_t index) {
  const auto list = ParseValue(types);
  if (!list || !list->is_list() || index >= list->items.size()) {
    return {};
  }
  return ElementType(list->items[index].text);
}

std::string SplitsText(const std::vector<int64_t>& splits) {
  return fmt::format("[{}]", Join(splits, ", "));
}

std::optional<int64_t> IntAt(const Value& list, size_t index) {
  if (index >= list.items.size() || !list.items[index].is_int()) {
    return std::nullopt;
  }
  return list.items[index].integer;
}

std::optional<std::vector<int64_t>> SplitsAt(const Value& list, size_t index) {
  return index < list.items.size() ? AsIntList(list.items[index])
                                   : std::nullopt;
}

void ReadGroup(const Value& group, PositionalCollective& out) {
  if (group.is_int()) {
    out.group_address = group.integer;
  } else if (group.is_string()) {
    out.fields.group_name = group.text;
  } else if (group.items.size() == 2 && group.items[0].is_string() &&
             group.items[1].is_string()) {
    out.fields.group_name = group.items[0].text;
    out.fields.group_description = group.items[1].text;
  }
}

}  // namespace

std::string CollectiveText(const CollectiveFields& fields) {
  JsonWriter json(JsonWriter::Style::kCompact);
  json.BeginObject();
  const auto text = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) {
      json.Key(key).String(value);
    }
  };
  const auto number = [&](std::string_view key,
                          const std::optional<int64_t>& value) {
    if (value) {
      json.Key(key).Int(*value);
    }
  };
  text("Collective name", fields.name);
  text("dtype", fields.dtype);
  number("In msg nelems", fields.in_elements);
  number("Out msg nelems", fields.out_elements);
  text("In split size", fields.in_splits);
  text("Out split size", fields.out_splits);
  text("Process Group Name", fields.group_name);
  text("Process Group Description", fields.group_description);
  number("Group size", fields.group_size);
  number("Global rank start", fields.rank_start);
  number("Global rank stride", fields.rank_stride);
  json.EndObject();
  return json.Take();
}

std::optional<int64_t>* FindCollectiveInteger(std::string_view name,
                                              CollectiveFields& fields) {
  if (name == "in_msg_nelems") {
    return &fields.in_elements;
  }
  if (name == "out_msg_nelems") {
    return &fields.out_elements;
  }
  if (name == "pg_size") {
    return &fields.group_size;
  }
  if (name == "global_rank_start") {
    return &fields.rank_start;
  }
  return name == "global_rank_stride" ? &fields.rank_stride : nullptr;
}

std::string* FindCollectiveText(std::string_view name,
                                CollectiveFields& fields) {
  if (name == "collective_name") {
    return &fields.name;
  }
  if (name == "dtype") {
    return &fields.dtype;
  }
  if (name == "in_split_size") {
    return &fields.in_splits;
  }
  if (name == "out_split_size") {
    return &fields.out_splits;
  }
  if (name == "pg_name") {
    return &fields.group_name;
  }
  return name == "pg_desc" ? &fields.group_description : nullptr;
}

std::optional<PositionalCollective> ParsePositional(
    std::string_view values, std::string_view types,
    std::string_view out_values) {
  const auto list = ParseValue(values);
  if (!list || !list->is_list()) {
    return std::nullopt;
  }
  // The name is the text with the splits behind it; a group may be text too.
  size_t at = kGroupBefore;
  while (at < list->items.size() && !(list->items[at].is_string() &&
                                      SplitsAt(*list, at + kInSplitsBehind) &&
                                      SplitsAt(*list, at + kOutSplitsBehind))) {
    ++at;
  }
  if (at >= list->items.size()) {
    return std::nullopt;
  }
  const auto in_splits = SplitsAt(*list, at + kInSplitsBehind);
  const auto out_splits = SplitsAt(*list, at + kOutSplitsBehind);
  PositionalCollective out;
  CollectiveFields& fields = out.fields;
  fields.name = list->items[at].text;
  fields.in_splits = SplitsText(*in_splits);
  fields.out_splits = SplitsText(*out_splits);
  out.split_count =
      static_cast<int64_t>(std::max(in_splits->size(), out_splits->size()));
  ReadGroup(list->items[at - kGroupBefore], out);
  out.rank = IntAt(*list, at - kRankBefore);
  fields.rank_start = IntAt(*list, at + kRankStartBehind);
  fields.rank_stride = IntAt(*list, at + kRankStrideBehind);
  fields.group_size = IntAt(*list, at + kGroupSizeBehind);
  if (at >= kTensorsBefore) {
    const size_t tensors = at - kTensorsBefore;
    if (const auto extent = ExtentOf(list->items[tensors])) {
      fields.in_elements = extent->elements;
      fields.dtype = ElementTypeAt(types, tensors);
    }
  }
  if (const auto extent = FirstTensor(out_values, {})) {
    fields.out_elements = extent->elements;
  }
  return out;
}

std::optional<TensorExtent> FirstTensor(std::string_view values,
                                        std::string_view types) {
  const auto list = ParseValue(values);
  if (!list || !list->is_list()) {
    return std::nullopt;
  }
  for (size_t i = 0; i < list->items.size(); ++i) {
    if (auto extent = ExtentOf(list->items[i])) {
      extent->dtype = ElementTypeAt(types, i);
      return extent;
    }
  }
  return std::nullopt;
}

}  // namespace stepcast::ingest

#include "trace/read/torch_et/collectives.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/json/json_read.h"
#include "base/json/json_write.h"
#include "base/text/join.h"
#include "base/text/value_text.h"

namespace stepcast::trace {
namespace {

// Positions from the collective's name.
constexpr size_t kTensorsBefore = 4;
constexpr size_t kGroupBefore = 2;
constexpr size_t kRankBefore = 1;
constexpr size_t kInSplitsAfter = 1;
constexpr size_t kOutSplitsAfter = 2;
constexpr size_t kRankStartAfter = 3;
constexpr size_t kRankStrideAfter = 4;
constexpr size_t kGroupSizeAfter = 5;

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
  // The name is the text with the splits after it; a group may be text too.
  size_t at = kGroupBefore;
  while (at < list->items.size() && !(list->items[at].is_string() &&
                                      SplitsAt(*list, at + kInSplitsAfter) &&
                                      SplitsAt(*list, at + kOutSplitsAfter))) {
    ++at;
  }
  if (at >= list->items.size()) {
    return std::nullopt;
  }
  const auto in_splits = SplitsAt(*list, at + kInSplitsAfter);
  const auto out_splits = SplitsAt(*list, at + kOutSplitsAfter);
  PositionalCollective out;
  CollectiveFields& fields = out.fields;
  fields.name = list->items[at].text;
  fields.in_splits = SplitsText(*in_splits);
  fields.out_splits = SplitsText(*out_splits);
  out.split_count =
      static_cast<int64_t>(std::max(in_splits->size(), out_splits->size()));
  ReadGroup(list->items[at - kGroupBefore], out);
  out.rank = IntAt(*list, at - kRankBefore);
  fields.rank_start = IntAt(*list, at + kRankStartAfter);
  fields.rank_stride = IntAt(*list, at + kRankStrideAfter);
  fields.group_size = IntAt(*list, at + kGroupSizeAfter);
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

namespace {

constexpr std::string_view kCommsName = "record_param_comms";
constexpr std::string_view kGroupsName = "## process_group:init ##";

// Collectives in which every rank plays the same part. The others record the
// rank of their root where these record their own.
bool HasOwnRank(std::string_view name) {
  if (name.starts_with('_')) {
    name.remove_prefix(1);
  }
  return name.starts_with("all") || name.starts_with("reduce_scatter") ||
         name.starts_with("barrier");
}

bool IsDefaultGroup(std::string_view name, std::string_view description) {
  return description == "default_pg" || (description.empty() && name == "0");
}

// "nccl" of "cuda:nccl" and of "cpu:gloo,cuda:nccl".
std::string BackendOf(std::string_view config) {
  constexpr std::string_view kCuda = "cuda:";
  if (const size_t at = config.find(kCuda); at != std::string_view::npos) {
    config.remove_prefix(at + kCuda.size());
  }
  return std::string(config.substr(0, config.find(',')));
}

// Attributes take precedence over the inputs.
void Override(CollectiveFields& fields, const CollectiveFields& better) {
  const auto text = [](std::string& to, const std::string& from) {
    to = from.empty() ? to : from;
  };
  const auto number = [](std::optional<int64_t>& to,
                         const std::optional<int64_t>& from) {
    to = from ? from : to;
  };
  text(fields.name, better.name);
  text(fields.dtype, better.dtype);
  number(fields.in_elements, better.in_elements);
  number(fields.out_elements, better.out_elements);
  text(fields.in_splits, better.in_splits);
  text(fields.out_splits, better.out_splits);
  text(fields.group_name, better.group_name);
  text(fields.group_description, better.group_description);
  number(fields.group_size, better.group_size);
  number(fields.rank_start, better.rank_start);
  number(fields.rank_stride, better.rank_stride);
}

struct Group {
  std::string name;
  std::string description;
  std::string backend_config;
  std::optional<int64_t> size;
};

Group ReadGroup(JsonValue object) {
  Group group;
  std::string buffer;
  const auto text = [&](JsonValue value) {
    const auto raw = value.raw_string();
    return std::string(raw ? JsonUnescape(*raw, buffer) : value.raw());
  };
  object.ForEachMember([&](std::string_view key, JsonValue value) {
    if (key == "pg_name") {
      group.name = text(value);
    } else if (key == "pg_desc") {
      group.description = text(value);
    } else if (key == "backend_config") {
      group.backend_config = text(value);
    } else if (key == "group_size" || key == "pg_size") {
      group.size = value.AsInt();
    }
  });
  return group;
}

}  // namespace

void Collectives::Add(const ParsedNode& parsed, size_t index,
                      const StringPool& strings,
                      const CollectiveFields& fields) {
  const RawArguments& arguments = parsed.node.arguments;
  const std::string_view name = strings.view(parsed.node.name);
  if (name == kGroupsName && process_groups_.empty()) {
    const auto values = ParseValue(strings.view(arguments.values));
    if (values && !values->items.empty()) {
      process_groups_ = values->items.front().text;
    }
  }
  if (name != kCommsName && fields.empty()) {
    return;
  }
  Seen seen{.node = index};
  if (name == kCommsName) {
    auto positional = ParsePositional(strings.view(arguments.values),
                                      strings.view(arguments.types),
                                      strings.view(arguments.out_values));
    if (positional) {
      seen.collective = *std::move(positional);
    }
  }
  Override(seen.collective.fields, fields);
  if (!seen.collective.fields.empty()) {
    seen_.push_back(std::move(seen));
  }
}

void Collectives::Finish(std::vector<ParsedNode>& nodes, StringPool& strings,
                         TraceInfo& info) const {
  // Schema 1.0.1 has no group size, but all-to-alls list a split per peer.
  std::map<int64_t, int64_t> sizes;  // By the group's address.
  for (const Seen& seen : seen_) {
    if (const auto& address = seen.collective.group_address) {
      int64_t& size = sizes[*address];
      size = std::max(size, seen.collective.split_count);
    }
  }
  for (const Seen& seen : seen_) {
    CollectiveFields fields = seen.collective.fields;
    if (const auto& address = seen.collective.group_address;
        address && !fields.group_size && sizes[*address] > 0) {
      fields.group_size = sizes[*address];
    }
    nodes[seen.node].node.arguments.collective =
        strings.Intern(CollectiveText(fields));
  }
  if (!process_groups_.empty()) {
    std::string buffer;
    ReadProcessGroups(JsonUnescape(process_groups_, buffer), info);
  }
  FindSelf(info);
}

// The rank in the default group is the rank in the job. Where groups have no
// name (1.0.1) and there is only one, it is taken for the default one.
void Collectives::FindSelf(TraceInfo& info) const {
  std::set<int64_t> addresses;
  std::set<int64_t> ranks;
  std::set<int64_t> sizes;
  for (const Seen& seen : seen_) {
    const PositionalCollective& collective = seen.collective;
    const CollectiveFields& fields = collective.fields;
    if (!collective.rank || *collective.rank < 0 || !HasOwnRank(fields.name)) {
      continue;
    }
    if (collective.group_address) {
      addresses.insert(*collective.group_address);
    } else if (!IsDefaultGroup(fields.group_name, fields.group_description)) {
      continue;
    }
    ranks.insert(*collective.rank);
    if (const int64_t size = fields.group_size.value_or(collective.split_count);
        size > 0) {
      sizes.insert(size);
    }
  }
  if (ranks.size() == 1 && addresses.size() <= 1 && !info.rank) {
    info.rank = *ranks.begin();
  }
  if (sizes.size() == 1 && addresses.size() <= 1 && !info.world_size) {
    info.world_size = *sizes.begin();
  }
}

void ReadProcessGroups(std::string_view json, TraceInfo& info) {
  const auto source = OpenMemory(json);
  JsonRecordReader reader(*source, {});
  while (true) {
    const auto item = reader.Next();
    if (!item || !item->has_value()) {
      return;
    }
    if (!(*item)->is_record || !(*item)->value.is_object()) {
      continue;
    }
    const Group group = ReadGroup((*item)->value);
    if (IsDefaultGroup(group.name, group.description)) {
      info.world_size =
          group.size && *group.size > 0 ? group.size : std::nullopt;
      info.backend = BackendOf(group.backend_config);
      return;
    }
  }
}

}  // namespace stepcast::trace

#include "ingest/torch_et/collectives.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "base/file.h"
#include "base/json_read.h"
#include "base/value_text.h"

namespace stepcast::ingest {
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

// What attributes say goes before what stands in the inputs.
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

}  // namespace stepcast::ingest

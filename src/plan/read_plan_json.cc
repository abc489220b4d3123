#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/file.h"
#include "base/json_read.h"
#include "base/nearest.h"
#include "base/text_table.h"
#include "plan/check_plan.h"
#include "plan/plan_json.h"

namespace stepcast::plan {
namespace {

std::string TextOf(std::string_view raw) {
  std::string buffer;
  return std::string(JsonUnescape(raw, buffer));
}

// The members of an object that a reader knows, by name.
std::optional<JsonValue> Find(const JsonValue& object, std::string_view name) {
  std::optional<JsonValue> found;
  object.ForEachMember([&](std::string_view key, JsonValue value) {
    if (key == name && !value.is_null()) {
      found = value;
    }
  });
  return found;
}

// [row, column] of a part.
Result<std::pair<int64_t, int64_t>> ReadPair(const JsonValue& shard,
                                             std::string_view name) {
  std::vector<int64_t> numbers;
  bool whole = true;
  if (const auto list = Find(shard, name)) {
    whole = list->ForEachElement([&](JsonValue value) {
      const auto number = value.AsInt();
      whole = whole && number.has_value();
      numbers.push_back(number.value_or(0));
    }) && whole;
  }
  if (!whole || numbers.size() != 2) {
    return Wrong(
        fmt::format("has a part without {}; expected [rows, columns]", name));
  }
  return std::pair(numbers[0], numbers[1]);
}

// "rank:3/cuda:3".
Result<int> ReadPlacement(const JsonValue& shard) {
  constexpr std::string_view kPrefix = "rank:";
  const auto value = Find(shard, "placement");
  const std::string text =
      value && value->is_string() ? TextOf(*value->raw_string()) : "";
  int rank = 0;
  if (text.starts_with(kPrefix)) {
    const char* const end = text.data() + text.size();
    const auto [at, error] =
        std::from_chars(text.data() + kPrefix.size(), end, rank);
    if (error == std::errc() && (at == end || *at == '/')) {
      return rank;
    }
  }
  return Wrong(
      fmt::format("has a part with placement '{}'; expected one like "
                  "rank:0/cuda:0",
                  Printable(text)));
}

Result<Shard> ReadShard(const JsonValue& value) {
  if (!value.is_object()) {
    return Wrong(
        "has a part that is no object; expected shard_offsets, "
        "shard_sizes and placement");
  }
  ASSIGN_OR_RETURN(const auto offsets, ReadPair(value, "shard_offsets"));
  ASSIGN_OR_RETURN(const auto sizes, ReadPair(value, "shard_sizes"));
  ASSIGN_OR_RETURN(const int rank, ReadPlacement(value));
  return Shard{.row = offsets.first,
               .column = offsets.second,
               .rows = sizes.first,
               .columns = sizes.second,
               .rank = rank};
}

Result<std::vector<Shard>> ReadShards(const JsonValue& list) {
  std::vector<Shard> shards;
  Status done;
  const bool whole = list.ForEachElement([&](JsonValue value) {
    Result<Shard> shard = ReadShard(value);
    if (!shard) {
      done = tl::unexpected(shard.error());
    } else {
      shards.push_back(*shard);
    }
  });
  RETURN_IF_ERROR(done);
  if (!whole) {
    return Wrong("has shards that are no list; expected a list of parts");
  }
  return shards;
}

Result<std::vector<int>> ReadRanks(const JsonValue& table) {
  std::vector<int> ranks;
  const auto list = Find(table, "ranks");
  if (!list) {
    return ranks;
  }
  bool whole = true;
  const bool is_list = list->ForEachElement([&](JsonValue value) {
    const auto rank = value.AsInt();
    whole = whole && rank && *rank >= 0 && *rank <= INT32_MAX;
    ranks.push_back(whole ? static_cast<int>(*rank) : 0);
  });
  if (!is_list || !whole) {
    return Wrong("has ranks that are no list of numbers; expected [0, 1, ...]");
  }
  return ranks;
}

Status CheckKernel(const JsonValue& table) {
  const auto value = Find(table, "compute_kernel");
  if (!value || !value->is_string()) {
    return {};
  }
  const std::string kernel = TextOf(*value->raw_string());
  if (kernel != "fused" && kernel != "dense") {
    return Wrong(
        fmt::format("has compute kernel '{}'; expected fused or "
                    "dense, tables in GPU memory",
                    Printable(kernel)));
  }
  return {};
}

Result<TablePlan> ReadTable(const JsonValue& value,
                            const workload::TableGroup& table,
                            const Ranks& ranks) {
  if (!value.is_object()) {
    return Wrong("is no object; expected sharding_type, ranks and shards");
  }
  const auto kind = Find(value, "sharding_type");
  if (!kind || !kind->is_string()) {
    return Wrong("has no sharding_type; expected one like table_wise");
  }
  TablePlan plan;
  const auto sharding = ParseSharding(TextOf(*kind->raw_string()));
  if (!sharding) {
    return Wrong(fmt::format("has an {}", sharding.error().message));
  }
  plan.sharding = *sharding;
  RETURN_IF_ERROR(CheckKernel(value));
  ASSIGN_OR_RETURN(const std::vector<int> on, ReadRanks(value));
  const auto spec = Find(value, "sharding_spec");
  auto list = Find(value, "shards");
  if (!list && spec) {
    list = Find(*spec, "shards");
  }
  // Copies have no parts worth a list.
  if (list && plan.sharding != Sharding::kDataParallel) {
    ASSIGN_OR_RETURN(plan.shards, ReadShards(*list));
  } else {
    ASSIGN_OR_RETURN(plan.shards, ShardsOn(on, plan.sharding, table, ranks));
  }
  RETURN_IF_ERROR(CheckTable(plan, table, ranks));
  for (const Shard& shard : plan.shards) {
    if (!on.empty() && std::ranges::find(on, shard.rank) == on.end()) {
      return Wrong(
          fmt::format("has a part on rank {}, which its ranks leave "
                      "out; expected the same ranks in both",
                      shard.rank));
    }
  }
  return plan;
}

// Calls visit(module, name, entry) for every table of a file, until it fails.
using Visit =
    std::function<Status(const std::string& module, const std::string& name,
                         const JsonValue& entry)>;

Status ForEachIn(const std::string& module, const JsonValue& value,
                 const Visit& visit) {
  Status done;
  const bool whole =
      value.ForEachMember([&](std::string_view key, JsonValue table) {
        if (done) {
          done = visit(module, TextOf(key), table);
        }
      });
  RETURN_IF_ERROR(done);
  return whole ? Status()
               : Wrong(fmt::format("module '{}' is no object; expected tables",
                                   Printable(module)));
}

Status ForEachInModules(const JsonValue& modules, const Visit& visit) {
  Status done;
  const bool whole =
      modules.ForEachMember([&](std::string_view key, JsonValue value) {
        if (done) {
          done = ForEachIn(TextOf(key), value, visit);
        }
      });
  RETURN_IF_ERROR(done);
  return whole ? Status() : Wrong("the plan is no object; expected modules");
}

Status ForEachTable(std::string_view text, const Visit& visit) {
  const std::unique_ptr<ByteSource> source = OpenMemory(text);
  JsonRecordReader json(*source, {});
  while (true) {
    ASSIGN_OR_RETURN(const auto item, json.Next());
    if (!item) {
      break;
    }
    if (item->is_record) {
      return Wrong("the file is a list; expected an object with a plan");
    }
    if (item->key == "plan") {
      RETURN_IF_ERROR(ForEachInModules(item->value, visit));
    } else if (item->value.is_object()) {
      RETURN_IF_ERROR(ForEachIn(TextOf(item->key), item->value, visit));
    }
  }
  if (json.counts().truncated) {
    return Wrong("the file ends too early; expected a whole JSON object");
  }
  return {};
}

// The model's tables under the names of the file: its own, unless the file has
// none of these and as many others, which then stand for them in their order.
Result<std::vector<NamedTable>> NamesIn(std::string_view text,
                                        const std::vector<NamedTable>& tables) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  bool any = false;
  RETURN_IF_ERROR(ForEachTable(
      text,
      [&](const std::string&, const std::string& name,
          const JsonValue&) -> Status {
        any = any || std::ranges::find(tables, name, &NamedTable::name) !=
                         tables.end();
        if (seen.insert(name).second) {
          names.push_back(name);
        }
        return {};
      }));
  std::vector<NamedTable> named = tables;
  if (!any && names.size() == tables.size()) {
    for (size_t i = 0; i < names.size(); ++i) {
      named[i].name = names[i];
    }
  }
  return named;
}

class Reader {
 public:
  Reader(const std::vector<NamedTable>& tables, const Ranks& ranks)
      : tables_(tables), ranks_(ranks), modules_(tables.size()) {
    plan_.tables.resize(tables.size());
  }

  Status ReadEntry(const std::string& module, const std::string& name,
                   const JsonValue& value) {
    const auto found = std::ranges::find(tables_, name, &NamedTable::name);
    if (found == tables_.end()) {
      std::vector<std::string_view> names;
      for (const NamedTable& table : tables_) {
        names.push_back(table.name);
      }
      const auto nearest = Nearest(name, names);
      return Wrong(fmt::format(
          "unknown table '{}'; {}", Printable(name),
          nearest ? fmt::format("did you mean {}?", *nearest)
                  : fmt::format("expected {} to {}, as the model has them",
                                names.front(), names.back())));
    }
    const auto at = static_cast<size_t>(found - tables_.begin());
    if (modules_[at]) {
      return Wrong(
          fmt::format("table {} is twice: in modules '{}' and '{}'; "
                      "expected it once",
                      name, Printable(*modules_[at]), Printable(module)));
    }
    modules_[at] = module;
    Result<TablePlan> table = ReadTable(value, found->group, ranks_);
    if (!table) {
      return Wrong(fmt::format("table {} {}", name, table.error().message));
    }
    plan_.tables[at] = *std::move(table);
    return {};
  }

  Result<Plan> Finish() && {
    for (size_t i = 0; i < tables_.size(); ++i) {
      if (!modules_[i]) {
        return Wrong(fmt::format("table {} is nowhere; expected it in a module",
                                 tables_[i].name));
      }
    }
    return std::move(plan_);
  }

 private:
  const std::vector<NamedTable>& tables_;
  const Ranks& ranks_;
  std::vector<std::optional<std::string>> modules_;  // Where each table was.
  Plan plan_;
};

Result<Plan> Read(std::string_view text, const std::vector<NamedTable>& tables,
                  const Ranks& ranks) {
  ASSIGN_OR_RETURN(const std::vector<NamedTable> named, NamesIn(text, tables));
  Reader reader(named, ranks);
  RETURN_IF_ERROR(
      ForEachTable(text, [&](const std::string& module, const std::string& name,
                             const JsonValue& entry) {
        return reader.ReadEntry(module, name, entry);
      }));
  return std::move(reader).Finish();
}

}  // namespace

Result<Plan> ReadPlanJson(std::string_view text, std::string_view source,
                          const std::vector<NamedTable>& tables,
                          const Ranks& ranks) {
  Result<Plan> plan = Read(text, tables, ranks);
  if (!plan) {
    return Fail(plan.error().code,
                fmt::format("{}: {}", source, plan.error().message));
  }
  return plan;
}

}  // namespace stepcast::plan

#include <algorithm>
#include <charconv>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/json/json_read.h"
#include "base/result.h"
#include "base/text/nearest.h"
#include "base/text/text_table.h"
#include "model/model.h"
#include "plan/plan.h"
#include "plan/plan_json.h"

namespace stepcast::plan {
namespace {

// Whether the parts of a table, as a file has them, make up the table.

// Fails for what a file has.
tl::unexpected<Error> Wrong(std::string message) {
  return Fail(ErrorCode::kInvalidInput, std::move(message));
}

// One way through a table: from `begin` on, `size` long.
struct Stretch {
  int64_t begin = 0;
  int64_t size = 0;
};

// Stretches one after the other, from 0 to `end`.
Status CheckCover(std::vector<Stretch> stretches, int64_t end,
                  std::string_view what) {
  std::ranges::sort(stretches, {}, [](const Stretch& stretch) {
    return std::pair(stretch.begin, stretch.size);
  });
  int64_t covered = 0;
  for (const Stretch& stretch : stretches) {
    if (stretch.begin > covered) {
      return Wrong(fmt::format("has {} {} to {} nowhere; expected all {}", what,
                               covered, stretch.begin - 1, end));
    }
    if (stretch.begin < covered && stretch.size > 0) {
      return Wrong(fmt::format("has {} from {} on twice; expected each once",
                               what, stretch.begin));
    }
    covered = std::max(covered, stretch.begin + stretch.size);
  }
  if (covered != end) {
    return Wrong(
        covered < end
            ? fmt::format("has {} {} to {} nowhere; expected all {}", what,
                          covered, end - 1, end)
            : fmt::format("has {} up to {}; expected {}", what, covered, end));
  }
  return {};
}

Status CheckShard(const Shard& shard, const model::TableGroup& table,
                  const Ranks& ranks) {
  if (shard.rank < 0 || shard.rank >= ranks.count) {
    return Wrong(fmt::format("is on rank {}; expected 0 to {}", shard.rank,
                             ranks.count - 1));
  }
  const bool inside = shard.row >= 0 && shard.column >= 0 && shard.rows >= 0 &&
                      shard.columns >= 0 && shard.row <= table.rows &&
                      shard.column <= table.dim && shard.rows <= table.rows &&
                      shard.columns <= table.dim;
  if (!inside) {
    return Wrong(fmt::format(
        "has a part of {} x {} at ({}, {}); expected it inside {} x {}",
        shard.rows, shard.columns, shard.row, shard.column, table.rows,
        table.dim));
  }
  return {};
}

// One part on every rank from `first` on.
Status CheckEachRank(const TablePlan& plan, int first, int count,
                     std::string_view where) {
  std::vector<int> parts(static_cast<size_t>(count));
  for (const Shard& shard : plan.shards) {
    const int at = shard.rank - first;
    if (at < 0 || at >= count || ++parts[static_cast<size_t>(at)] > 1) {
      return Wrong(
          fmt::format("is {} with another part on rank {}; expected "
                      "one on each rank of {}",
                      Name(plan.sharding), shard.rank, where));
    }
  }
  const auto without = std::ranges::find(parts, 0);
  if (without != parts.end()) {
    return Wrong(fmt::format(
        "is {} without a part on rank {}; expected one on each rank of {}",
        Name(plan.sharding), first + (without - parts.begin()), where));
  }
  return {};
}

Status CheckRows(const TablePlan& plan, const model::TableGroup& table) {
  std::vector<Stretch> rows;
  for (const Shard& shard : plan.shards) {
    if (shard.rows > 0 && (shard.column != 0 || shard.columns != table.dim)) {
      return Wrong(fmt::format("is {} with a part of {} columns; expected {}",
                               Name(plan.sharding), shard.columns, table.dim));
    }
    rows.push_back({.begin = shard.row, .size = shard.rows});
  }
  return CheckCover(std::move(rows), table.rows, "rows");
}

Status CheckColumns(const TablePlan& plan, const model::TableGroup& table) {
  std::vector<Stretch> columns;
  for (const Shard& shard : plan.shards) {
    if (shard.row != 0 || shard.rows != table.rows) {
      return Wrong(fmt::format("is {} with a part of {} rows; expected {}",
                               Name(plan.sharding), shard.rows, table.rows));
    }
    if (shard.columns == 0) {
      return Wrong("has a part without columns; expected 1 or more");
    }
    columns.push_back({.begin = shard.column, .size = shard.columns});
  }
  return CheckCover(std::move(columns), table.dim, "columns");
}

Status CheckTable(const TablePlan& plan, const model::TableGroup& table,
                  const Ranks& ranks) {
  if (plan.shards.empty()) {
    return Wrong("is nowhere; expected parts on ranks");
  }
  for (const Shard& shard : plan.shards) {
    RETURN_IF_ERROR(CheckShard(shard, table, ranks));
  }
  switch (plan.sharding) {
    case Sharding::kTableWise:
      if (plan.shards.size() > 1) {
        return Wrong(fmt::format("is table_wise in {} parts; expected one",
                                 plan.shards.size()));
      }
      [[fallthrough]];
    case Sharding::kColumnWise:
      return CheckColumns(plan, table);
    case Sharding::kRowWise:
      RETURN_IF_ERROR(CheckEachRank(plan, 0, ranks.count, "the job"));
      return CheckRows(plan, table);
    case Sharding::kTableRowWise: {
      const int first =
          plan.shards.front().rank / ranks.per_node() * ranks.per_node();
      RETURN_IF_ERROR(CheckEachRank(plan, first, ranks.per_node(), "one node"));
      return CheckRows(plan, table);
    }
    case Sharding::kDataParallel:
      return CheckEachRank(plan, 0, ranks.count, "the job");
  }
  return {};
}

// The parts of a table of which only the ranks are given.
Result<std::vector<Shard>> ShardsOn(const std::vector<int>& on,
                                    Sharding sharding,
                                    const model::TableGroup& table,
                                    const Ranks& ranks) {
  std::vector<int> places = on;
  if (places.empty() &&
      (sharding == Sharding::kRowWise || sharding == Sharding::kDataParallel)) {
    for (int rank = 0; rank < ranks.count; ++rank) {
      places.push_back(rank);
    }
  }
  if (places.empty()) {
    return Wrong("is nowhere; expected ranks or shards");
  }
  const auto count = static_cast<int64_t>(places.size());
  const int64_t block = (table.rows + count - 1) / count;
  const int64_t width = (table.dim + count - 1) / count;
  std::vector<Shard> shards;
  for (int64_t i = 0; i < count; ++i) {
    Shard shard{.rows = table.rows,
                .columns = table.dim,
                .rank = places[static_cast<size_t>(i)]};
    if (sharding == Sharding::kColumnWise) {
      shard.column = std::min(i * width, table.dim);
      shard.columns = std::min(width, table.dim - shard.column);
    } else if (sharding == Sharding::kRowWise ||
               sharding == Sharding::kTableRowWise) {
      shard.row = std::min(i * block, table.rows);
      shard.rows = std::min(block, table.rows - shard.row);
    }
    shards.push_back(shard);
  }
  return shards;
}

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
        "has a part that is not an object; expected shard_offsets, "
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
    return Wrong("has shards that are not a list; expected a list of parts");
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
    return Wrong(
        "has ranks that are not a list of numbers; expected [0, 1, ...]");
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
                            const model::TableGroup& table,
                            const Ranks& ranks) {
  if (!value.is_object()) {
    return Wrong("is not an object; expected sharding_type, ranks and shards");
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
               : Wrong(fmt::format("module '{}' is not an object; expected "
                                   "tables",
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
  return whole ? Status()
               : Wrong("the plan is not an object; expected modules");
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

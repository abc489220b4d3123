#include <algorithm>

#include <fmt/format.h>

#include "base/json/json_write.h"
#include "plan/plan_json.h"

namespace stepcast::plan {
namespace {

// Where torchrec_dlrm has its tables.
constexpr std::string_view kModule =
    "model.sparse_arch.embedding_bag_collection";

void WriteShard(const Shard& shard, const Ranks& ranks, JsonWriter& json) {
  json.BeginObject();
  json.Key("shard_offsets").BeginArray().Int(shard.row).Int(shard.column);
  json.EndArray();
  json.Key("shard_sizes").BeginArray().Int(shard.rows).Int(shard.columns);
  json.EndArray();
  json.Key("placement")
      .String(fmt::format("rank:{}/cuda:{}", shard.rank,
                          shard.rank % ranks.per_node()));
  json.EndObject();
}

}  // namespace

std::string WritePlanJson(const Plan& plan,
                          const std::vector<NamedTable>& tables,
                          const Ranks& ranks) {
  JsonWriter json;
  json.BeginObject().Key("plan").BeginObject().Key(kModule).BeginObject();
  for (size_t i = 0; i < tables.size(); ++i) {
    const TablePlan& table = plan.tables[i];
    const bool copied = table.sharding == Sharding::kDataParallel;
    json.Key(tables[i].name).BeginObject();
    json.Key("sharding_type").String(Name(table.sharding));
    json.Key("compute_kernel").String(copied ? "dense" : "fused");
    json.Key("ranks").BeginArray();
    for (const Shard& shard : table.shards) {
      json.Int(shard.rank);
    }
    json.EndArray();
    json.Key("shards");
    if (copied) {
      json.Null();
    } else {
      json.BeginArray();
      for (const Shard& shard : table.shards) {
        WriteShard(shard, ranks, json);
      }
      json.EndArray();
    }
    json.EndObject();
  }
  json.EndObject().EndObject().EndObject();
  return json.Take();
}

}  // namespace stepcast::plan

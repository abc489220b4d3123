#include "learn/measured/published_embedding.h"

#include <array>
#include <cctype>
#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace stepcast::learn {
namespace {

enum PublishedColumn : size_t {
  kId,
  kOp,
  kDevice,
  kDeviceKnown,
  kDevices,
  kTables,
  kRowsPerTable,
  kDim,
  kBatch,
  kLookups,
  kUniqueRows,
  kWeightType,
  kOptimizer,
  kPlacement,
  kDistribution,
  kTimeMs,
  kColumnCount
};
constexpr std::array<std::string_view, kColumnCount> kPublishedColumns = {
    "id",
    "op",
    "device",
    "device_known",
    "num_devices",
    "num_tables",
    "rows_per_table",
    "embedding_dim",
    "batch_size",
    "total_lookups",
    "unique_rows",
    "weight_dtype",
    "optimizer",
    "placement",
    "index_distribution",
    "time_ms"};

// Ops that are not lookups in a table of rows, by how their names begin.
struct ForeignOp {
  std::string_view prefix;
  std::string_view why;
};
constexpr std::array kForeignOps = {
    ForeignOp{"hkv_", "a hash table, not a table of rows"},
    ForeignOp{"dynemb_", "a hash table, not a table of rows"},
    ForeignOp{"ebc_train_step", "a whole step, bound by its host"},
    ForeignOp{"sharded_ec", "8 GPUs with their all-to-all"},
    ForeignOp{"nbit_", "quantised inference, mostly on CPUs"},
};

class PublishedRow {
 public:
  PublishedRow(const CsvTable& table, std::span<const size_t> at, size_t row)
      : table_(table), at_(at), row_(row) {}

  std::string_view operator[](PublishedColumn column) const {
    return table_.row(row_)[at_[column]];
  }
  Result<int64_t> Size(PublishedColumn column) const {
    const auto number = CellNumber((*this)[column]);
    if (!number || !(*number >= 1)) {
      return Bad(column, "a number of 1 or more");
    }
    return std::llround(*number);
  }
  tl::unexpected<Error> Bad(PublishedColumn column,
                            std::string_view expected) const {
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{}:{}: {} is '{}'; expected {}", table_.source(),
                            table_.line(row_), kPublishedColumns[column],
                            (*this)[column], expected));
  }

 private:
  const CsvTable& table_;
  std::span<const size_t> at_;
  size_t row_;
};

// Why a row is none of ours, or nothing.
std::optional<std::string_view> WhyNot(const PublishedRow& row) {
  for (const ForeignOp& foreign : kForeignOps) {
    if (row[kOp].starts_with(foreign.prefix)) {
      return foreign.why;
    }
  }
  if (row[kDeviceKnown] != "1") {
    return "a GPU without a name, or a CPU";
  }
  if (row[kDevices] != "1") {
    return "several GPUs";
  }
  if (!row[kOp].starts_with("tbe_")) {
    return "an op that we do not know";
  }
  return std::nullopt;
}

// "H100-SXM5-80GB (NVIDIA ...)" is "h100-sxm-80gb": the socket's version goes
// with the chip.
std::string GpuFrom(std::string_view device) {
  constexpr std::string_view kSocket = "sxm";
  std::string name;
  for (const char c : device.substr(0, device.find(' '))) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit || !name.ends_with(kSocket)) {
      name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return name;
}

// The number after `key`, as in "cache rows = 0.8 x unique rows".
std::optional<double> NumberAfter(std::string_view text, std::string_view key) {
  const size_t found = text.find(key);
  if (found == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = text.substr(found + key.size());
  return CellNumber(rest.substr(0, rest.find_first_not_of("0123456789.")));
}

Status SetPlace(const PublishedRow& row, ir::EmbeddingBag& bag) {
  const std::string_view place = row[kPlacement];
  if (place.starts_with("HBM")) {
    return {};
  }
  if (place.find("MANAGED_CACHING") == std::string_view::npos) {
    if (place.find("MANAGED") == std::string_view::npos) {
      return row.Bad(kPlacement, "HBM, MANAGED or MANAGED_CACHING");
    }
    bag.place = ir::BagPlace::kManaged;
    return {};
  }
  bag.place = ir::BagPlace::kManagedCache;
  const auto of_unique = NumberAfter(place, "cache rows = ");
  const auto of_all = NumberAfter(place, "cache_load_factor ");
  if (!of_unique && !of_all) {
    return row.Bad(kPlacement, "the size of the cache");
  }
  const double share = of_unique ? *of_unique : *of_all;
  const auto rows = static_cast<double>(of_unique ? bag.unique_rows : bag.rows);
  bag.cache_rows = std::llround(share * rows);
  return {};
}

Status SetUpdate(const PublishedRow& row, ir::EmbeddingBag& bag) {
  if (bag.pass == ir::Pass::kForward) {
    return {};
  }
  if (row[kOptimizer] == "sgd") {
    bag.update = ir::Update::kSgd;
  } else if (row[kOptimizer] == "adam") {
    bag.update = ir::Update::kAdam;
  } else {
    return row.Bad(kOptimizer, "sgd or adam");
  }
  return {};
}

Result<PublishedLookup> ReadPublishedLookup(const PublishedRow& row) {
  PublishedLookup lookup{.id = std::string(row[kId]),
                         .gpu = GpuFrom(row[kDevice]),
                         .inference = row[kOp] == "tbe_eval_forward"};
  ir::EmbeddingBag& bag = lookup.bag;
  ASSIGN_OR_RETURN(bag.tables, row.Size(kTables));
  ASSIGN_OR_RETURN(const int64_t rows, row.Size(kRowsPerTable));
  bag.rows = rows * bag.tables;
  ASSIGN_OR_RETURN(bag.dim, row.Size(kDim));
  ASSIGN_OR_RETURN(bag.batch, row.Size(kBatch));
  ASSIGN_OR_RETURN(bag.lookups, row.Size(kLookups));
  // All of these benchmarks look up one row a result.
  bag.pooled = false;
  bag.longest_bag = 1;
  if (row[kWeightType] != "FP32") {
    return row.Bad(kWeightType, "FP32");
  }
  bag.dtype = ir::DType::kFp32;
  bag.pass = row[kOp] == "tbe_bwd_fused_opt" ? ir::Pass::kBackward
                                             : ir::Pass::kForward;
  bag.unique_rows =
      static_cast<int64_t>(CellNumber(row[kUniqueRows]).value_or(0));
  bag.index_alpha =
      NumberAfter(row[kDistribution], "power-law alpha ").value_or(0);
  RETURN_IF_ERROR(SetPlace(row, bag));
  RETURN_IF_ERROR(SetUpdate(row, bag));
  const auto time_ms = CellNumber(row[kTimeMs]);
  if (!time_ms || !(*time_ms > 0)) {
    return row.Bad(kTimeMs, "a time");
  }
  lookup.time_us = 1e3 * *time_ms;
  return lookup;
}

}  // namespace

Result<PublishedLookups> ReadPublishedLookups(const CsvTable& table) {
  ASSIGN_OR_RETURN(const auto at, table.FindColumns(kPublishedColumns));
  PublishedLookups lookups;
  for (size_t i = 0; i < table.row_count(); ++i) {
    const PublishedRow row(table, at, i);
    if (const auto why = WhyNot(row)) {
      ++lookups.left_out[std::string(*why)];
      continue;
    }
    ASSIGN_OR_RETURN(PublishedLookup lookup, ReadPublishedLookup(row));
    lookups.rows.push_back(std::move(lookup));
  }
  return lookups;
}

}  // namespace stepcast::learn

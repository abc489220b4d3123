#include "workload/read_tables.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/nearest.h"

namespace stepcast::workload {
namespace {

// Far above any model, and far below where products of them would overflow.
constexpr int64_t kMostRows = 100'000'000'000;
constexpr int64_t kMostDim = 65'536;
constexpr int64_t kMostTables = 100'000;
constexpr double kMostPooling = 100'000;
constexpr double kMostAlpha = 10;
constexpr double kMostBytes = 1e18;
constexpr size_t kMostIds = 100'000'000;

constexpr std::string_view kTableKeys[] = {
    "count", "rows",      "dim",      "ids",       "pooling",
    "alpha", "histogram", "ids_file", "placement", "cache"};
constexpr std::string_view kIdKinds[] = {"uniform", "zipf", "histogram",
                                         "measured"};

// [[0.01, 0.6], [0.99, 0.4]]: 1 % of the rows get 60 % of the lookups.
Result<std::vector<HistogramStep>> ReadHistogram(const toml::node& node) {
  const auto wrong = [&](const toml::node& at) {
    return FailAt(at,
                  "histogram must be a list of pairs [share of the rows, "
                  "share of the lookups]; expected each share above 0, and "
                  "both to sum to 1");
  };
  const toml::array* const list = node.as_array();
  if (list == nullptr || list->empty()) {
    return wrong(node);
  }
  std::vector<HistogramStep> steps;
  HistogramStep sum;
  for (const toml::node& item : *list) {
    const toml::array* const pair = item.as_array();
    if (pair == nullptr || pair->size() != 2 ||
        !pair->is_homogeneous<double>()) {
      return wrong(item);
    }
    const HistogramStep step{
        .rows = pair->get(0)->as_floating_point()->get(),
        .lookups = pair->get(1)->as_floating_point()->get()};
    if (!(step.rows > 0 && step.lookups > 0)) {
      return wrong(item);
    }
    sum.rows += step.rows;
    sum.lookups += step.lookups;
    steps.push_back(step);
  }
  // Room for shares written with four decimals.
  constexpr double kRounding = 0.001;
  if (!(std::abs(sum.rows - 1) < kRounding) ||
      !(std::abs(sum.lookups - 1) < kRounding)) {
    return wrong(node);
  }
  for (HistogramStep& step : steps) {
    step.rows /= sum.rows;
    step.lookups /= sum.lookups;
  }
  return steps;
}

// Whole numbers with anything but digits between them.
Result<std::vector<int64_t>> ParseIds(std::string_view text,
                                      const toml::node& node,
                                      std::string_view name) {
  std::vector<int64_t> ids;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (at != end) {
    if (*at < '0' || *at > '9') {
      ++at;
      continue;
    }
    int64_t id = 0;
    const auto [next, error] = std::from_chars(at, end, id);
    if (error != std::errc() || ids.size() == kMostIds) {
      return FailAt(node, fmt::format("{} holds a number above 2^63 or more "
                                      "than {} ids; expected row numbers",
                                      name, kMostIds));
    }
    ids.push_back(id);
    at = next;
  }
  if (ids.empty()) {
    return FailAt(node, fmt::format("{} holds no ids; expected row numbers in "
                                    "the order of the lookups",
                                    name));
  }
  return ids;
}

Result<IdDistribution> ReadIds(const ModelKeys& keys, const ReadBeside& read) {
  IdDistribution ids;
  ASSIGN_OR_RETURN(std::string kind, keys.Text("ids", ""));
  const toml::node* const histogram = keys.Find("histogram");
  const toml::node* const file = keys.Find("ids_file");
  if (kind.empty() && histogram != nullptr) {
    kind = "histogram";
  } else if (kind.empty() && file != nullptr) {
    kind = "measured";
  } else if (kind.empty() && keys.Find("alpha") != nullptr) {
    kind = "zipf";
  }
  if (kind.empty()) {
    return ids;
  }
  if (kind == "uniform") {
    ids.kind = IdKind::kUniform;
  } else if (kind == "zipf") {
    ids.kind = IdKind::kZipf;
    if (keys.Find("alpha") == nullptr) {
      return FailAt(*keys.Find("ids"),
                    "ids are zipf without alpha; expected "
                    "the exponent, as in alpha = 1.05");
    }
    ASSIGN_OR_RETURN(ids.alpha, keys.Number("alpha", 0, 0, kMostAlpha));
  } else if (kind == "histogram" && histogram != nullptr) {
    ids.kind = IdKind::kHistogram;
    ASSIGN_OR_RETURN(ids.steps, ReadHistogram(*histogram));
  } else if (kind == "measured" && file != nullptr) {
    ids.kind = IdKind::kMeasured;
    ASSIGN_OR_RETURN(const std::string name, keys.Text("ids_file", ""));
    Result<std::string> text = read(name);
    if (!text) {
      return FailAt(*file, text.error().message);
    }
    ASSIGN_OR_RETURN(ids.ids, ParseIds(*text, *file, name));
  } else if (kind == "histogram" || kind == "measured") {
    return FailAt(*keys.Find("ids"),
                  fmt::format("ids are {0} without {1}; expected {1}", kind,
                              kind == "histogram" ? "histogram" : "ids_file"));
  } else {
    return FailAt(*keys.Find("ids"), Unknown("ids", kind, kIdKinds));
  }
  return ids;
}

// Where the tables live, in `group`.
Status ReadPlacement(const ModelKeys& keys, TableGroup& group) {
  ASSIGN_OR_RETURN(const std::string word, keys.Text("placement", ""));
  if (!word.empty()) {
    const auto placement = ParsePlacement(word);
    if (!placement) {
      return FailAt(*keys.Find("placement"), placement.error().message);
    }
    group.placement = *placement;
  }
  constexpr double kLeastCache = 1e-6;
  const bool cached = IsCached(group.placement);
  if (!cached && keys.Find("cache") != nullptr) {
    return FailAt(*keys.Find("cache"),
                  "cache without a cache; expected placement = \"uvm-cache\"");
  }
  if (cached) {
    ASSIGN_OR_RETURN(group.cache,
                     keys.Number("cache", kUsualCache, kLeastCache, 1));
  }
  return {};
}

// One group for each of `rows`, with the pooling of its place in the list.
Result<std::vector<TableGroup>> Groups(const ModelKeys& keys,
                                       std::string_view rows_key, int64_t dim,
                                       const ReadBeside& read) {
  ASSIGN_OR_RETURN(const std::vector<int64_t> rows,
                   keys.Wholes(rows_key, 1, kMostRows));
  ASSIGN_OR_RETURN(std::vector<double> pooling,
                   keys.Numbers("pooling", 0, kMostPooling));
  ASSIGN_OR_RETURN(const IdDistribution ids, ReadIds(keys, read));
  ASSIGN_OR_RETURN(const int64_t count, keys.Whole("count", 1, 1, kMostTables));
  if (rows.empty()) {
    return FailAt(keys.table(), fmt::format("{} is missing; expected the rows "
                                            "of a table, or a list",
                                            rows_key));
  }
  if (pooling.empty()) {
    pooling.push_back(1);
  }
  if (pooling.size() != 1 && pooling.size() != rows.size()) {
    return FailAt(
        *keys.Find("pooling"),
        fmt::format("{} has {} numbers for {} tables; expected one, "
                    "or one a table",
                    keys.WordFor("pooling"), pooling.size(), rows.size()));
  }
  TableGroup like{.count = count, .dim = dim, .ids = ids};
  RETURN_IF_ERROR(ReadPlacement(keys, like));
  std::vector<TableGroup> groups;
  for (size_t i = 0; i < rows.size(); ++i) {
    TableGroup group = like;
    group.rows = rows[i];
    group.pooling = pooling[pooling.size() == 1 ? 0 : i];
    if (!groups.empty() && groups.back().rows == group.rows &&
        groups.back().pooling == group.pooling) {
      groups.back().count += count;
    } else {
      groups.push_back(std::move(group));
    }
  }
  return groups;
}

Status CheckSize(const std::vector<TableGroup>& tables,
                 const toml::table& table) {
  double bytes = 0;
  int64_t count = 0;
  for (const TableGroup& group : tables) {
    count += group.count;
    bytes += 4.0 * static_cast<double>(group.count) *
             static_cast<double>(group.rows) * static_cast<double>(group.dim);
  }
  if (count > kMostTables || bytes > kMostBytes) {
    return FailAt(table, fmt::format("{} tables of {:.3g} bytes in all; "
                                     "expected at most {} tables and {:.0e} "
                                     "bytes",
                                     count, bytes, kMostTables, kMostBytes));
  }
  return {};
}

}  // namespace

Result<std::vector<TableGroup>> ReadTables(const ModelKeys& keys,
                                           const ReadBeside& read) {
  ASSIGN_OR_RETURN(const int64_t usual_dim,
                   keys.Whole("embedding_dim", 0, 1, kMostDim));
  const toml::node* const node = keys.Find("tables");
  if (node != nullptr && keys.Find("table_rows") != nullptr) {
    return FailAt(*keys.Find("table_rows"),
                  fmt::format("{} stands beside [[tables]]; expected one of "
                              "them",
                              keys.WordFor("table_rows")));
  }
  if (node == nullptr) {
    if (keys.Find("table_rows") == nullptr) {
      return std::vector<TableGroup>();
    }
    if (usual_dim == 0) {
      return FailAt(*keys.Find("table_rows"),
                    "embedding_dim is missing; expected the columns of the "
                    "tables");
    }
    ASSIGN_OR_RETURN(auto tables, Groups(keys, "table_rows", usual_dim, read));
    RETURN_IF_ERROR(CheckSize(tables, keys.table()));
    return tables;
  }
  const toml::array* const list = node->as_array();
  if (list == nullptr || !list->is_array_of_tables()) {
    return FailAt(*node, "tables must be written as [[tables]] sections");
  }
  std::vector<TableGroup> tables;
  for (const toml::node& item : *list) {
    ASSIGN_OR_RETURN(const ModelKeys group_keys,
                     ModelKeys::Make(*item.as_table(), kTableKeys));
    ASSIGN_OR_RETURN(const int64_t dim,
                     group_keys.Whole("dim", usual_dim, 1, kMostDim));
    if (dim == 0) {
      return FailAt(item, "dim is missing; expected the columns of the table");
    }
    ASSIGN_OR_RETURN(const auto groups, Groups(group_keys, "rows", dim, read));
    tables.insert(tables.end(), groups.begin(), groups.end());
    RETURN_IF_ERROR(CheckSize(tables, keys.table()));
  }
  return tables;
}

}  // namespace stepcast::workload

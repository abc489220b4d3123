#include "collect/cuda/table.h"

#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>

namespace stepcast::collect {
namespace {

constexpr Kind kKinds[] = {
    Kind::kGemm,      Kind::kElementwise, Kind::kEmbeddingBag, Kind::kMemcpy,
    Kind::kBandwidth, Kind::kLaunch,      Kind::kCollective};
// Columns at the end of every kind.
constexpr const char* kTail = "time_us,min_us,count,outliers,timing,source";
constexpr const char* kSource = "collect-cuda";

// At most four decimals, no trailing zeros.
std::string Microseconds(double value) {
  char text[64] = "";
  std::snprintf(text, sizeof(text), "%.4f", value);
  std::string number = text;
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') {
    number.pop_back();
  }
  return number;
}

std::string JoinCells(const std::vector<std::string>& cells) {
  std::string line;
  for (const std::string& cell : cells) {
    line += (line.empty() ? "" : ",") + cell;
  }
  return line;
}

// The name of a GPU or system may have anything in it.
std::string Cell(std::string text) {
  for (char& letter : text) {
    if (letter == ',' || letter == '"' || letter == '\n' || letter == '\t') {
      letter = ';';
    }
  }
  return text;
}

// Bytes moved a second, in GB: the figure that people look at. A copy's bytes
// are those of both halves.
std::string Rate(const Point& point, double time_us) {
  return Microseconds(static_cast<double>(point.bytes) / time_us / 1e3);
}

// Cells between the GPU and the tail.
std::vector<std::string> OwnCells(const Point& p, const RowContext& context,
                                  const Summary& summary, int64_t unique_rows) {
  const auto text = [](int64_t value) { return std::to_string(value); };
  switch (p.kind) {
    case Kind::kGemm:
      return {p.dtype,   text(p.batch), text(p.m), text(p.n),
              text(p.k), p.op,          "0"};
    case Kind::kElementwise:
      return {p.op, p.dtype, p.op == "add" ? "2" : "1", text(p.rows),
              text(p.dim)};
    case Kind::kEmbeddingBag: {
      const bool is_backward = p.op == "bwd";
      return {is_backward ? "table-batched-atomic" : "cuda-gather",
              p.op,
              is_backward ? "sgd" : "",
              p.dtype,
              "hbm",
              "1",
              text(p.rows),
              text(p.dim),
              text(p.batch),
              text(p.lookups),
              p.pooling,
              DistributionName(p.alpha),
              unique_rows > 0 ? text(unique_rows) : ""};
    }
    case Kind::kMemcpy:
      return {p.op, p.host_memory, text(p.bytes)};
    case Kind::kBandwidth:
      return {p.op, text(p.bytes), Rate(p, summary.time_us)};
    case Kind::kLaunch:
      return {p.op};
    case Kind::kCollective:
      return {Cell(context.system), p.op, "nccl",        p.dtype,
              text(p.ranks),        "1",  text(p.ranks), text(p.bytes)};
  }
  return {};
}

}  // namespace

std::string HeaderOf(Kind kind) {
  std::string own;
  switch (kind) {
    case Kind::kGemm:
      own = "dtype,batch,m,n,k,layout,bias";
      break;
    case Kind::kElementwise:
      own = "op,dtype,num_inputs,rows,cols";
      break;
    case Kind::kEmbeddingBag:
      own =
          "impl,direction,optimizer,dtype,location,num_tables,rows_per_table,"
          "dim,batch,lookups_per_bag,pooling,index_dist,unique_rows";
      break;
    case Kind::kMemcpy:
      own = "kind,host_memory,bytes";
      break;
    case Kind::kBandwidth:
      // `launch` marks these rows as for people.
      own = "launch,bytes,gbs";
      break;
    case Kind::kLaunch:
      own = "launch";
      break;
    case Kind::kCollective:
      own =
          "system,collective,library,dtype,num_gpus,num_nodes,gpus_per_node,"
          "bytes";
      break;
  }
  return "gpu," + own + "," + kTail;
}

std::string RowOf(const Point& point, const RowContext& context,
                  const Summary& summary, const std::string& timing,
                  int64_t unique_rows) {
  std::vector<std::string> cells = {Cell(context.gpu)};
  for (std::string& cell : OwnCells(point, context, summary, unique_rows)) {
    cells.push_back(std::move(cell));
  }
  cells.push_back(Microseconds(summary.time_us));
  cells.push_back(Microseconds(summary.min_us));
  cells.push_back(std::to_string(summary.count));
  cells.push_back(std::to_string(summary.outliers));
  cells.push_back(timing);
  cells.emplace_back(kSource);
  return JoinCells(cells);
}

std::string WriteTables(const std::string& out, const std::string& gpu,
                        const std::vector<TableRow>& rows) {
  namespace fs = std::filesystem;
  std::map<std::string, std::string> texts;
  for (const Kind kind : kKinds) {
    for (const TableRow& row : rows) {
      if (row.kind == Name(kind)) {
        std::string& text = texts[row.kind];
        text += text.empty() ? HeaderOf(kind) + "\n" : "";
        text += row.line + "\n";
      }
    }
  }
  for (const auto& [kind, text] : texts) {
    const fs::path path = fs::path(out) / kind / (gpu + ".csv");
    const fs::path scratch = path.string() + ".tmp";
    std::error_code failed;
    fs::create_directories(path.parent_path(), failed);
    std::ofstream file(scratch, std::ios::binary);
    file << text;
    file.close();
    if (!file) {
      return scratch.string() + ": cannot be written";
    }
    fs::rename(scratch, path, failed);
    if (failed) {
      return path.string() + ": " + failed.message();
    }
  }
  return "";
}

}  // namespace stepcast::collect

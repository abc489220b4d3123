#include "learn/measured/kernel_rows.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/result.h"
#include "base/text/join.h"
#include "ir/shape.h"
#include "ir/shape_set.h"
#include "learn/measured/aten_shape.h"
#include "learn/measured/csv.h"
#include "trace/classify/rules.h"

namespace stepcast::learn {
namespace {

// How the columns of each kind of kernel CSV become a shape: one row per kind.

// What one row says, besides its time.
struct RowShape {
  ir::KernelShape shape{};
  std::vector<ir::KernelShape> more{};  // Kernels whose time is in it, too.
  std::string op;                       // Rows of one op share a launch floor.
};

// The cells of one row that its kind asked for, in the order of its columns.
using Cells = std::span<const std::string_view>;

// A kind of CSV file.
struct RowKind {
  std::string_view name;                      // Also the usual folder's name.
  std::span<const std::string_view> columns;  // That identify it, and it reads.
  /// The shape, or an error that says what is wrong with the row.
  Result<RowShape> (*read)(Cells cells, const trace::Rules& rules) = nullptr;
};

using ir::DType;
using Names = std::span<const std::string_view>;

tl::unexpected<Error> BadCell(std::string_view column, std::string_view cell,
                              std::string_view expected) {
  return Fail(ErrorCode::kInvalidInput,
              fmt::format("{} is '{}'; expected {}", column, cell, expected));
}

// No tensor of 2^48 elements fits any GPU; more is a wrong unit.
constexpr int64_t kMostElements = int64_t{1} << 48;

// A product of sizes, none of them above kMostElements.
Result<int64_t> Multiply(std::initializer_list<int64_t> sizes) {
  double exact = 1;
  int64_t product = 1;
  for (const int64_t size : sizes) {
    exact *= static_cast<double>(size);
    if (exact > static_cast<double>(kMostElements)) {
      return Fail(ErrorCode::kInvalidInput, "more elements than fit any GPU");
    }
    product *= size;
  }
  return product;
}

// The cells of a row by the names of their columns.
class ShapeRow {
 public:
  ShapeRow(Names columns, Cells cells) : columns_(columns), cells_(cells) {}

  std::string_view Text(std::string_view column) const {
    const auto found = std::ranges::find(columns_, column);
    return cells_[static_cast<size_t>(found - columns_.begin())];
  }

  // A size: 1 or more.
  Result<int64_t> Size(std::string_view column) const {
    const std::string_view cell = Text(column);
    const auto value = CellInt(cell);
    if (!value || *value < 1 || *value > kMostElements) {
      return BadCell(column, cell, "a whole number above 0");
    }
    return *value;
  }

  Result<DType> Type() const {
    const auto dtype = ir::DTypeFromName(Text("dtype"));
    if (!dtype || *dtype == DType::kUnknown) {
      return BadCell("dtype", Text("dtype"), "fp32, fp16, bf16, ...");
    }
    return *dtype;
  }

 private:
  Names columns_;
  Cells cells_;
};

constexpr std::array<std::string_view, 6> kGemmColumns = {
    "dtype", "batch", "m", "n", "k", "layout"};

Result<RowShape> ReadGemm(Cells cells, const trace::Rules& /*rules*/) {
  const ShapeRow row(kGemmColumns, cells);
  ir::Gemm gemm;
  ASSIGN_OR_RETURN(gemm.batch, row.Size("batch"));
  ASSIGN_OR_RETURN(gemm.m, row.Size("m"));
  ASSIGN_OR_RETURN(gemm.n, row.Size("n"));
  ASSIGN_OR_RETURN(gemm.k, row.Size("k"));
  ASSIGN_OR_RETURN(gemm.dtype, row.Type());
  const std::string_view layout = row.Text("layout");
  if (layout != "tn" && layout != "nn" && layout != "nt") {
    return BadCell("layout", layout, "tn, nn or nt");
  }
  // tn: the weight is stored [n, k]. nt: a gradient of weights, contracted
  // over the rows of both operands.
  gemm.transpose_b = layout == "tn";
  gemm.transpose_a = layout == "nt";
  return RowShape{
      .shape = gemm, .more = {}, .op = layout == "tn" ? "linear" : "bmm"};
}

constexpr std::array<std::string_view, 5> kElementwiseColumns = {
    "op", "dtype", "num_inputs", "rows", "cols"};

ir::Arithmetic ArithmeticOf(std::string_view op) {
  if (op.starts_with("div")) {
    return ir::Arithmetic::kDivision;
  }
  if (op == "tanh" || op == "gelu" || op == "sigmoid") {
    return ir::Arithmetic::kTranscendental;
  }
  return op.starts_with("pow") ? ir::Arithmetic::kPower
                               : ir::Arithmetic::kPlain;
}

Result<RowShape> ReadElementwise(Cells cells, const trace::Rules& /*rules*/) {
  const ShapeRow row(kElementwiseColumns, cells);
  ASSIGN_OR_RETURN(const DType dtype, row.Type());
  ASSIGN_OR_RETURN(const int64_t inputs, row.Size("num_inputs"));
  ASSIGN_OR_RETURN(const int64_t rows, row.Size("rows"));
  ASSIGN_OR_RETURN(const int64_t columns, row.Size("cols"));
  ASSIGN_OR_RETURN(const int64_t elements, Multiply({rows, columns}));
  ASSIGN_OR_RETURN(const int64_t read,
                   Multiply({inputs, elements, ir::SizeOf(dtype)}));
  const int64_t bytes = elements * ir::SizeOf(dtype);
  return RowShape{
      .shape = ir::Elementwise{.elements = elements,
                               .read = {read},
                               .written = {bytes},
                               .dtype = dtype,
                               .arithmetic = ArithmeticOf(row.Text("op"))},
      .more = {},
      .op = std::string(row.Text("op"))};
}

constexpr std::array<std::string_view, 4> kRowwiseColumns = {
    "dtype", "direction", "rows", "cols"};

Result<ir::Pass> PassFrom(std::string_view text) {
  if (text == "fwd") {
    return ir::Pass::kForward;
  }
  if (text == "bwd") {
    return ir::Pass::kBackward;
  }
  if (text == "bwd_data") {
    return ir::Pass::kBackwardData;
  }
  if (text == "bwd_weight") {
    return ir::Pass::kBackwardWeight;
  }
  return BadCell("direction", text, "fwd, bwd, bwd_data or bwd_weight");
}

Result<RowShape> ReadSoftmax(Cells cells, const trace::Rules& /*rules*/) {
  const ShapeRow row(kRowwiseColumns, cells);
  ir::Softmax softmax;
  ASSIGN_OR_RETURN(softmax.rows, row.Size("rows"));
  ASSIGN_OR_RETURN(softmax.columns, row.Size("cols"));
  ASSIGN_OR_RETURN(softmax.dtype, row.Type());
  ASSIGN_OR_RETURN(softmax.pass, PassFrom(row.Text("direction")));
  return RowShape{.shape = softmax, .more = {}, .op = "softmax"};
}

Result<RowShape> ReadLayerNorm(Cells cells, const trace::Rules& /*rules*/) {
  const ShapeRow row(kRowwiseColumns, cells);
  ir::Normalization norm;
  ASSIGN_OR_RETURN(norm.rows, row.Size("rows"));
  ASSIGN_OR_RETURN(norm.columns, row.Size("cols"));
  ASSIGN_OR_RETURN(norm.dtype, row.Type());
  ASSIGN_OR_RETURN(norm.pass, PassFrom(row.Text("direction")));
  return RowShape{.shape = norm, .more = {}, .op = "layernorm"};
}

constexpr std::array<std::string_view, 9> kConvolutionColumns = {
    "dtype",        "direction", "batch",  "in_channels", "in_size",
    "out_channels", "kernel",    "stride", "padding"};

Result<RowShape> ReadConvolution(Cells cells, const trace::Rules& /*rules*/) {
  const ShapeRow row(kConvolutionColumns, cells);
  ir::Convolution conv;
  ASSIGN_OR_RETURN(conv.batch, row.Size("batch"));
  ASSIGN_OR_RETURN(conv.in_channels, row.Size("in_channels"));
  ASSIGN_OR_RETURN(conv.height, row.Size("in_size"));
  ASSIGN_OR_RETURN(conv.out_channels, row.Size("out_channels"));
  ASSIGN_OR_RETURN(conv.kernel_height, row.Size("kernel"));
  ASSIGN_OR_RETURN(conv.stride, row.Size("stride"));
  ASSIGN_OR_RETURN(conv.dtype, row.Type());
  ASSIGN_OR_RETURN(conv.pass, PassFrom(row.Text("direction")));
  const auto padding = CellInt(row.Text("padding"));
  if (!padding || *padding < 0 || *padding > conv.height) {
    return BadCell("padding", row.Text("padding"), "0 or more");
  }
  conv.padding = *padding;
  conv.width = conv.height;
  conv.kernel_width = conv.kernel_height;
  return RowShape{.shape = conv, .more = {}, .op = "conv2d"};
}

constexpr std::array<std::string_view, 13> kBagColumns = {
    "impl",       "direction",      "optimizer",  "dtype", "location",
    "num_tables", "rows_per_table", "dim",        "batch", "lookups_per_bag",
    "pooling",    "index_dist",     "unique_rows"};

Result<ir::Update> UpdateFrom(std::string_view text) {
  if (text.empty()) {
    return ir::Update::kNone;
  }
  if (text == "sgd") {
    return ir::Update::kSgd;
  }
  if (text == "adam") {
    return ir::Update::kAdam;
  }
  if (text == "adagrad") {
    return ir::Update::kAdagrad;
  }
  if (text == "rowwise_adagrad") {
    return ir::Update::kRowwiseAdagrad;
  }
  return BadCell("optimizer", text,
                 "sgd, adagrad, rowwise_adagrad, adam or nothing");
}

// "power-law-1.05" or "random".
double AlphaFrom(std::string_view text) {
  constexpr std::string_view kPowerLaw = "power-law-";
  if (text.starts_with(kPowerLaw)) {
    return CellNumber(text.substr(kPowerLaw.size())).value_or(-1);
  }
  return text == "random" || text == "uniform" ? 0 : -1;
}

Result<RowShape> ReadBag(Cells cells, const trace::Rules& /*rules*/) {
  const ShapeRow row(kBagColumns, cells);
  ir::EmbeddingBag bag;
  ASSIGN_OR_RETURN(bag.tables, row.Size("num_tables"));
  ASSIGN_OR_RETURN(const int64_t rows, row.Size("rows_per_table"));
  ASSIGN_OR_RETURN(bag.rows, Multiply({rows, bag.tables}));
  ASSIGN_OR_RETURN(bag.dim, row.Size("dim"));
  ASSIGN_OR_RETURN(bag.batch, row.Size("batch"));
  ASSIGN_OR_RETURN(const int64_t lookups, row.Size("lookups_per_bag"));
  ASSIGN_OR_RETURN(bag.lookups, Multiply({lookups, bag.batch, bag.tables}));
  bag.longest_bag = lookups;
  ASSIGN_OR_RETURN(bag.dtype, row.Type());
  ASSIGN_OR_RETURN(bag.pass, PassFrom(row.Text("direction")));
  ASSIGN_OR_RETURN(bag.update, UpdateFrom(row.Text("optimizer")));
  bag.pooled = row.Text("pooling") != "none";
  bag.index_alpha = AlphaFrom(row.Text("index_dist"));
  const std::string_view impl = row.Text("impl");
  bag.kernel = impl.starts_with("table-batched") ? ir::BagKernel::kAtomic
               : impl == "nn.EmbeddingBag"       ? ir::BagKernel::kPerTable
                                                 : ir::BagKernel::kTableBatched;
  const std::string_view place = row.Text("location");
  bag.place = place == "uvm"         ? ir::BagPlace::kManaged
              : place == "uvm_cache" ? ir::BagPlace::kManagedCache
                                     : ir::BagPlace::kDevice;
  // The benchmark these rows are from caches 0.8 or 1.0 of the rows it touches,
  // and does not say which.
  bag.unique_rows = CellInt(row.Text("unique_rows")).value_or(0);
  bag.cache_rows =
      bag.place == ir::BagPlace::kManagedCache ? bag.unique_rows * 9 / 10 : 0;
  // The older benchmark repeats one call with the same ids.
  bag.warm = bag.kernel == ir::BagKernel::kAtomic;
  return RowShape{.shape = bag, .more = {}, .op = "embedding_bag"};
}

constexpr std::array<std::string_view, 5> kLookupColumns = {
    "dtype", "direction", "table_rows", "dim", "lookups"};

Result<RowShape> ReadLookup(Cells cells, const trace::Rules& /*rules*/) {
  const ShapeRow row(kLookupColumns, cells);
  ir::EmbeddingBag bag{.tables = 1};
  ASSIGN_OR_RETURN(bag.rows, row.Size("table_rows"));
  ASSIGN_OR_RETURN(bag.dim, row.Size("dim"));
  ASSIGN_OR_RETURN(bag.lookups, row.Size("lookups"));
  bag.batch = bag.lookups;
  bag.pooled = false;
  bag.longest_bag = 1;
  bag.index_alpha = 0;
  bag.kernel = ir::BagKernel::kPerTable;
  ASSIGN_OR_RETURN(bag.dtype, row.Type());
  ASSIGN_OR_RETURN(bag.pass, PassFrom(row.Text("direction")));
  return RowShape{.shape = bag, .more = {}, .op = "embedding_lookup"};
}

constexpr std::array<std::string_view, 3> kCopyColumns = {"kind", "host_memory",
                                                          "bytes"};

Result<RowShape> ReadCopy(Cells cells, const trace::Rules& /*rules*/) {
  const ShapeRow row(kCopyColumns, cells);
  ir::Copy copy;
  const std::string_view kind = row.Text("kind");
  if (kind == "htod") {
    copy.kind = ir::CopyKind::kHostToDevice;
  } else if (kind == "dtoh") {
    copy.kind = ir::CopyKind::kDeviceToHost;
  } else if (kind == "dtod") {
    copy.kind = ir::CopyKind::kDeviceToDevice;
  } else {
    return BadCell("kind", kind, "htod, dtoh or dtod");
  }
  ASSIGN_OR_RETURN(copy.bytes.count, row.Size("bytes"));
  copy.pinned = row.Text("host_memory") == "pinned";
  return RowShape{.shape = copy, .more = {}, .op = "memcpy"};
}

constexpr std::array<std::string_view, 6> kAtenColumns = {
    "op",          "dtype", "input_dims", "input_strides", "concrete_inputs",
    "kernel_names"};

Result<RowShape> FromShapes(std::vector<ir::KernelShape> shapes,
                            std::string op) {
  if (shapes.empty()) {
    return Fail(ErrorCode::kUnsupported,
                "the arguments do not show the sizes of its kernels");
  }
  RowShape row{.shape = shapes.front(), .more = {}, .op = std::move(op)};
  row.more.assign(shapes.begin() + 1, shapes.end());
  return row;
}

Result<RowShape> ReadAten(Cells cells, const trace::Rules& rules) {
  const AtenRow row{.op = cells[0],
                    .dtype = cells[1],
                    .input_dims = cells[2],
                    .input_strides = cells[3],
                    .concrete_inputs = cells[4],
                    .kernel_names = cells[5]};
  return FromShapes(ShapesOf(row, rules), "aten");
}

constexpr std::array<std::string_view, 4> kConcatColumns = {
    "dtype", "input_dims", "kernel_names", "out_elements"};

Result<RowShape> ReadConcat(Cells cells, const trace::Rules& /*rules*/) {
  return FromShapes(
      ShapesOf(ConcatRow{
          .dtype = cells[0], .input_dims = cells[1], .kernel_names = cells[2]}),
      "concat");
}

constexpr std::array kKinds = {
    RowKind{"gemm", kGemmColumns, ReadGemm},
    RowKind{"conv2d", kConvolutionColumns, ReadConvolution},
    RowKind{"elementwise", kElementwiseColumns, ReadElementwise},
    RowKind{"embedding_bag", kBagColumns, ReadBag},
    RowKind{"embedding_lookup", kLookupColumns, ReadLookup},
    RowKind{"memcpy", kCopyColumns, ReadCopy},
    RowKind{"softmax", kRowwiseColumns, ReadSoftmax},
    RowKind{"layernorm", kRowwiseColumns, ReadLayerNorm},
    RowKind{"aten", kAtenColumns, ReadAten},
    RowKind{"concat", kConcatColumns, ReadConcat},
};

bool HasColumns(const CsvTable& table, const RowKind& kind) {
  return std::ranges::all_of(kind.columns, [&](std::string_view column) {
    return table.FindColumn(column).has_value();
  });
}

// The kind of a table: the first whose columns are all there, one whose name
// is in the path before the others.
Result<const RowKind*> FindRowKind(const CsvTable& table) {
  for (const RowKind& kind : kKinds) {
    if (table.source().find(kind.name) != std::string::npos &&
        HasColumns(table, kind)) {
      return &kind;
    }
  }
  const RowKind* found = nullptr;
  for (const RowKind& kind : kKinds) {
    if (!HasColumns(table, kind)) {
      continue;
    }
    if (found != nullptr) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("{}:1: the columns are those of {} and of {}; "
                              "name the file or its folder after one",
                              table.source(), found->name, kind.name));
    }
    found = &kind;
  }
  if (found == nullptr) {
    std::vector<std::string> known;
    known.reserve(kKinds.size());
    for (const RowKind& kind : kKinds) {
      known.push_back(
          fmt::format("{} ({})", kind.name, Join(kind.columns, ",")));
    }
    return Fail(ErrorCode::kInvalidInput,
                fmt::format("{}:1: the columns are those of no kernel we "
                            "know; expected gpu,time_us,timing and those of "
                            "one of: {}",
                            table.source(), Join(known, "; ")));
  }
  return found;
}

constexpr std::array<std::string_view, 4> kTimings = {"event_op", "graph",
                                                      "profiler", "loop"};

// The place of `name` in a list of names, added if it is new.
uint16_t Intern(std::vector<std::string>& names, std::string_view name) {
  const auto found = std::ranges::find(names, name);
  if (found != names.end()) {
    return static_cast<uint16_t>(found - names.begin());
  }
  names.emplace_back(name);
  return static_cast<uint16_t>(names.size() - 1);
}

// Measurements of other things, which other commands read.
bool IsForeign(const CsvTable& table) {
  return table.FindColumn("launch").has_value() ||
         table.FindColumn("step_time_us").has_value() ||
         table.FindColumn("step_time_ms").has_value() ||
         table.FindColumn("time_ms").has_value();
}

// Columns every kind has.
struct Common {
  size_t gpu = 0;
  size_t time = 0;
  size_t timing = 0;
  std::optional<size_t> count;
};

Result<Common> FindCommon(const CsvTable& table) {
  constexpr std::array<std::string_view, 3> kNames = {"gpu", "time_us",
                                                      "timing"};
  ASSIGN_OR_RETURN(const std::vector<size_t> places, table.FindColumns(kNames));
  return Common{.gpu = places[0],
                .time = places[1],
                .timing = places[2],
                .count = table.FindColumn("count")};
}

// Turns the rows of one table into ours.
class TableReader {
 public:
  TableReader(const CsvTable& table, const RowKind& kind, const Common& common,
              const trace::Rules& rules, KernelRows& rows)
      : table_(table),
        kind_(kind),
        common_(common),
        rules_(rules),
        rows_(rows) {
    rows_.tables.push_back(table.source());
    rows_.kinds.emplace_back(kind.name);
    for (const std::string_view column : kind.columns) {
      places_.push_back(*table.FindColumn(column));
    }
    cells_.resize(places_.size());
  }

  void ReadAll() {
    for (size_t i = 0; i < table_.row_count(); ++i) {
      if (auto status = Read(i); !status) {
        rows_.skipped.push_back({.table = TableNumber(),
                                 .line = table_.line(i),
                                 .why = std::move(status).error().message});
      }
    }
  }

 private:
  uint16_t TableNumber() const {
    return static_cast<uint16_t>(rows_.tables.size() - 1);
  }

  Status Read(size_t i) {
    const auto cells = table_.row(i);
    // Tables are megabytes of short lines: a repeated line is a copy.
    const std::string_view line(
        cells.front().data(),
        static_cast<size_t>(cells.back().data() + cells.back().size() -
                            cells.front().data()));
    if (!seen_.insert(line).second) {
      return Fail(ErrorCode::kInvalidInput, "the same line as an earlier one");
    }
    const auto time = CellNumber(cells[common_.time]);
    if (!time || !(*time > 0)) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("time_us is '{}'; expected a number above 0",
                              cells[common_.time]));
    }
    const auto timing = TimingFromName(cells[common_.timing]);
    if (!timing) {
      return Fail(ErrorCode::kInvalidInput,
                  fmt::format("timing is '{}'; expected {}",
                              cells[common_.timing], Join(kTimings, ", ")));
    }
    for (size_t c = 0; c < places_.size(); ++c) {
      cells_[c] = cells[places_[c]];
    }
    ASSIGN_OR_RETURN(RowShape shape, kind_.read(cells_, rules_));
    if (!ir::IsSized(shape.shape)) {
      return Fail(ErrorCode::kUnsupported, "the sizes are not all known");
    }
    KernelRow row{.shape = std::move(shape.shape),
                  .more = std::move(shape.more),
                  .time_us = *time,
                  .timing = *timing,
                  .table = TableNumber(),
                  .gpu = Intern(rows_.gpus, cells[common_.gpu]),
                  .op = Intern(rows_.ops, shape.op),
                  .line = table_.line(i),
                  .place = static_cast<uint32_t>(i)};
    if (common_.count) {
      row.count = std::max(1.0, CellNumber(cells[*common_.count]).value_or(1));
    }
    rows_.rows.push_back(std::move(row));
    return {};
  }

  const CsvTable& table_;
  const RowKind& kind_;
  const Common& common_;
  const trace::Rules& rules_;
  KernelRows& rows_;
  std::vector<size_t> places_;
  std::vector<std::string_view> cells_;
  std::unordered_set<std::string_view> seen_;
};

Status AddTable(const CsvTable& table, const trace::Rules& rules,
                KernelRows& rows) {
  ASSIGN_OR_RETURN(const RowKind* kind, FindRowKind(table));
  ASSIGN_OR_RETURN(const Common common, FindCommon(table));
  TableReader(table, *kind, common, rules, rows).ReadAll();
  return {};
}

}  // namespace

std::string_view Name(Timing timing) {
  return kTimings.at(static_cast<size_t>(timing));
}

std::optional<Timing> TimingFromName(std::string_view name) {
  const auto found = std::ranges::find(kTimings, name);
  if (found == kTimings.end()) {
    return std::nullopt;
  }
  return static_cast<Timing>(found - kTimings.begin());
}

Result<KernelRows> ReadKernelRows(
    std::span<const std::filesystem::path> paths) {
  ASSIGN_OR_RETURN(const trace::Rules rules, trace::Rules::Load());
  KernelRows rows;
  for (const std::filesystem::path& path : paths) {
    ASSIGN_OR_RETURN(const auto files, ListCsvFiles(path));
    for (const std::filesystem::path& file : files) {
      ASSIGN_OR_RETURN(std::string text, ReadFile(file));
      ASSIGN_OR_RETURN(const CsvTable table,
                       CsvTable::Parse(std::move(text), file.string()));
      // Collectives are read by collective_rows.h. In a folder of all sorts,
      // what else is not ours is passed by.
      if (table.FindColumn("collective") ||
          (files.size() > 1 && IsForeign(table))) {
        continue;
      }
      RETURN_IF_ERROR(AddTable(table, rules, rows));
    }
  }
  return rows;
}

Status AddKernelRows(std::string text, std::string source, KernelRows& rows) {
  ASSIGN_OR_RETURN(const trace::Rules rules, trace::Rules::Load());
  return AddKernelRows(std::move(text), std::move(source), rules, rows);
}

Status AddKernelRows(std::string text, std::string source,
                     const trace::Rules& rules, KernelRows& rows) {
  ASSIGN_OR_RETURN(const CsvTable table,
                   CsvTable::Parse(std::move(text), std::move(source)));
  return AddTable(table, rules, rows);
}

Part PartOf(const ir::KernelShape& shape) {
  switch (ir::HashOf(shape) % 10) {
    case 0:
      return Part::kTest;
    case 1:
      return Part::kValidation;
    default:
      return Part::kFit;
  }
}

}  // namespace stepcast::learn

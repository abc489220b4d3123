#include "model/shapes.h"

#include <algorithm>
#include <cmath>

#include "base/check.h"

namespace stepcast::model {
namespace {

int64_t LookupsOfTable(const TableGroup& group, int64_t batch) {
  return std::max<int64_t>(
      1, std::llround(group.pooling * static_cast<double>(batch)));
}

bool Alike(std::span<const TableGroup> tables) {
  return std::ranges::all_of(tables, [&](const TableGroup& group) {
    return group.rows == tables.front().rows &&
           group.dim == tables.front().dim &&
           group.pooling == tables.front().pooling;
  });
}

// Lists what differs table by table.
// Tables of a bag are in one place.
void SetPlace(std::span<const TableGroup> tables, ir::EmbeddingBag& bag) {
  if (tables.front().placement == Placement::kUvm) {
    bag.place = ir::BagPlace::kManaged;
  } else if (tables.front().placement == Placement::kUvmCache) {
    bag.place = ir::BagPlace::kManagedCache;
    double rows = 0;
    for (const TableGroup& group : tables) {
      rows += group.cache * static_cast<double>(group.count) *
              static_cast<double>(group.rows);
    }
    bag.cache_rows = std::max<int64_t>(std::llround(rows), 1);
  }
}

void ListTables(std::span<const TableGroup> tables, ir::EmbeddingBag& bag) {
  bool dims_differ = false;
  bool lookups_differ = false;
  for (const TableGroup& group : tables) {
    dims_differ = dims_differ || group.dim != tables.front().dim;
    lookups_differ = lookups_differ || group.pooling != tables.front().pooling;
  }
  for (const TableGroup& group : tables) {
    const auto count = static_cast<size_t>(group.count);
    bag.table_rows.insert(bag.table_rows.end(), count, group.rows);
    if (dims_differ) {
      bag.table_dims.insert(bag.table_dims.end(), count, group.dim);
    }
    if (lookups_differ) {
      bag.table_lookups.insert(bag.table_lookups.end(), count,
                               LookupsOfTable(group, bag.batch));
    }
  }
}

}  // namespace

Types TypesOf(Precision precision) {
  using ir::DType;
  switch (precision) {
    case Precision::kFp32:
      return {};
    case Precision::kTf32:
      return {.product = DType::kTf32};
    case Precision::kAmpFp16:
      return {
          .product = DType::kFp16, .activation = DType::kFp16, .cast = true};
    case Precision::kFp16:
      return {.product = DType::kFp16,
              .activation = DType::kFp16,
              .parameter = DType::kFp16};
    case Precision::kBf16:
      return {.product = DType::kBf16,
              .activation = DType::kBf16,
              .parameter = DType::kBf16};
  }
  return {};
}

ir::KernelShape Stream(int64_t elements, int64_t inputs, ir::DType dtype,
                       ir::Arithmetic arithmetic) {
  const int64_t bytes = elements * ir::SizeOf(dtype);
  return ir::Elementwise{.elements = elements,
                         .read = {inputs * bytes},
                         .written = {bytes},
                         .dtype = dtype,
                         .arithmetic = arithmetic};
}

ir::KernelShape Cast(int64_t elements, ir::DType from, ir::DType to) {
  return ir::Elementwise{.elements = elements,
                         .read = {elements * ir::SizeOf(from)},
                         .written = {elements * ir::SizeOf(to)},
                         .dtype = to};
}

ir::KernelShape Broadcast(int64_t rows, int64_t columns, ir::DType dtype) {
  return ir::Elementwise{.elements = rows * columns,
                         .read = {columns * ir::SizeOf(dtype)},
                         .written = {rows * columns * ir::SizeOf(dtype)},
                         .dtype = dtype};
}

ir::KernelShape Zeros(int64_t elements, ir::DType dtype) {
  return ir::Fill{.bytes = {elements * ir::SizeOf(dtype)}};
}

ir::Gemm Forward(int64_t rows, int64_t in, int64_t out, ir::DType dtype) {
  return {.batch = 1,
          .m = rows,
          .n = out,
          .k = in,
          .transpose_b = true,
          .dtype = dtype};
}

ir::Gemm DataGradient(int64_t rows, int64_t in, int64_t out, ir::DType dtype) {
  return {.batch = 1, .m = rows, .n = in, .k = out, .dtype = dtype};
}

ir::Gemm WeightGradient(int64_t rows, int64_t in, int64_t out,
                        ir::DType dtype) {
  return {.batch = 1,
          .m = out,
          .n = in,
          .k = rows,
          .transpose_a = true,
          .dtype = dtype};
}

ir::Reduction ColumnSum(int64_t rows, int64_t columns, ir::DType dtype) {
  return {.inputs = rows * columns,
          .outputs = columns,
          .dtype = dtype,
          .strided = columns > 1};
}

ir::Reduction Sum(int64_t elements, ir::DType dtype) {
  return {.inputs = elements, .outputs = 1, .dtype = dtype};
}

int64_t LookupsOf(std::span<const TableGroup> tables, int64_t batch) {
  int64_t lookups = 0;
  for (const TableGroup& group : tables) {
    lookups += group.count * LookupsOfTable(group, batch);
  }
  return lookups;
}

ir::EmbeddingBag Lookup(std::span<const TableGroup> tables,
                        const LookupOptions& options) {
  CHECK(!tables.empty());
  ir::EmbeddingBag bag{.batch = options.batch,
                       .lookups = LookupsOf(tables, options.batch),
                       .dtype = options.dtype,
                       .index_dtype = options.index_dtype,
                       .index_alpha = options.alpha,
                       .kernel = options.kernel};
  int64_t columns = 0;
  bool whole = true;
  double longest = 0;
  for (const TableGroup& group : tables) {
    bag.tables += group.count;
    bag.rows += group.count * group.rows;
    columns += group.count * group.dim;
    bag.max_dim = std::max(bag.max_dim, group.dim);
    longest = std::max(longest, group.pooling);
    whole = whole && group.pooling == std::floor(group.pooling);
  }
  CHECK(bag.tables > 0);
  bag.dim = std::max<int64_t>(1, columns / bag.tables);
  if (bag.max_dim == bag.dim) {
    bag.max_dim = 0;
  }
  // If the mean of ids per sample is an integer, every sample has that many.
  bag.longest_bag = whole ? static_cast<int64_t>(longest) : 0;
  if (!Alike(tables)) {
    ListTables(tables, bag);
  }
  SetPlace(tables, bag);
  return bag;
}

int64_t PaddedTo(int64_t columns, int64_t multiple) {
  return (columns + multiple - 1) / multiple * multiple;
}

ir::Update UpdateOf(Optimizer optimizer) {
  switch (optimizer) {
    case Optimizer::kSgd:
      return ir::Update::kSgd;
    case Optimizer::kAdagrad:
      return ir::Update::kAdagrad;
    case Optimizer::kRowwiseAdagrad:
      return ir::Update::kRowwiseAdagrad;
    case Optimizer::kAdam:
      return ir::Update::kAdam;
  }
  return ir::Update::kOther;
}

}  // namespace stepcast::model

// Measured kernel times: CSV files as shapes with their time.
#ifndef STEPCAST_LEARN_MEASURED_KERNEL_ROWS_H_
#define STEPCAST_LEARN_MEASURED_KERNEL_ROWS_H_

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/shape.h"
#include "trace/classify/rules.h"

namespace stepcast::learn {

/// What a time covers.
enum class Timing {
  kEventOp,   // Events around one eager call: the launch is in it.
  kGraph,     // Replays of a captured graph.
  kProfiler,  // The profiler's kernel durations.
  kLoop,      // Many calls back to back.
};
std::string_view Name(Timing timing);
std::optional<Timing> TimingFromName(std::string_view name);

/// One measured kernel or op.
struct KernelRow {
  ir::KernelShape shape{};
  std::vector<ir::KernelShape> more{};  // Kernels whose time is in it, too.
  double time_us = 0;
  Timing timing = Timing::kProfiler;
  uint16_t table = 0;  // Of KernelRows::tables.
  uint16_t gpu = 0;    // Of KernelRows::gpus.
  uint16_t op = 0;     // Of KernelRows::ops: rows with one launch floor.
  uint32_t line = 0;
  uint32_t place = 0;  // The row's number in its file, from 0.
  double count = 1;    // Observations after the time.
};

/// A row that is left out, and why.
struct SkippedRow {
  uint16_t table = 0;
  uint32_t line = 0;
  std::string why;
};

struct KernelRows {
  std::vector<std::string> tables;  // Files.
  std::vector<std::string> kinds;   // "gemm", ...: of each file.
  std::vector<std::string> gpus;
  std::vector<std::string> ops;  // "bmm", "linear", "softmax", ...
  std::vector<KernelRow> rows;
  std::vector<SkippedRow> skipped;
};

/// Reads CSV files, and those in directories (recursively, by name). The
/// columns tell what a file holds; of layer norm and softmax, which have the
/// same, the name of the file or its folder does. A file without the columns it
/// needs is an error; a row that makes no sense is skipped with its reason.
Result<KernelRows> ReadKernelRows(std::span<const std::filesystem::path> paths);

/// The same for one text, as if it were in the file `source`. The rules are the
/// built-in ones where none are given; reading them takes longer than most
/// texts.
Status AddKernelRows(std::string text, std::string source, KernelRows& rows);
Status AddKernelRows(std::string text, std::string source,
                     const trace::Rules& rules, KernelRows& rows);

/// Which part of a fit a shape belongs to: the same on every GPU, by its hash.
enum class Part { kFit, kValidation, kTest };
Part PartOf(const ir::KernelShape& shape);

}  // namespace stepcast::learn

#endif  // STEPCAST_LEARN_MEASURED_KERNEL_ROWS_H_

#include "tests/accuracy/op_times.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/files/file.h"
#include "base/units.h"
#include "engine/run/predict_model.h"
#include "learn/measured/authors_kernels.h"
#include "learn/measured/authors_trace.h"
#include "learn/measured/csv.h"
#include "model/read_model.h"
#include "scenario/resolve.h"
#include "tests/accuracy/error_pct.h"

namespace stepcast::accuracy {
namespace {

constexpr std::string_view kGpu = "v100-sxm-16gb@1297MHz";

struct Trace {
  std::string_view day;
  std::string_view theirs;
  std::string_view ours;
};
constexpr std::array kTraces = {
    Trace{.day = "2021-04-09", .theirs = "DLRM_MLPerf", .ours = "dlrm_mlperf"},
    Trace{
        .day = "2021-05-04", .theirs = "DLRM_default", .ours = "dlrm_default"},
    Trace{.day = "2021-05-14", .theirs = "DLRM_MLPerf", .ours = "dlrm_mlperf"},
    Trace{
        .day = "2021-08-22", .theirs = "DLRM_default", .ours = "dlrm_default"},
};

using Times = std::map<std::string, double, std::less<>>;

struct Measured {
  Times ops{};  // In a step, on average.
  double smallest_us = 0;
};

Result<Measured> Measure(const Trace& trace,
                         const std::filesystem::path& data) {
  const std::filesystem::path file =
      data / "authors" /
      fmt::format("trace_v100_{}_{}_b2048_kernels.csv", trace.day,
                  trace.theirs);
  ASSIGN_OR_RETURN(std::string text, ReadFile(file));
  ASSIGN_OR_RETURN(const learn::CsvTable table,
                   learn::CsvTable::Parse(std::move(text), file.string()));
  ASSIGN_OR_RETURN(const auto rows, learn::ReadAuthorsTrace(table));
  Measured measured;
  std::set<int64_t> iterations;
  for (const learn::AuthorsRow& row : rows) {
    measured.ops[row.op] += row.time_us;
    iterations.insert(row.iteration);
  }
  for (auto& [op, time] : measured.ops) {
    time /= static_cast<double>(iterations.size());
  }
  const bool is_default = trace.theirs == "DLRM_default";
  ASSIGN_OR_RETURN(const auto kernels,
                   learn::KernelsOf(rows, is_default ? learn::AuthorsDefault()
                                                     : learn::AuthorsMlPerf()));
  measured.smallest_us = learn::SmallestKernelUs(kernels);
  return measured;
}

// The outermost op around an activity's launch.
std::string_view TopOp(const ir::Graph& graph, const ir::Activity& activity) {
  const ir::GraphData& data = graph.data();
  std::string_view name;
  if (activity.call.valid()) {
    for (ir::OpId op = data.calls[activity.call].op; op.valid();
         op = data.ops[op].parent) {
      if (data.ops[op].kind == ir::OpKind::kOp) {
        name = graph.text(data.ops[op].name);
      }
    }
  }
  return name;
}

Result<Times> Predict(const Trace& trace, double smallest_us) {
  scenario::Job job;
  engine::Request& request = job.request;
  ASSIGN_OR_RETURN(request.model, model::FindModel(trace.ours));
  job.names.machine.gpu = kGpu;
  request.settings.batch = 2048;
  request.settings.torch = model::TorchRelease::kTorch18;
  scenario::Resolver resolver;
  RETURN_IF_ERROR(resolver.Bind(job));
  ASSIGN_OR_RETURN(
      request.machine.kernels,
      resolver.store().Kernels(request.machine.device, smallest_us));
  ASSIGN_OR_RETURN(const engine::ModelPrediction predicted,
                   engine::PredictModel(request, {}));
  Times ops;
  const ir::GraphData& data = predicted.result.graph->data();
  for (const ir::ActivityId id : data.activities.ids()) {
    ops[std::string(TopOp(*predicted.result.graph, data.activities[id]))] +=
        predicted.result.activities.prices[id].p50_us;
  }
  return ops;
}

}  // namespace

double OpTime::error_pct() const {
  return ErrorPct(predicted_us, measured_us);
}

Result<std::vector<OpTime>> CompareOps(const std::filesystem::path& data,
                                       double least_share) {
  std::vector<OpTime> ops;
  for (const Trace& trace : kTraces) {
    ASSIGN_OR_RETURN(const Measured measured, Measure(trace, data));
    ASSIGN_OR_RETURN(const Times predicted,
                     Predict(trace, measured.smallest_us));
    double total = 0;
    for (const auto& [op, time] : measured.ops) {
      total += time;
    }
    std::vector<OpTime> of_trace;
    for (const auto& [op, time] : measured.ops) {
      const auto found = predicted.find(op);
      if (time >= least_share * total) {
        of_trace.push_back(
            {.trace = fmt::format("{} {}", trace.day, trace.theirs),
             .op = op,
             .measured_us = time,
             .predicted_us = found == predicted.end() ? 0 : found->second,
             .share = time / total});
      }
    }
    std::ranges::sort(of_trace, std::greater<>(), &OpTime::measured_us);
    ops.insert(ops.end(), of_trace.begin(), of_trace.end());
  }
  return ops;
}

std::string OpTable(std::span<const OpTime> ops) {
  std::string text =
      "| trace | op | share % | measured us | predicted us | error % |\n"
      "| --- | --- | ---: | ---: | ---: | ---: |\n";
  for (const OpTime& op : ops) {
    text += fmt::format("| {} | {} | {:.1f} | {:.1f} | {:.1f} | {:+.1f} |\n",
                        op.trace, op.op, kPercent * op.share, op.measured_us,
                        op.predicted_us, op.error_pct());
  }
  return text;
}

}  // namespace stepcast::accuracy

#include "explore/row.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace stepcast::explore {
namespace {

constexpr std::array<NumberColumn, kNumberCount> kColumns = {{
    {"samples_per_s", "1/s", "samples a second, over all GPUs or trainers"},
    {"step_us", "us", "time of a step"},
    {"p10_us", "us", "one in ten steps is shorter, by what is not known"},
    {"p50_us", "us", "half of them are"},
    {"p90_us", "us", "one in ten is longer"},
    {"gpu_active", "", "share of the step in which the GPU runs something"},
    {"host_busy", "", "share of the step in which the host does something"},
    {"gemm_us", "us", "of the step, in matrix products"},
    {"embedding_us", "us", "of the step, in lookups and their updates"},
    {"interaction_us", "us", "of the step, in the interaction"},
    {"elementwise_us", "us", "of the step, in elementwise kernels"},
    {"optimizer_us", "us", "of the step, in the dense optimizer"},
    {"other_us", "us", "of the step, in other kernels"},
    {"copies_us", "us", "of the step, in copies that nothing hides"},
    {"communication_us", "us", "of the step, in collectives, likewise"},
    {"idle_host_us", "us", "of the step, the GPU idle while the host works"},
    {"idle_launch_us", "us", "likewise, between a call and its work"},
    {"idle_sync_us", "us", "likewise, as the host comes back from a wait"},
    {"idle_wait_us", "us", "likewise, waiting for other ranks"},
    {"hbm_gb", "GB", "memory of the fullest GPU in use"},
    {"hbm_capacity_gb", "GB", "memory of a GPU"},
    {"host_gb", "GB", "tables in the memory of a node"},
    {"host_capacity_gb", "GB", "memory of a node"},
    {"servers_gb", "GB", "tables on all parameter servers"},
    {"servers_capacity_gb", "GB", "memory of all of them"},
    {"fits", "", "1 if all memories hold what they have to"},
    {"trainer_cpu", "", "share of the trainers' processors in use"},
    {"trainer_memory", "", "share of their memory's bandwidth"},
    {"trainer_network", "", "share of their network"},
    {"sparse_cpu", "", "share of the sparse servers' processors in use"},
    {"sparse_memory", "", "share of their memory's bandwidth"},
    {"sparse_network", "", "share of their network"},
    {"dense_cpu", "", "share of the dense servers' processors in use"},
    {"dense_memory", "", "share of their memory's bandwidth"},
    {"dense_network", "", "share of their network"},
    {"power_w", "W", "of all servers"},
    {"samples_per_joule", "1/J", "samples a second and watt"},
    {"samples_per_dollar", "1/$",
     "samples over what the servers cost in "
     "their life, where prices are known"},
}};

constexpr char kSeparator = '\t';
constexpr std::string_view kUnknown = "-";

// The text before the next separator; `rest` loses it.
std::string_view TakeField(std::string_view& rest) {
  const size_t end = rest.find(kSeparator);
  const std::string_view field = rest.substr(0, end);
  rest =
      end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  return field;
}

std::string Plain(std::string text) {
  std::ranges::replace_if(
      text, [](char letter) { return letter == '\t' || letter == '\n'; }, ' ');
  return text;
}

}  // namespace

std::span<const NumberColumn> NumberColumns() {
  return kColumns;
}

std::optional<Number> FindNumber(std::string_view name) {
  const auto found = std::ranges::find(kColumns, name, &NumberColumn::name);
  if (found == kColumns.end()) {
    return std::nullopt;
  }
  return static_cast<Number>(found - kColumns.begin());
}

std::string RowText(const Row& row) {
  std::string text;
  for (const double number : row.numbers) {
    text +=
        std::isnan(number) ? std::string(kUnknown) : fmt::format("{}", number);
    text += kSeparator;
  }
  return text + Plain(row.bound_by) + kSeparator + Plain(row.note);
}

std::optional<Row> ParseRow(std::string_view text) {
  if (std::ranges::count(text, kSeparator) !=
      static_cast<std::ptrdiff_t>(kNumberCount) + 1) {
    return std::nullopt;
  }
  Row row;
  for (double& number : row.numbers) {
    const std::string_view field = TakeField(text);
    if (field == kUnknown) {
      continue;
    }
    const auto [end, error] =
        std::from_chars(field.data(), field.data() + field.size(), number);
    if (error != std::errc() || end != field.data() + field.size()) {
      return std::nullopt;
    }
  }
  row.bound_by = TakeField(text);
  row.note = text;
  return row;
}

}  // namespace stepcast::explore

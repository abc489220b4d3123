// Measured rows for programs that try other models on them.
#include <string>
#include <string_view>

#include "base/json/json_write.h"
#include "hw/device.h"
#include "ir/names.h"
#include "learn/judge/priced_rows.h"

namespace stepcast::learn {
namespace {

// Of figures, and of times in microseconds.
constexpr int kDecimals = 6;

std::string_view NameOf(Part part) {
  switch (part) {
    case Part::kFit:
      return "fit";
    case Part::kValidation:
      return "validation";
    case Part::kTest:
      break;
  }
  return "test";
}

void WriteGpu(const std::string& name, const hw::Device& device,
              JsonWriter& json) {
  json.BeginObject();
  json.Key("name").String(name);
  json.Key("generation").String(hw::Name(device.generation));
  json.Key("sm_count").Double(device.sm_count);
  json.Key("fp32_lanes_per_sm").Double(device.fp32_lanes_per_sm);
  json.Key("clock_ghz").Fixed(device.clock_ghz, kDecimals);
  json.Key("fp32_tflops").Fixed(device.fp32_tflops, kDecimals);
  json.Key("l2_mb").Fixed(device.l2_mb, kDecimals);
  json.Key("dram_gbs").Fixed(device.dram_gbs, kDecimals);
  json.Key("copy_share").Fixed(device.copy_share, kDecimals);
  json.Key("pcie_gbs").Fixed(device.pcie_gbs, kDecimals);
  json.EndObject();
}

void WriteRow(const KernelRows& rows, const KernelRow& row,
              const PricedRow& priced, JsonWriter& json) {
  json.BeginObject();
  json.Key("kind").String(rows.kinds[row.table]);
  json.Key("op").String(rows.ops[row.op]);
  json.Key("gpu").String(rows.gpus[row.gpu]);
  json.Key("timing").String(Name(row.timing));
  json.Key("part").String(NameOf(PartOf(row.shape)));
  json.Key("shapes").BeginArray().String(ir::ShapeText(row.shape));
  for (const ir::KernelShape& shape : row.more) {
    json.String(ir::ShapeText(shape));
  }
  json.EndArray();
  json.Key("count").Double(row.count);
  json.Key("time_us").Fixed(row.time_us, kDecimals);
  json.Key("judged").Bool(priced.judged());
  if (priced.priced) {
    json.Key("lead_us").Fixed(priced.lead_us, kDecimals);
    json.Key("floor_us").Fixed(priced.floor_us, kDecimals);
    json.Key("roofline_us").Fixed(priced.roofline_us, kDecimals);
    json.Key("formula_us").Fixed(priced.formula_us, kDecimals);
    json.Key("p10_us").Fixed(priced.p10_us, kDecimals);
    json.Key("p50_us").Fixed(priced.p50_us, kDecimals);
    json.Key("p90_us").Fixed(priced.p90_us, kDecimals);
  }
  json.EndObject();
}

}  // namespace

std::string PricedRowsJson(const KernelRows& rows, const PricedRows& priced,
                           std::optional<Part> part) {
  JsonWriter json(JsonWriter::Style::kCompact);
  json.BeginObject();
  json.Key("gpus").BeginArray();
  for (size_t gpu = 0; gpu < rows.gpus.size(); ++gpu) {
    WriteGpu(rows.gpus[gpu], priced.machines[gpu].device, json);
  }
  json.EndArray();
  json.Key("rows").BeginArray();
  for (size_t i = 0; i < rows.rows.size(); ++i) {
    if (!part || PartOf(rows.rows[i].shape) == *part) {
      WriteRow(rows, rows.rows[i], priced.rows[i], json);
    }
  }
  json.EndArray();
  json.EndObject();
  return json.Take() + "\n";
}

}  // namespace stepcast::learn

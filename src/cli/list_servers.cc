#include "cli/list_servers.h"

#include <vector>

#include <fmt/format.h>

#include "api/ask.h"
#include "base/json_write.h"
#include "base/text_table.h"
#include "cli/output.h"
#include "engine/cpu_runtime.h"
#include "hw/cpu_device.h"
#include "hw/node.h"

namespace stepcast::cli {
namespace {

// "platform, server"
std::string OwnersOf(const hw::FigureField& field, std::string_view between) {
  std::vector<std::string_view> owners;
  for (const hw::MachineKind machine :
       {hw::MachineKind::kGpu, hw::MachineKind::kPlatform,
        hw::MachineKind::kServer}) {
    if (hw::IsOf(field, machine)) {
      owners.push_back(hw::Name(machine));
    }
  }
  return fmt::format("{}", fmt::join(owners, between));
}

}  // namespace

void WritePublished(JsonWriter& json, hw::MachineKind machine,
                    const hw::Figures& figures,
                    std::span<const std::string> derived) {
  for (const hw::FigureField& field : hw::FigureFields()) {
    const auto figure = figures.find(field.key);
    if (figure != figures.end() && hw::IsOf(field, machine)) {
      json.Key(field.key).BeginObject();
      json.Key("value").Double(figure->second.value);
      json.Key("source").String(figure->second.source);
      json.EndObject();
    }
  }
  json.Key("derived").BeginArray();
  for (const std::string& note : derived) {
    json.String(note);
  }
  json.EndArray();
}

Result<std::string> ServersText() {
  TextTable table({Align::kLeft, Align::kLeft, Align::kRight, Align::kRight,
                   Align::kRight, Align::kRight, Align::kRight, Align::kRight,
                   Align::kRight});
  table.AddRow({"name", "title", "cores", "FP32 TF", "BF16 TF", "GB", "GB/s",
                "NIC GB/s", "W"});
  ASSIGN_OR_RETURN(const std::vector<hw::Node> servers, hw::LoadServers());
  for (const hw::Node& host : servers) {
    const hw::Device device = hw::MakeCpuDevice(host, hw::WholeNode(host));
    table.AddRow({host.name, host.title,
                  fmt::format("{} x {}", host.sockets, host.cores_per_socket),
                  fmt::format("{:.1f}", device.fp32_tflops),
                  fmt::format("{:.1f}", device.bf16_tflops),
                  fmt::format("{:.0f}", host.memory_gb),
                  fmt::format("{:.0f}", host.memory_gbs),
                  fmt::format("{:.2f}", host.nic_gbs),
                  fmt::format("{:.0f}", host.power_w)});
  }
  TextTable runtimes({Align::kLeft, Align::kLeft});
  for (const engine::CpuRuntime& runtime : engine::CpuRuntimes()) {
    runtimes.AddRow({std::string(runtime.name), std::string(runtime.help)});
  }
  return fmt::format("{}\nRuntimes:\n{}", table.ToString(),
                     runtimes.ToString());
}

Result<std::string> ServersJson() {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(api::Version());
  json.Key("servers").BeginArray();
  ASSIGN_OR_RETURN(const std::vector<hw::Node> servers, hw::LoadServers());
  for (const hw::Node& server : servers) {
    json.BeginObject();
    json.Key("name").String(server.name);
    json.Key("title").String(server.title);
    WritePublished(json, hw::MachineKind::kServer, server.figures,
                   server.derived);
    json.EndObject();
  }
  json.EndArray();
  json.Key("runtimes").BeginArray();
  for (const engine::CpuRuntime& runtime : engine::CpuRuntimes()) {
    json.BeginObject();
    json.Key("name").String(runtime.name);
    json.Key("description").String(runtime.help);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

Result<std::string> FiguresText() {
  TextTable table({Align::kLeft, Align::kLeft, Align::kRight, Align::kRight,
                   Align::kLeft, Align::kLeft});
  table.AddRow({"figure", "of", "from", "to", "unit", "what it says"});
  for (const hw::FigureField& field : hw::FigureFields()) {
    table.AddRow({std::string(field.key), OwnersOf(field, ", "),
                  fmt::format("{}", field.low), fmt::format("{}", field.high),
                  std::string(field.unit), std::string(field.help)});
  }
  return table.ToString();
}

Result<std::string> FiguresJson() {
  JsonWriter json;
  json.BeginObject();
  json.Key("version").String(api::Version());
  json.Key("figures").BeginArray();
  for (const hw::FigureField& field : hw::FigureFields()) {
    json.BeginObject();
    json.Key("name").String(field.key);
    json.Key("of").String(OwnersOf(field, ","));
    json.Key("low").Double(field.low);
    json.Key("high").Double(field.high);
    json.Key("unit").String(field.unit);
    json.Key("description").String(field.help);
    json.EndObject();
  }
  json.EndArray().EndObject();
  return json.Take();
}

}  // namespace stepcast::cli

#include "scenario/words.h"

#include "cost/overheads/overhead_files.h"
#include "engine/cpu_runtime.h"
#include "hw/device.h"
#include "hw/node.h"
#include "workload/impl/implementations.h"
#include "workload/model_files.h"

namespace stepcast::scenario {
namespace {

// The names of a list of things; none if it cannot be had.
template <typename Things>
std::vector<std::string> NamesOfAll(const Things& things) {
  std::vector<std::string> names;
  for (const auto& thing : things) {
    names.emplace_back(thing.name);
  }
  return names;
}

}  // namespace

std::vector<std::string> ModelWords() {
  return NamesOfAll(
      workload::LoadModels().value_or(std::vector<workload::Model>()));
}

std::vector<std::string> PlacementWords() {
  return {"hbm",  "uvm",    "uvm-cache", "host-cache",
          "host", "remote", "hybrid",    "hybrid-remote"};
}

std::vector<std::string> ModeWords() {
  return {"train", "infer"};
}

std::vector<std::string> PrecisionWords() {
  return {"fp32", "tf32", "amp-fp16", "fp16", "bf16"};
}

std::vector<std::string> ImplWords() {
  return NamesOfAll(workload::Implementations());
}

std::vector<std::string> CudaGraphWords() {
  return {"off", "fwd", "fwd+bwd", "all"};
}

std::vector<std::string> PlatformWords() {
  return NamesOfAll(hw::LoadPlatforms().value_or(std::vector<hw::Node>()));
}

std::vector<std::string> GpuWords() {
  return hw::GpuNames();
}

std::vector<std::string> ServerWords() {
  return NamesOfAll(hw::LoadServers().value_or(std::vector<hw::Node>()));
}

std::vector<std::string> RuntimeWords() {
  return NamesOfAll(engine::CpuRuntimes());
}

std::vector<std::string> OverheadWords() {
  std::vector<std::string> words = cost::OverheadNames();
  words.insert(words.end(), {"self", "measured"});
  return words;
}

std::vector<std::string> SwitchWords() {
  return {"on", "off"};
}

}  // namespace stepcast::scenario

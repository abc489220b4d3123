// Any bytes as a model file, and the steps of whatever it describes.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "model/build_graph.h"
#include "model/frameworks/implementations.h"
#include "model/read_model.h"

namespace {

// Tables one by one and layers take time and memory; larger models than real
// ones are read but not built.
constexpr int64_t kMostTables = 500;
constexpr int64_t kMostLayers = 100;

bool IsSmall(const stepcast::model::Model& model) {
  return TableCount(model) <= kMostTables &&
         model.interaction.cross_layers <= kMostLayers &&
         model.transformer.layers <= kMostLayers;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto model = stepcast::model::ParseModel(
      text, "model.toml", [](std::string_view name) {
        return stepcast::Result<std::string>(std::string(name));
      });
  if (!model) {
    CHECK(model.error().message.starts_with("model.toml:"));
    return 0;
  }
  if (!IsSmall(*model)) {
    return 0;
  }
  for (const std::string& impl : stepcast::model::ImplementationNames()) {
    stepcast::model::Settings settings;
    settings.impl = *stepcast::model::FindImplementation(impl);
    const auto graph = stepcast::model::BuildGraph(*model, settings);
    CHECK(graph || !graph.error().message.empty());
    if (graph) {
      for (const auto& shape : graph->data().shapes) {
        CHECK(stepcast::ir::IsSized(shape)) << stepcast::ir::ShapeText(shape);
      }
    }
  }
  return 0;
}
